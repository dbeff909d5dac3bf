import { hash } from 'node:crypto'
import { type Scope, scopeOf } from '../access/acl.ts'
import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import type { Attribute, Attributes } from '../query/attribute.ts'
import type { Connection, SelectOptions } from '../query/connection.ts'
import type { Plan } from '../query/plan.ts'
import type { Relation } from '../query/plan-sql.ts'
import { createRecent } from '../resource/recent.ts'
import type { Resource } from '../resource/resource.ts'
import type { ArchiveInfo } from './archives/archive.ts'
import { createLooks, nothingKnown } from './looks.ts'
import type { Overview } from './overviews/overview.ts'
import type { DatasetAttribute } from './tile-columns.ts'
import type { Detect, Extent, TileSource } from './tile-source.ts'
import { checkTuning } from './tuning.ts'

/** A dataset as tiles need it. */
export type TileDataset = {
  readonly id: string
  readonly applicationId: string
  readonly name: string
  readonly type: string
  readonly dtos: readonly DatasetAttribute[]
  readonly attributes: Attributes
  readonly metadata: Readonly<Record<string, unknown>>
  /** Changes with the record. */
  readonly revision: string
}

export type TileData = {
  rows(
    plan: Plan,
    shape: { geometry: 'geojson'; srid: 4326 },
    options: SelectOptions,
  ): Promise<{ batches: AsyncIterable<(string | null)[][]> }>
  readonly inSql?: { readonly connection: Connection; readonly relation: Relation; readonly isOurs: boolean }
}

/** What tiles need of datasets. */
export type TileDatasets = {
  find(applicationId: string, id: string): Promise<TileDataset | undefined>
  open(dataset: TileDataset, given: Readonly<Record<string, unknown>>): Promise<TileData>
  /** Throws a 400 for parameters of the dataset that are wrong or missing. */
  check(dataset: TileDataset, given: Readonly<Record<string, unknown>>): void
  /** The names of the dataset's own parameters. */
  parameters(dataset: TileDataset): ReadonlySet<string>
  /** Changes with the data. */
  version(dataset: TileDataset): Promise<string>
  /** About how many rows a table has and where, from statistics; no row is read. */
  estimate?(dataset: TileDataset, signal: AbortSignal): Promise<TileEstimate | undefined>
  /** For the low zooms of large tables that are ours. */
  overview?(dataset: TileDataset): Promise<Overview | undefined>
}

export type TileEstimate = { readonly rows?: number; readonly extent?: Extent }

/** What tiles need of archives. */
export type TileArchives = { info(applicationId: string, uri: string): Promise<ArchiveInfo> }

/** A tile source, and all that each of its tiles needs. */
export type Known = {
  readonly source: TileSource
  /** Changes when a tile could. */
  readonly version: string
  readonly name: string
  readonly dataset?: TileDataset & { readonly geometry: Attribute; readonly geometryType: string }
  /** The names of the dataset's own parameters. */
  readonly parameters?: ReadonlySet<string>
  readonly overview?: Overview
  readonly archive?: ArchiveInfo
  /** There may be something beyond the extent. */
  readonly isExtentEstimated?: boolean
}

export type KnownSources = { get(scope: Scope, id: string): Promise<Known> }

export type KnownDependencies = {
  db: Db
  tileSources: Resource
  datasets: Resource
  data: TileDatasets
  archives: TileArchives
  detect: Detect
}

