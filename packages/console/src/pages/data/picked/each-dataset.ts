/** Does something with each of several datasets: one that fails keeps none of the others from it. */
import type { Dataset } from '@graticule/client'
import { formatNumber } from '../../../format.ts'

type NamedDataset = Pick<Dataset, 'id' | 'name'>

export interface EachOutcome {
  done: number
  failures: { name: string; error: unknown }[]
}

/** One after the other, because each may have a table. */
export async function forEachDataset(
  datasets: readonly NamedDataset[],
  work: (dataset: NamedDataset) => Promise<unknown>,
): Promise<EachOutcome> {
  const outcome: EachOutcome = { done: 0, failures: [] }
  for (const dataset of datasets) {
    try {
      await work(dataset)
      outcome.done += 1
    } catch (error) {
      outcome.failures.push({ name: dataset.name, error })
    }
  }
  return outcome
}

const shownNames = 3

/** “Trees”, “Benches” and 2 more were not deleted. */
export function failureTitle(failures: EachOutcome['failures'], what: string): string {
  const names = failures.slice(0, shownNames).map(({ name }) => `“${name}”`)
  const more = failures.length - names.length
  const all =
    more > 0 ? [names.join(', '), `${formatNumber(more)} more`] : [names.slice(0, -1).join(', '), names.at(-1)]
  return `${all.filter(Boolean).join(' and ')} ${failures.length === 1 ? 'was' : 'were'} not ${what}`
}
