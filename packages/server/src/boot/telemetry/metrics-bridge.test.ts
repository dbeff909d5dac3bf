import assert from 'node:assert/strict'
import { test } from 'node:test'
import prometheus from 'prom-client'
import { bridgeMetrics } from './metrics-bridge.ts'

// One database is enough: metrics are not stored.

test('counters, gauges and histograms are bridged with their names, labels and values', async () => {
  const registry = new prometheus.Registry()
  const registers = [registry]
  new prometheus.Counter({ name: 'c_total', help: 'Counted', labelNames: ['of'], registers }).labels('a').inc(3)
  new prometheus.Gauge({ name: 'g', help: 'Now', registers }).set(-2)
  const histogram = new prometheus.Histogram({
    name: 'h_seconds',
    help: 'Taken',
    labelNames: ['status'],
    buckets: [1, 10],
    registers,
  })
  for (const seconds of [0.5, 5, 6, 100]) histogram.labels('200').observe(seconds)
  histogram.labels('500').observe(2)
  const { resourceMetrics } = await bridgeMetrics(() => registry.getMetricsAsJSON()).collect()
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
  const seen = metrics.map(({ descriptor, dataPoints }) => [
    `${descriptor.name} ${descriptor.unit}`.trim(),
    dataPoints.map(({ attributes, value }) => ({ ...attributes, value })),
  ])
  assert.deepEqual(seen, [
    ['c_total', [{ of: 'a', value: 3 }]],
    ['g', [{ value: -2 }]],
    [
      'h_seconds s',
      [
        { status: '200', value: { buckets: { boundaries: [1, 10], counts: [1, 2, 1] }, sum: 111.5, count: 4 } },
        { status: '500', value: { buckets: { boundaries: [1, 10], counts: [0, 1, 0] }, sum: 2, count: 1 } },
      ],
    ],
  ])
})
