import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { context, DiagLogLevel, diag, propagation, type Tracer, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { FastifyInstance } from 'fastify'
import type { DeclaredOperation } from '../../api/http/operation.ts'
import type { Connections } from '../../data/databases/connection.ts'
import type { MetricValues } from '../../kernel/concurrency/metrics-exchange.ts'
import type { Db } from '../../kernel/db/db.ts'
import type { Egress } from '../../kernel/egress/guard.ts'
import { traceConnections, traceDb } from './database-spans.ts'
import { traceEgress } from './egress-spans.ts'
import { metricTimes, openMetricExporter, openSpanExporter } from './exporters.ts'
import { bridgeMetrics } from './metrics-bridge.ts'
import { traceRequests } from './request-spans.ts'
import { traceWork } from './work-spans.ts'

/** Traces and metrics by OpenTelemetry. This module is loaded only where they are exported. */
export type Telemetry = {
  /** What records besides what it does. */
  db(db: Db): Db
  connections(connections: Connections): Connections
  egress(egress: Egress): Egress
  /** Before the server listens. */
  watchRequests(app: { http: FastifyInstance; operations: readonly DeclaredOperation[] }): void
  exportMetrics(read: () => Promise<MetricValues>): Promise<void>
  /** Sends what is left, within a bound. */
  close(): Promise<void>
}

export type TelemetryOptions = {
  readonly version: string
  readonly worker?: number | undefined
  /** Called once a minute at most. */
  onFailure(text: string): void
}

/** A collector that does not answer must not delay a stopping server for longer. */
const flushMs = 3_000
const quietMs = 60_000

export async function startTelemetry({ version, worker, onFailure }: TelemetryOptions): Promise<Telemetry> {
  diag.setLogger(failureLogger(onFailure), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  const resource = describeProcess(version, worker)
  const exporter = await openSpanExporter()
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: exporter ? [new BatchSpanProcessor(exporter)] : [],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  if (exporter) trace.setGlobalTracerProvider(provider)
  const tracer: Tracer = provider.getTracer('graticule', version)
  const stops = exporter ? [traceWork(tracer)] : []
  let meters: MeterProvider | undefined
  return {
    db: (db) => (exporter ? traceDb(db, tracer) : db),
    connections: (connections) => (exporter ? traceConnections(connections, tracer) : connections),
    egress: (egress) => (exporter ? traceEgress(egress, tracer) : egress),
    watchRequests(app) {
      if (exporter) stops.push(traceRequests(app, tracer))
    },
    async exportMetrics(read) {
      meters = await openMeters(resource, read)
    },
    async close() {
      for (const stop of stops) stop()
      await Promise.race([
        Promise.allSettled([provider.shutdown(), meters?.shutdown()]),
        sleep(flushMs, undefined, { ref: false }),
      ])
      for (const api of [trace, context, propagation, diag]) api.disable()
    },
  }
}

async function openMeters(resource: Resource, read: () => Promise<MetricValues>): Promise<MeterProvider | undefined> {
  const exporter = await openMetricExporter()
  if (!exporter) return undefined
  // The first reading starts the counting.
  await read()
  const metricProducers = [bridgeMetrics(read)]
  return new MeterProvider({
    resource,
    readers: [new PeriodicExportingMetricReader({ exporter, metricProducers, ...metricTimes() })],
  })
}

/** Each process is an instance of its own, so that the metrics of workers are not mixed up. OTEL_* variables go first. */
const describeProcess = (version: string, worker: number | undefined): Resource =>
  resourceFromAttributes({
    'service.name': 'graticule',
    'service.version': version,
    'service.instance.id': randomUUID(),
    ...(worker !== undefined && { 'graticule.worker': worker }),
  }).merge(detectResources({ detectors: [envDetector] }))

/** What the exporters say of failures, now and then: a collector that is away fails every few seconds. */
function failureLogger(onFailure: (text: string) => void) {
  let saidAt = Number.NEGATIVE_INFINITY
  const say = (text: string): void => {
    if (performance.now() - saidAt < quietMs) return
    saidAt = performance.now()
    onFailure(text)
  }
  const ignore = (): void => {}
  return { error: say, warn: say, info: ignore, debug: ignore, verbose: ignore }
}
