import type { Bench } from './bench.ts'
import type { Better, Sample } from './statistics.ts'

export const ourName = 'Graticule'

export type Contender = {
  readonly name: string
  /** One round. */
  measure(): Promise<Sample>
  /** Throws where its answers are not those of Graticule: figures of servers that answer differently mean nothing. */
  equal?(): Promise<void>
}

/** What is wanted: to be so many times better than a contender, or at most so much. */
export type Goal = { readonly ratio?: Readonly<Record<string, number>>; readonly most?: number }

export type Case = {
  readonly work: string
  readonly unit: 'a second' | 'ms' | 's' | 'MB'
  readonly better: Better
  /** Graticule is the first. */
  readonly contenders: readonly Contender[]
  readonly wanted?: Goal
  /** Where one round takes long: how many of them, and none that warms up. */
  readonly longRounds?: number
  /** A point of a plot instead of a row of the table. */
  readonly curve?: { readonly plot: CurvePlot; readonly x: number }
}

export type CurvePlot = 'rows' | 'connections'

export type Part = {
  readonly name: string
  readonly about: string
  /** What the full run takes at most. It is left out where less than that is left, and stopped after it. */
  readonly seconds: number
  /** Runs only where it is named. */
  readonly isOnDemand?: boolean
  /**
   * Prepares, and yields one case after the other. What it has started while a case is measured may be replaced before the
   * next; the runner stops the rest.
   */
  cases(bench: Bench): AsyncIterable<Case>
}

/** What a case came to. The rounds of the contenders stand in the order of time. */
export type Outcome = Omit<Case, 'contenders' | 'longRounds'> & {
  readonly part: string
  readonly samples: Readonly<Record<string, readonly Sample[]>>
}