/** Tile sources as they were within the last second; a dataset that has none of its own is one by itself. */
export function createKnownSources(dependencies: KnownDependencies): KnownSources {
  const { db, tileSources, datasets, data, archives, detect } = dependencies
  const look = createLooks(detect)
  const explicit = createRecent(
    { db, resource: tileSources },
    async ({ entity, revision }) => following(await learn(entity as unknown as TileSource, revision)),
    [datasets],
  )
  const implicit = createRecent({ db, resource: datasets }, async ({ entity }) => {
    const { id, applicationId } = entity as { id: string; applicationId: string }
    const base = {
      id,
      applicationId,
      type: 'dataset',
      source: id,
      name: '',
      attribution: '',
      headers: {},
      metadata: {},
    } as const
    const known = await learn({ ...base, ...nothingKnown }, '')
    const { isEstimate = false, ...found } = await look(applicationId, id, known.version)
    return { ...known, source: { ...base, ...found }, isExtentEstimated: isEstimate }
  })

  /** An extent that was found out and not given grows with the data. */
  async function following(known: Known): Promise<Known> {
    const { id, applicationId, type, source } = known.source
    if (type !== 'dataset') return known
    const [row] = await db.query<{ found: boolean }>(
      sql`SELECT is_extent_found AS found FROM svc.tilesources WHERE id = ${id}::uuid`,
    )
    if (!row?.found) return known
    const { extentLngLat, isEstimate = false } = await look(applicationId, source, known.version)
    return { ...known, source: { ...known.source, extentLngLat }, isExtentEstimated: isEstimate }
  }

  async function learn(source: TileSource, revision: string): Promise<Known> {
    if (source.type === 'tilelive') return knownArchive(archives, source, revision)
    const dataset = await data.find(source.applicationId, source.source)
    if (!dataset) throw lostDataset()
    const drawn = { ...dataset, ...geometryOf(dataset) }
    const { overviews: isWanted = true } = checkTuning(source.metadata)
    const dataVersion = await data.version(dataset)
    const overview = isWanted ? await data.overview?.(dataset) : undefined
    const version = digest(revision, dataset.revision, dataVersion, overview?.version ?? '')
    const parameters = data.parameters(dataset)
    const name = source.name || dataset.name
    return { source, version, name, dataset: drawn, parameters, ...(overview && { overview }) }
  }

  return {
    async get(scope, id) {
      try {
        return await explicit.get(scope, id)
      } catch (error) {
        const reach = scopeOf(scope.caller, 'datasets', 'execute')
        if (!isAbsent(error) || !reach) throw error
        return implicit.get(reach, id).catch((reason) => {
          throw isAbsent(reason) ? error : reason
        })
      }
    },
  }
}

async function knownArchive(archives: KnownDependencies['archives'], source: TileSource, revision: string) {
  const archive = await archives.info(source.applicationId, source.source)
  const era = /^https?:/i.test(source.source) ? Math.floor(Date.now() / proxyMs) : ''
  const name = source.name || archive.name || source.id
  return { source, archive, name, version: digest(revision, archive.version, `${era}`) }
}

const lostDataset = (): ApiError =>
  new ApiError(
    'not_found',
    'The dataset that this tile source names does not exist. Give the tile source another source.',
  )

/** The column that is drawn. */
export function geometryOf({ dtos, attributes }: Pick<TileDataset, 'dtos' | 'attributes'>): {
  geometry: Attribute
  geometryType: string
} {
  const dto = dtos.find(({ type }) => type === 'geometry')
  const geometry = dto && attributes.get(dto.name)
  if (!geometry) throw new ApiError('invalid_request', 'The dataset has no geometry, so there are no tiles of it.')
  return { geometry, geometryType: (dto.geometryType ?? 'geometry').toLowerCase() }
}

/** A server does not say when its tiles change: they are believed for so long. */
const proxyMs = 60_000

const isAbsent = (error: unknown): boolean => error instanceof ApiError && error.code === 'not_found'

const digest = (...parts: string[]): string => hash('sha1', parts.join(' '), 'base64url').slice(0, 12)

/** The middle of an extent, and a zoom at which it is seen as a whole. */
export function centerOf(
  [west, south, east, north]: Extent,
  minZoom: number,
  maxZoom: number,
): [number, number, number] {
  const span = Math.max((east - west) / 360, (north - south) / 170, 1e-9)
  const zoom = Math.max(minZoom, Math.min(maxZoom, Math.floor(-Math.log2(span))))
  return [(west + east) / 2, (south + north) / 2, zoom]
}
