import { getNumberFromEnv, getStringFromEnv } from '@opentelemetry/core'
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace-base'
import { StartError } from '../../kernel/errors.ts'

/** Exporters by OpenTelemetry's own variables; what they do not read themselves is read here. */

type Signal = 'TRACES' | 'METRICS'

/** Undefined where the variable of the signal says `none`. */
export async function openSpanExporter(): Promise<SpanExporter | undefined> {
  if (isOff('TRACES')) return undefined
  const { OTLPTraceExporter } =
    protocolOf('TRACES') === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter()
}

export async function openMetricExporter(): Promise<PushMetricExporter | undefined> {
  if (isOff('METRICS')) return undefined
  const { OTLPMetricExporter } =
    protocolOf('METRICS') === 'http/json'
      ? await import('@opentelemetry/exporter-metrics-otlp-http')
      : await import('@opentelemetry/exporter-metrics-otlp-proto')
  return new OTLPMetricExporter()
}

/** The reader refuses a time-out that is longer than its interval. */
export function metricTimes(): { exportIntervalMillis: number; exportTimeoutMillis: number } {
  const exportIntervalMillis = getNumberFromEnv('OTEL_METRIC_EXPORT_INTERVAL') ?? 60_000
  const wanted = getNumberFromEnv('OTEL_METRIC_EXPORT_TIMEOUT') ?? 30_000
  return { exportIntervalMillis, exportTimeoutMillis: Math.min(wanted, exportIntervalMillis) }
}

const isOff = (signal: Signal): boolean => getStringFromEnv(`OTEL_${signal}_EXPORTER`) === 'none'

function protocolOf(signal: Signal): string {
  const name = [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL'].find(getStringFromEnv)
  const protocol = (name && getStringFromEnv(name)) ?? 'http/protobuf'
  if (protocol === 'http/protobuf' || protocol === 'http/json') return protocol
  throw new StartError(`${name} must be http/protobuf or http/json.`)
}
