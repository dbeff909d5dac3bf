/** Metrics as prom-client gives them as JSON: a worker's, or those of workers that have ended. */
export type MetricValues = readonly Metric[]

type Metric = {
  readonly name: string
  readonly type: unknown
  readonly help?: string
  readonly values: readonly MetricValue[]
}

export type MetricValue = {
  readonly value: number
  readonly labels: Readonly<Partial<Record<string, string | number>>>
  readonly metricName?: string
}

/** How the workers of a server share their metrics: `metrics/` reads and adds them, `cluster/` carries them. */
export type MetricsExchange = {
  /** Says how this worker's own are read. */
  provide(read: () => Promise<MetricValues>): void
  /** Sends them a last time. */
  tell(metrics: MetricValues): void
  /** Those of each worker, and of those that have ended. */
  collect(): Promise<readonly MetricValues[]>
}
