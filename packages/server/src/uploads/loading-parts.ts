// The dependencies of loading.
import type { TableName } from '../databases/postgres/introspect.ts'
import type { Inspection } from '../datasets/dataset-type.ts'
import type { Db } from '../db/db.ts'
import type { OverviewDataset } from '../tiles/overviews/overview.ts'
import type { InstallOverview } from '../tiles/overviews/overviews.ts'
import type { Detected } from '../tiles/tile-source-type.ts'
import type { Replaced } from './replaced-table.ts'
import type { StorageQuota } from './storage-quota.ts'
import type { Target } from './target.ts'

/** What loading needs from the rest of the service. */
export type LoadingParts = {
  readonly db: Db
  /** DATA_DIR */
  readonly directory: string
  readonly allowNativeGdal: boolean
  readonly storage: StorageQuota
  /** The database for new tables; the default one if none is named. */
  target(applicationId: string, databaseId: string | undefined): Promise<Target>
  /** The dataset whose data are to be replaced. */
  findReplaced(applicationId: string, id: string): Promise<Replaced | undefined>
  /** The attributes of a table, as a dataset describes them. */
  inspect(applicationId: string, databaseId: string, table: string): Promise<Pick<Inspection, 'attributes' | 'bytes'>>
  archiveMap(applicationId: string, uri: string): Promise<Detected>
  /** Builds the overview of a table that is not a dataset yet; undefined if it needs none. */
  stageOverview(
    dataset: OverviewDataset,
    rows: number,
    table: TableName,
    signal: AbortSignal,
  ): Promise<InstallOverview | undefined>
}
