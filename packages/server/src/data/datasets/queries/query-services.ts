/** The services that operations on rows use. */
import { operationUsing } from '../../../api/http/operation.ts'
import type { RecordCache } from '../../../api/resource/record-cache.ts'
import type { RawLanes } from '../../../kernel/db/postgres/raw-lanes.ts'
import type { CachedDataset } from '../dataset-cache.ts'
import type { Exports } from '../exports/exports.ts'
import type { Sources } from '../sources.ts'
import type { CellCounting } from './cell-query.ts'
import type { StreamSlots } from './stream-slots.ts'

export type QueryServices = {
  readonly datasetCache: RecordCache<CachedDataset>
  readonly sources: Sources
  readonly slots: StreamSlots
  readonly lanes: Pick<RawLanes, 'send'>
  readonly exports: Exports
  readonly cells: CellCounting
}

export const operation = operationUsing<QueryServices>()
