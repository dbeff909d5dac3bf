import { availableParallelism } from 'node:os'
import { isUuid } from '../../api/access/credentials.ts'
import { createLoadingCache } from '../../kernel/concurrency/loading-cache.ts'
import { type MachineShare, partOf } from '../../kernel/concurrency/machine-share.ts'
import type { Db } from '../../kernel/db/db.ts'
import type { Jobs } from '../../kernel/jobs/jobs.ts'
import { createDirectoryStore } from '../../kernel/storage/directory-store.ts'
import { type FileStore, type Folder, filesPrefix, folderOf } from '../../kernel/storage/file-store.ts'
import type { Connections } from '../databases/connection.ts'
import { isPlatformType } from '../databases/drivers.ts'
import { tenantSchema } from '../databases/tenant-schema.ts'
import { createDataVersions } from '../datasets/data-versions.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { datasetTypeOf } from '../datasets/dataset-types.ts'
import { findDataset } from '../datasets/find-dataset.ts'
import type { Sources } from '../datasets/sources.ts'
import type { Fetch } from './archives/archive.ts'
import { type Archives, createArchives } from './archives/archives.ts'
import { createTileCache, type TileCache } from './cache/tile-cache.ts'
import { createExternalOverviews } from './overviews/external-overviews.ts'
import { createFileOverviews, type FileOverviews, overviewDirectory } from './overviews/files/file-overviews.ts'
import type { TenantTable } from './overviews/overview.ts'
import { createOverviews, type Overviews } from './overviews/overviews.ts'
import type { TileBudget } from './source/tile-budget.ts'
import type { TileArchives, TileDatasets, TileSourceContext, TileTable } from './source/tile-source-type.ts'
import { createDensestTiles, type DensestTilesCache } from './thinning/densest-tiles.ts'
import { createTileWorkers, type TileWorkers } from './workers/tile-workers.ts'

/** The application id of the built-in base map: none. */
export const builtInApplication = ''

/** The file of the bundled base map, among the assets. */
export const bundledWorld = 'basemap.pmtiles'

export type TilingOptions = {
  db: Db
  connections: Connections
  sources: Sources
  fetch: Fetch
  files: FileStore
  assetsDirectory: string
  cacheMb: number
  jobs: Jobs
  overviewMinRows: number
  /** Of a tile, unless its source says otherwise. */
  readonly budget: TileBudget
  readonly dataDirectory: string
  /** For tables on other servers. */
  overviewRebuildMs: number
  /** How many bytes an application may still store. */
  storageLeft(applicationId: string): Promise<number>
  /** Database connections of all tile threads together. */
  maxConnections: number
  readonly share: MachineShare
  onError(error: unknown): void
}

/** The parts that tiles are made with: versioned datasets, archives, worker threads and a cache. */
export type Tiling = {
  readonly context: TileSourceContext
  readonly archives: Archives
  readonly workers: TileWorkers
  readonly densest: DensestTilesCache
  readonly cache: TileCache
  readonly overviews: Overviews
  close(): Promise<void>
}

const estimateMs = 2_000
const statisticsMs = 60_000

