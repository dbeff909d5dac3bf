import type { Registry } from 'prom-client'
import { type Counter, type Counts, counterNames, counters } from './counters.ts'
import type { Tallies } from './tallies.ts'

type AddMetrics = (prometheus: typeof import('prom-client'), registry: Registry) => void

/**
 * Counters `graticule_application_*`, labelled by application: of the `most` with most requests, so that the number of series is
 * bounded however many applications there are. Undefined where none are wanted.
 */
export function applicationMetrics({ totals }: Pick<Tallies, 'totals'>, most: number): AddMetrics | undefined {
  if (most === 0) return undefined
  return (prometheus, registry) => {
    for (const name of counterNames) {
      new prometheus.Counter({
        name: `graticule_application_${counters[name].column}_total`,
        help: counters[name].description,
        labelNames: ['application'],
        registers: [registry],
        collect() {
          this.reset()
          for (const [application, counts] of busiest(totals, most)) this.inc({ application }, counts[name])
        },
      })
    }
  }
}

const order: Counter = 'requests'

const busiest = (totals: ReadonlyMap<string, Counts>, most: number): [string, Counts][] =>
  [...totals].sort(([, a], [, b]) => b[order] - a[order]).slice(0, most)
