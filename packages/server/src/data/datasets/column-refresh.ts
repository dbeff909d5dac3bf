// Refreshes the attributes of datasets whose tables were altered in an external database, where no trigger tells of it.
import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { touched } from '../../api/resource/store.ts'
import type { Db } from '../../kernel/db/db.ts'
import { json, sql } from '../../kernel/db/sql.ts'
import type { ColumnName } from '../../query/execution/introspection.ts'
import type { SelectOptions } from '../../query/execution/select-options.ts'
import { driverOf } from '../databases/drivers.ts'
import type { Dataset, DatasetDraft } from './dataset-record.ts'
import type { Inspection } from './dataset-type.ts'
import { findDataset } from './find-dataset.ts'

/** A table is looked at when it is used and was not within this time. */
const freshMs = 10_000
/** A server that does not answer is left alone for longer, because requests wait for the look. */
const afterFailureMs = 60_000
const lookMs = 1_000
const maxDatasets = 10_000

export type ColumnRefreshParts = {
  readonly db: Db
  /** The columns as they are now; undefined if the database cannot tell quickly. */
  columns(dataset: Dataset, options: SelectOptions): Promise<readonly ColumnName[] | undefined>
  inspect(dataset: DatasetDraft): Promise<Inspection>
  /** For tests: milliseconds. */
  readonly now?: () => number
}

type Look = { until: number; running?: Promise<Dataset | undefined> | undefined }

/** Answers the dataset with the columns that its table has, as they were at most ten seconds ago. */
export type CurrentDataset = (dataset: Dataset) => Promise<Dataset>

export function createColumnRefresh({
  db,
  columns,
  inspect,
  now = () => performance.now(),
}: ColumnRefreshParts): CurrentDataset {
  const looks = new LRUCache<string, Look>({ max: maxDatasets })

  async function refresh(dataset: Dataset): Promise<Dataset | undefined> {
    const found = await columns(dataset, { timeoutMs: lookMs })
    // A table that is gone may come back: queries say that it is not there.
    const isKnown = !found || found.length === 0 || isDeepStrictEqual(found, dataset.attributes.map(nameOf))
    if (isKnown) return undefined
    const { attributes, bytes, rowEstimate } = await inspect(dataset)
    // Whoever has changed the record meanwhile has read the columns, too.
    await db.query(sql`
      UPDATE svc.datasets SET attributes = ${json(attributes)}, bytes = ${bytes}, row_estimate = ${rowEstimate}, ${touched}
      WHERE id = ${dataset.id}::uuid AND revision = ${dataset.revision}::int8`)
    return findDataset(db, dataset.applicationId, dataset.id)
  }

  function look(dataset: Dataset): Look {
    const known = looks.get(dataset.id)
    if (known && (known.running || known.until > now())) return known
    const begun: Look = { until: now() + freshMs }
    begun.running = refresh(dataset)
      .catch(() => {
        begun.until = now() + afterFailureMs
        return undefined
      })
      .finally(() => {
        begun.running = undefined
      })
    looks.set(dataset.id, begun)
    return begun
  }

  return async (dataset) => {
    const isExternal = dataset.type === 'table' && driverOf(dataset.databaseType)?.isPlatform === false
    return (isExternal && (await look(dataset).running)) || dataset
  }
}

const nameOf = ({ name, dbType }: ColumnName): ColumnName => ({ name, dbType })
