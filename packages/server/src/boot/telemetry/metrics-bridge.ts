import { type Attributes, ValueType } from '@opentelemetry/api'
import { millisToHrTime } from '@opentelemetry/core'
import { emptyResource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { MetricValue, MetricValues } from '../../kernel/concurrency/metrics-exchange.ts'

/** The metrics of /metrics as a source of OpenTelemetry's, by the same names, so that nothing is counted twice. */
export function bridgeMetrics(read: () => Promise<MetricValues>): MetricProducer {
  const startTime = millisToHrTime(Date.now())
  return {
    async collect() {
      const times = { startTime, endTime: millisToHrTime(Date.now()) }
      const metrics = (await read()).flatMap((metric) => metricOf(metric, times))
      const scopeMetrics = [{ scope: { name: 'graticule' }, metrics }]
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] }
    },
  }
}

type Metric = MetricValues[number]
type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>

function metricOf(metric: Metric, times: Times): MetricData[] {
  const { name, type, help = '', values } = metric
  const base = {
    descriptor: { name, description: help, unit: name.endsWith('_seconds') ? 's' : '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const points = () => values.map(({ labels, value }) => ({ ...times, attributes: labels as Attributes, value }))
  if (type === 'counter')
    return [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }]
  if (type === 'gauge') return [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints: points() }]
  if (type !== 'histogram') return []
  return [{ ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(values, name, times) }]
}

/** Prometheus lists buckets one by one, each with all that are below it; OpenTelemetry wants them side by side. */
function histograms(values: readonly MetricValue[], name: string, times: Times): DataPoint<Histogram>[] {
  const groups = Map.groupBy(values, ({ labels: { le, ...rest } }) => JSON.stringify(rest))
  return [...groups.values()].map((group) => {
    const { le, ...attributes } = group[0]?.labels ?? {}
    const total = (suffix: string) => group.find(({ metricName }) => metricName === `${name}_${suffix}`)?.value ?? 0
    const buckets = group.filter(({ labels }) => labels.le !== undefined)
    const boundaries = buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite)
    const counts = buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0))
    const value = { buckets: { boundaries, counts }, sum: total('sum'), count: total('count') }
    return { ...times, attributes: attributes as Attributes, value }
  })
}
