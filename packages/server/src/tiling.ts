import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { isUuid } from './access/credentials.ts'
import { createDataVersions } from './data-versions.ts'
import type { Connections } from './databases/connection.ts'
import { tenantSchema } from './databases/tenant-schema.ts'
import { type AttributeDto, attributesOf } from './datasets/attribute-dto.ts'
import { type FoundDataset, findDataset } from './datasets/find-dataset.ts'
import { tableName } from './datasets/introspect.ts'
import { readParameters } from './datasets/parameters.ts'
import { ownParameters, type Sources, sourceParameters } from './datasets/sources.ts'
import type { Db } from './db/db.ts'
import { estimateTable } from './estimates.ts'
import type { Jobs } from './jobs/jobs.ts'
import type { Fetch } from './tiles/archives/archive.ts'
import { type Archives, createArchives } from './tiles/archives/archives.ts'
import { nobody } from './tiles/basemap-operations.ts'
import { createDetect } from './tiles/detect.ts'
import type { TileArchives, TileDataset, TileDatasets } from './tiles/known-sources.ts'
import { createOverviews, type InstallOverview } from './tiles/overviews/overviews.ts'
import { createResolve } from './tiles/resolve-source.ts'
import { createTileCache, type TileCache } from './tiles/tile-cache.ts'
import type { Detect, Resolve } from './tiles/tile-source.ts'
import { createTileWorkers, type TileWorkers } from './tiles/tile-workers.ts'

export type TilingOptions = {
  db: Db
  connections: Connections
  sources: Sources
  fetch: Fetch
  dataDirectory: string
  assetsDirectory: string
  cacheMb: number
  jobs: Jobs
  overviewMinRows: number
  /** To databases, of all tile threads together. */
  maxConnections: number
  onError(error: unknown): void
}

/** What maps need of the rest: datasets that know when they change, archives, threads and a cache. */
export type Tiling = {
  readonly data: TileDatasets
  readonly archives: Archives
  readonly archiveInfo: TileArchives
  readonly detect: Detect
  readonly resolve: Resolve
  readonly workers: TileWorkers
  readonly cache: TileCache
  /** Makes the overview of a table that is about to be a dataset; undefined when it is too small for one. */
  stageOverview(
    dataset: NewTileDataset,
    rows: number,
    table: TableName,
    signal: AbortSignal,
  ): Promise<InstallOverview | undefined>
  close(): Promise<void>
}

type TableName = { readonly schema: string; readonly name: string }
type NewTileDataset = Pick<TileDataset, 'id' | 'applicationId' | 'name'> & {
  readonly attributes: readonly AttributeDto[]
}

export function createTiling(options: TilingOptions): Tiling {
  const {
    db,
    sources,
    fetch,
    dataDirectory,
    assetsDirectory,
    cacheMb,
    jobs,
    overviewMinRows: minRows,
    connections,
    onError,
  } = options
  const directoryOf = (id: string): string => (id === nobody ? assetsDirectory : join(dataDirectory, 'files', id))
  const archives = createArchives({ directoryOf, fetch })
  const version = createDataVersions(options)
  const find: TileDatasets['find'] = async (applicationId, id) => {
    const dataset = isUuid(id) ? await findDataset(db, applicationId, id) : undefined
    return dataset && { ...dataset, dtos: dataset.attributes, attributes: attributesOf(dataset) }
  }
  const tableOf = ownTable(options)
  const overviews = createOverviews({ db, jobs, minRows, findDataset: find, tableOf, onError })
  const data: TileDatasets = {
    find,
    open: (dataset, given) => sources.open({ ...dataset, attributes: dataset.dtos }, given),
    check: checkGiven,
    parameters: (dataset) => ownParameters(dataset as TileDataset & FoundDataset),
    version,
    overview: overviews.find,
    async estimate(dataset, signal) {
      if (dataset.type !== 'table') return undefined
      const found = { ...(dataset as TileDataset & FoundDataset), attributes: dataset.dtos }
      const estimate = await estimateTable(db, connections, found as unknown as FoundDataset, signal)
      const [west = 0, south = 0, east = 0, north = 0] = estimate?.extent ?? []
      return {
        ...(estimate?.rows && { rows: estimate.rows }),
        ...(estimate?.extent && { extent: [west, south, east, north] as const }),
      }
    },
  }
  const archiveInfo: TileArchives = {
    info: async (applicationId, uri) => (await archives.open(applicationId, uri)).info(),
  }
  const workers = createTileWorkers({
    count: Math.max(1, availableParallelism()),
    maxConnections: options.maxConnections,
  })
  return {
    data,
    archives,
    archiveInfo,
    detect: createDetect(data, archiveInfo),
    resolve: createResolve(data, directoryOf),
    workers,
    cache: createTileCache(cacheMb * 1024 * 1024),
    async stageOverview({ attributes: dtos, ...dataset }, rows, table, signal) {
      const fresh = { ...dataset, type: 'table', dtos, metadata: {}, revision: '1' }
      const attributes = attributesOf({ attributes: dtos, metadata: {} })
      return rows < minRows ? undefined : overviews.stage({ ...fresh, attributes }, table, signal)
    },
    async close() {
      await Promise.all([workers.close(), archives.close()])
    },
  }
}

/** Whether the values of a dataset's own parameters are what its source can take. */
function checkGiven(dataset: TileDataset, given: Readonly<Record<string, unknown>>): void {
  const found = dataset as TileDataset & FoundDataset
  readParameters(found.metadata.parameters, sourceParameters(found), given)
}

/** Of a dataset that is a table in its application's own schema. */
const ownTable =
  ({ connections }: TilingOptions) =>
  async (dataset: TileDataset): Promise<{ schema: string; name: string } | undefined> => {
    const { applicationId, databaseId, type, source } = dataset as TileDataset & FoundDataset
    if (type !== 'table') return undefined
    const database = await connections.find(applicationId, databaseId)
    const own = tenantSchema(applicationId)
    const table = tableName(source, own)
    return database?.type === 'internal' && table.schema === own ? table : undefined
  }
