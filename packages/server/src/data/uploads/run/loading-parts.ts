// The dependencies of loading.
import type { Db } from '../../../kernel/db/db.ts'
import type { FileStore } from '../../../kernel/storage/file-store.ts'
import type { Inspection } from '../../datasets/dataset-type.ts'
import type { Overviews } from '../../tiles/overviews/overviews.ts'
import type { TileSourceCoverage } from '../../tiles/source/tile-source-type.ts'
import type { StorageQuota } from '../http/storage-quota.ts'
import type { ReplacedDataset } from '../load/replaced-table.ts'
import type { Target } from '../load/target.ts'
import type { ReaderProcess } from '../reader-process/reader-process.ts'

/** What loading needs from the rest of the service. */
export type LoadingParts = {
  readonly db: Db
  /** DATA_DIR: files are read from here, and unpacked here. */
  readonly directory: string
  /** Where files wait, and where archives are kept. */
  readonly files: FileStore
  readonly allowNativeGdal: boolean
  readonly storage: StorageQuota
  /** The database for new tables; the default one if none is named. */
  target(applicationId: string, databaseId: string | undefined): Promise<Target>
  /** The dataset whose data are to be replaced. */
  findReplaced(applicationId: string, id: string): Promise<ReplacedDataset | undefined>
  /** The attributes of a table, as a dataset describes them. */
  inspect(applicationId: string, databaseId: string, table: string): Promise<Pick<Inspection, 'attributes' | 'bytes'>>
  archiveMap(applicationId: string, uri: string): Promise<TileSourceCoverage>
  /** Overviews follow in the background after the data are published. */
  readonly overviews: Pick<Overviews, 'queue' | 'announce' | 'cancel'>
}

/** Starts a reader process that ends with the signal. */
export type ReaderPool = { takeReader(signal: AbortSignal): ReaderProcess }
