// Overviews (a tile pyramid in tables): naming, columns and lookup.
import { hash } from 'node:crypto'
import { ident, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { overviewPrefix } from '../../databases/tenant-schema.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import type { Source } from '../../datasets/dataset-type.ts'
import type { TileQuery } from '../sql/tile-sql.ts'
import type { Rates, TileLoad } from '../thinning/thinning-rule.ts'

type Tile = TileQuery['tile']

/** The data of crowded tiles of a large table: tables with fewer rows, each standing for `svc_count` of them. */
export type Overview = {
  /** Changes when it is rebuilt. */
  readonly version: string
  /** How its zooms are thinned; tiles that are made from the table keep to it as well. */
  readonly thinning: OverviewThinning
  /** Whether the tile is made from the overview; other tiles are small enough to be made from the table. */
  has(tile: Tile): boolean
  from(zoom: number): Sql
  readonly geometry: Attribute
  /** The rank of a row of the table `q`, the same as in the overview. */
  readonly tableRank: Sql
  /** Only if the table is on another server. */
  readonly external?: ExternalOverview
}

export type OverviewThinning = {
  /** Those of its tables. A tile source with smaller budgets has lower ones. */
  readonly rates: Rates
  readonly cellBits: number
  /** By zoom, what the densest tiles would hold without thinning; see chooseRates. */
  readonly densest: readonly (readonly TileLoad[])[]
}

/** How an overview is read that is not where its table is: in the platform's database. */
export type ExternalOverview = {
  readonly inSql: NonNullable<Source['inSql']>
  /** The columns that it has, with values as tiles show them. */
  readonly columns: ReadonlySet<string>
}

/** The part of a dataset that an overview needs. */
export type OverviewDataset = Pick<Dataset, 'id' | 'applicationId' | 'attributes' | 'metadata' | 'databaseType'>

/** A table in the application's own schema. */
export type TenantTable = { readonly schema: string; readonly name: string }

/** The overview includes what lies this far outside a crowded tile, in tile widths. */
export const overviewFringe = 1 / 8

/** The columns added to those of the table. */
export const countColumn = 'svc_count'
export const sizeColumn = 'svc_size'
export const rankColumn = 'svc_rank'
const addedColumns: readonly string[] = [countColumn, sizeColumn, rankColumn]

export const weight = sql`q.${ident(countColumn)}`
export const overviewRank = sql`q.${ident(rankColumn)}`

/** The order for dropping rows: the least visible go first, then those that a lower rate would hide. */
export const mostSeenFirst = [sql`q.${ident(sizeColumn)} DESC`, overviewRank]

export const overviewTable = (datasetId: string, part: string | number): string =>
  `${overviewPrefix}${datasetId.replaceAll('-', '')}_${part}`

/** How the names of tables that are not in use yet go on. */
export const beingBuilt = 'job_'

/** One number for each tile of all zooms. */
export const tileNumber = ({ z, x, y }: Tile): number => (4 ** z - 1) / 3 + y * 2 ** z + x

/** The copied columns: all but the geometries that are not drawn. */
export const copiedColumns = ({ attributes }: Pick<Dataset, 'attributes'>): string[] =>
  attributes.filter(({ type }) => type !== 'geometry').map(({ name }) => name)

/** The key column; undefined if there can be no overview. */
export function keyOf({ attributes }: Pick<Dataset, 'attributes'>): string | undefined {
  const keys = attributes.filter(({ primaryKey }) => primaryKey)
  const isTaken = attributes.some(({ name }) => addedColumns.includes(name))
  return keys.length === 1 && !isTaken ? keys[0]?.name : undefined
}

/** Changes with the rule by which rows are thinned, so that overviews of a former one are made anew. */
export const thinningRule = 3

/** Changes when an older overview no longer fits the dataset. Where rows may lie does not matter: it follows them. */
export function shapeOf(dataset: Pick<Dataset, 'attributes'>, { period: _, ...geometry }: Attribute): string {
  const columns = dataset.attributes.map(({ name, dbType }) => [name, dbType])
  return hash('sha1', JSON.stringify([thinningRule, geometry, columns]), 'base64url').slice(0, 12)
}

/** The geometry column as the overview's tables store it, whatever the original was. */
const overviewGeometry = ({ name }: Attribute): Attribute => ({ name, type: 'geometry', srid: 3857 })

const overviewFrom = (schema: string, datasetId: string, zoom: number): Sql =>
  ident(schema, overviewTable(datasetId, zoom))

/** What the record of a finished build says. */
type BuiltRecord = {
  readonly builtAt: Date | null
  readonly tiles: readonly number[] | null
  readonly thinning: OverviewThinning | null
}

/** Undefined if the table turned out to be too small for one. */
export function overviewOf(
  datasetId: string,
  { geometry, rank: tableRank }: { readonly geometry: Attribute; readonly rank: Sql },
  schema: string,
  { tiles, builtAt, thinning }: BuiltRecord,
): Overview | undefined {
  if (!thinning) return undefined
  const numbers = new Set(tiles)
  return {
    version: String(builtAt?.getTime()),
    thinning,
    tableRank,
    has: (tile) => numbers.has(tileNumber(tile)),
    from: (zoom) => overviewFrom(schema, datasetId, zoom),
    geometry: overviewGeometry(geometry),
  }
}
