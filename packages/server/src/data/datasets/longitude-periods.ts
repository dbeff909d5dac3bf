// What is known of the longitudes of datasets, so that only those that may have some beyond ±180 are asked for copies of a place.
import { LRUCache } from 'lru-cache'
import type { Periods } from '../../query/execution/introspection.ts'
import type { SelectOptions } from '../../query/execution/select-options.ts'
import { driverOf } from '../databases/drivers.ts'
import type { CurrentDataset } from './column-refresh.ts'
import type { Dataset } from './dataset-record.ts'

/** Of an external table. Those of the platform are looked at whenever a record is loaded, which is after 0.9 s. */
const freshMs = 10_000
/** A server that does not answer is left alone for longer, because requests wait for the look. */
const afterFailureMs = 60_000
const lookMs = 1_000
const maxDatasets = 10_000

type Look = { until: number; known: Periods | undefined; running?: Promise<void> | undefined }

type FindPeriods = (dataset: Dataset, options: SelectOptions) => Promise<Periods | undefined> | undefined

/** Answers the dataset with what is known. Where nothing is, or the look fails, rows may lie anywhere, which is never wrong. */
export function createLongitudePeriods(find: FindPeriods, now = () => performance.now()): CurrentDataset {
  const looks = new LRUCache<string, Look>({ max: maxDatasets })

  function look(dataset: Dataset, isPlatform: boolean): Look {
    const key = `${dataset.id} ${dataset.revision}`
    const last = looks.get(key)
    if (last && (last.running || (!isPlatform && last.until > now()))) return last
    const begun: Look = { until: now() + freshMs, known: last?.known }
    begun.running = Promise.resolve(find(dataset, { timeoutMs: lookMs }))
      .then((periods) => {
        begun.known = periods
      })
      .catch(() => {
        begun.until = now() + afterFailureMs
        begun.known = undefined
      })
      .finally(() => {
        begun.running = undefined
      })
    looks.set(key, begun)
    return begun
  }

  return async (dataset) => {
    if (!dataset.attributes.some(({ type }) => type === 'geometry')) return dataset
    const begun = look(dataset, driverOf(dataset.databaseType)?.isPlatform === true)
    await begun.running
    return begun.known ? { ...dataset, periods: begun.known } : dataset
  }
}