export function createTiling(options: TilingOptions): Tiling {
  const {
    db,
    sources,
    fetch,
    files,
    assetsDirectory,
    cacheMb,
    jobs,
    overviewMinRows: minRows,
    budget,
    share,
    onError,
  } = options
  const assets = folderOf(createDirectoryStore(assetsDirectory), '')
  const own = installationFolder(assets, folderOf(files, 'basemap/'))
  const filesOf = (id: string): Folder => (id === builtInApplication ? own : folderOf(files, filesPrefix(id)))
  const archives = createArchives({ filesOf, fetch })
  const find: TileDatasets['find'] = async (applicationId, id) => {
    const dataset = isUuid(id) ? await findDataset(db, applicationId, id) : undefined
    return dataset && sources.current(dataset)
  }
  const tableOf = tenantTable(options)
  const overviews = createOverviews({ db, jobs, share, minRows, budget, findDataset: find, tableOf, onError })
  const foreign = createExternalOverviews({
    ...options,
    minRows,
    rebuildMs: options.overviewRebuildMs,
    findDataset: find,
  })
  const densest = createDensestTiles()
  const ofFiles = fileOverviews(options, find, densest)
  const versions = createDataVersions(options)
  const data: TileDatasets = {
    find,
    open: sources.open,
    version: versions.of,
    state: versions.stateOf,
    table: tableStatistics(sources),
    overview: async (dataset) =>
      isPlatformType(dataset.databaseType) ? overviews.find(dataset) : foreign.find(dataset),
    fileOverview: async (dataset) => (isPlatformType(dataset.databaseType) ? undefined : ofFiles.find(dataset)),
    async cancelOverview(datasetId) {
      await Promise.all([overviews.cancel(datasetId), foreign.cancel(datasetId), ofFiles.cancel(datasetId)])
    },
    estimate: (dataset, signal) => estimateOf(sources, dataset, signal),
  }
  const archiveInfo: TileArchives = {
    info: (applicationId, uri) => archives.of(applicationId, uri).info(),
  }
  const workers = createTileWorkers({
    count: partOf(availableParallelism(), share),
    maxConnections: options.maxConnections,
  })
  return {
    context: { data, archives: archiveInfo, filesOf },
    archives,
    workers,
    densest,
    cache: createTileCache(cacheMb * 1024 * 1024),
    overviews,
    async close() {
      await Promise.all([workers.close(), archives.close()])
    },
  }
}

/** The bundled world, and the archives that the operator put beside it: `basemap/` of DATA_DIR or of the bucket. */
function installationFolder(assets: Folder, files: Folder): Folder {
  const folderWith = (name: string): Folder => (name === bundledWorld ? assets : files)
  return {
    stat: (name) => folderWith(name).stat(name),
    open: (name) => folderWith(name).open(name),
    localFile: (name) => folderWith(name).localFile(name),
  }
}

async function estimateOf(
  sources: Sources,
  dataset: Dataset,
  signal: AbortSignal,
): ReturnType<TileDatasets['estimate']> {
  const estimate = await sources.estimate(dataset, { timeoutMs: estimateMs, signal })
  if (!estimate) return undefined
  const [west = 0, south = 0, east = 0, north = 0] = estimate.extent ?? []
  return {
    ...(estimate.rows && { rows: estimate.rows }),
    ...(estimate.extent && { extent: [west, south, east, north] as const }),
  }
}

const fileOverviews = (
  options: TilingOptions,
  findDataset: TileDatasets['find'],
  densest: DensestTilesCache,
): FileOverviews =>
  createFileOverviews({
    ...options,
    directory: overviewDirectory(options.dataDirectory),
    minRows: options.overviewMinRows,
    findDataset,
    densest,
  })

/** A failure is no reason to refuse a tile: without statistics it is made of its rows. */
function tableStatistics(sources: Sources): TileDatasets['table'] {
  const tables = createLoadingCache<TileTable | undefined>({ ttlMs: statisticsMs })
  async function look(dataset: Dataset): Promise<TileTable | undefined> {
    const options = { timeoutMs: estimateMs, signal: AbortSignal.timeout(estimateMs) }
    const { rows = null, isIndexed = false } = (await sources.estimate(dataset, options).catch(() => undefined)) ?? {}
    return rows !== null && isIndexed ? { rows } : undefined
  }
  // Rows of which attributes are masked come from a query, not from the table.
  return async (dataset) =>
    dataset.narrowing?.masks.size ? undefined : tables.get(`${dataset.id} ${dataset.revision}`, () => look(dataset))
}

/** The table of a dataset, if it is in the application's own schema. */
const tenantTable =
  ({ connections }: TilingOptions) =>
  async (dataset: Dataset): Promise<TenantTable | undefined> => {
    const { applicationId, databaseId, source } = dataset
    const own = tenantSchema(applicationId)
    const table = datasetTypeOf(dataset).tableOf?.(source, own)
    if (table?.schema !== own) return undefined
    const database = await connections.find(applicationId, databaseId)
    return isPlatformType(database?.type) ? table : undefined
  }
