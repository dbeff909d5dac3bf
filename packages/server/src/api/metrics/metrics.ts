import type { Counter, Histogram, Registry } from 'prom-client'
import type { MetricsExchange, MetricValues } from '../../kernel/concurrency/metrics-exchange.ts'
import { listen } from '../../kernel/events.ts'

/** Metrics that are read at the time of the scrape. */
export type Gauges = Readonly<Record<string, { readonly help: string; readonly aggregator?: 'max'; read(): number }>>

export type Metrics = {
  /** In Prometheus' text format. Counting begins when this is asked for the first time. */
  read(): Promise<{ contentType: string; text: string }>
  /** Those of this process alone, also after `close`. */
  values(): Promise<MetricValues>
  close(): void
}

/** Adds metrics that another area owns. */
type AddMetrics = (prometheus: typeof import('prom-client'), registry: Registry) => void

export function createMetrics(
  gauges: Gauges,
  version: string,
  exchange?: MetricsExchange,
  add?: AddMetrics | undefined,
): Metrics {
  let started: Promise<{ registry: Registry; stop(): void }> | undefined
  const begin = () => {
    started ??= start(gauges, version, add)
    return started
  }
  let final: MetricValues | undefined
  const values = async (): Promise<MetricValues> => final ?? (await begin()).registry.getMetricsAsJSON()
  exchange?.provide(values)
  return {
    async read() {
      const { registry } = exchange ? { registry: await sumOf(exchange) } : await begin()
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
    values,
    close: () =>
      void started?.then(async ({ registry, stop }) => {
        final = await registry.getMetricsAsJSON()
        exchange?.tell(final)
        stop()
      }),
  }
}

/** Adds up what all workers count, gauges too; of what cannot be added, such as the lag of an event loop, it is the mean. */
async function sumOf(exchange: MetricsExchange): Promise<Registry> {
  const { AggregatorRegistry } = (await import('prom-client')).default
  return AggregatorRegistry.aggregate([...(await exchange.collect())])
}

const quick = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const slow = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600]

/** Lazy: the library is loaded, and events are subscribed to, with the first scrape. */
async function start(
  gauges: Gauges,
  version: string,
  add: AddMetrics | undefined,
): Promise<{ registry: Registry; stop(): void }> {
  const prometheus = (await import('prom-client')).default
  const registry = new prometheus.Registry()
  prometheus.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 })
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> =>
    new prometheus.Counter({ name: `graticule_${name}`, help, labelNames, registers })
  const histogram = <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
    new prometheus.Histogram({ name: `graticule_${name}`, help, buckets, labelNames, registers }) as Histogram<L>

  for (const [name, { help, read, aggregator = 'sum' }] of Object.entries(gauges)) {
    const collect = function (this: { set(value: number): void }): void {
      this.set(read())
    }
    new prometheus.Gauge({ name: `graticule_${name}`, help, registers, collect, aggregator })
  }
  new prometheus.Gauge({
    name: 'graticule_info',
    help: 'What is running',
    registers,
    labelNames: ['version'],
    aggregator: 'first',
  })
    .labels(version)
    .set(1)

  const requests = histogram('http_request_duration_seconds', 'Requests, by operation', quick, 'operation', 'status')
  const tiles = counter('tiles_total', 'Tiles that were asked for, and whether they were in memory', 'of', 'kept')
  const stages = histogram('tile_stage_seconds', 'Making tiles of datasets, by stage', quick, 'stage')
  const tileBytes = counter('tile_bytes_total', 'Bytes of the tiles that were made, uncompressed')
  const uploads = histogram('upload_duration_seconds', 'Uploads that ended: what the last try took', slow, 'status')
  const messages = counter('messages_total', 'Mail and messages to contact points that ended', 'kind', 'status')
  const invocations = counter('agent_invocations_total', 'Invocations of agents that ended', 'code')
  const durations = histogram('agent_invocation_duration_seconds', 'Invocations of agents', quick.concat(60, 300, 900))
  const firstOutputs = histogram('agent_first_output_seconds', 'Until an agent says something', quick.concat(60))
  const lateFrames = counter('agent_late_frames_total', 'Frames of workers for invocations that were over')
  const releases = histogram('agent_cancel_to_release_seconds', 'Until a cancelled worker lets go', quick)

  add?.(prometheus, registry)
  const stops = [
    ...countChanges(counter, histogram('change_delay_seconds', 'From a write to its event', quick)),
    listen('request', ({ operation, status, seconds }) => requests.labels(operation, String(status)).observe(seconds)),
    listen('tile', ({ of, isCached }) => tiles.labels(of, String(isCached)).inc()),
    listen('tileMade', ({ querySeconds, encodeSeconds, compressSeconds, bytes }) => {
      stages.labels('query').observe(querySeconds)
      stages.labels('encode').observe(encodeSeconds)
      stages.labels('compress').observe(compressSeconds)
      tileBytes.inc(bytes)
    }),
    listen('upload', ({ status, seconds }) => uploads.labels(status).observe(seconds)),
    listen('sent', ({ kind, status }) => messages.labels(kind, status).inc()),
    listen('invocation', ({ code, seconds, firstOutputSeconds }) => {
      invocations.labels(code).inc()
      durations.observe(seconds)
      if (firstOutputSeconds !== undefined) firstOutputs.observe(firstOutputSeconds)
    }),
    listen('lateFrame', () => lateFrames.inc()),
    listen('cancelled', ({ seconds }) => releases.observe(seconds)),
  ]
  return {
    registry,
    stop() {
      for (const stop of stops) stop()
      registry.clear()
    },
  }
}

type MakeCounter = <L extends string>(name: string, help: string, ...labelNames: L[]) => Counter<L>

/** What change feeds and the webhooks of datasets do. */
function countChanges(counter: MakeCounter, delays: Histogram): (() => void)[] {
  const events = counter('change_events_total', 'Events that clients who follow changes were sent')
  const cut = counter('change_listeners_cut_total', 'Clients who follow changes and did not read them')
  const deliveries = counter('change_deliveries_total', 'Deliveries to webhooks that are bound to datasets', 'type')
  return [
    listen('changeEvent', () => events.inc()),
    listen('changeTold', ({ seconds }) => delays.observe(seconds)),
    listen('listenerCut', () => cut.inc()),
    listen('changeDelivery', ({ type }) => deliveries.labels(type).inc()),
  ]
}
