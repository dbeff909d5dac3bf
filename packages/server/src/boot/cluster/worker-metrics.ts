import type { MetricValue, MetricValues } from '../../kernel/concurrency/metrics-exchange.ts'

/** What only grows must not shrink when a worker ends: Prometheus would take the sum for a counter that began anew. */
const growing = new Set<unknown>(['counter', 'histogram'])

/** Adds the counters and histograms of a worker that has ended to those of others before it. Its gauges end with it. */
export function addEnded(sum: MetricValues, ended: MetricValues): MetricValues {
  const metrics = new Map(sum.map((metric) => [metric.name, metric]))
  for (const metric of ended) {
    if (!growing.has(metric.type)) continue
    const sum = metrics.get(metric.name)
    metrics.set(metric.name, sum ? { ...metric, values: addValues(sum.values, metric.values) } : metric)
  }
  return [...metrics.values()]
}

function addValues(some: readonly MetricValue[], more: readonly MetricValue[]): MetricValue[] {
  const values = new Map(some.map((one) => [seriesOf(one), one]))
  for (const one of more) {
    const before = values.get(seriesOf(one))?.value ?? 0
    values.set(seriesOf(one), { ...one, value: before + one.value })
  }
  return [...values.values()]
}

const seriesOf = ({ metricName = '', labels }: MetricValue): string =>
  JSON.stringify([metricName, Object.entries(labels).sort()])
