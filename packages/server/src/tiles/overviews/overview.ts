import { hash } from 'node:crypto'
import { ident, type Sql, sql } from '../../db/sql.ts'
import type { Attribute } from '../../query/attribute.ts'
import type { TileDataset } from '../known-sources.ts'
import type { TileQuery } from '../tile-sql.ts'

type Tile = TileQuery['tile']

/** What crowded tiles of a large table show: tables with fewer rows, each standing for `svc_count` of them. */
export type Overview = {
  /** Changes when it is made anew. */
  readonly version: string
  /** Whether the tile is to be made of it; any other holds little enough to be made of the table. */
  has(tile: Tile): boolean
  from(zoom: number): Sql
  readonly geometry: Attribute
}

/** A table in the application's own schema. */
export type OwnTable = { readonly schema: string; readonly name: string }

/** What lies so far from a crowded tile, in tiles, is in the overview too. */
export const overviewFringe = 1 / 8

/** The columns beside those of the table. */
export const countColumn = 'svc_count'
export const sizeColumn = 'svc_size'

export const weight = sql`q.${ident(countColumn)}`

/** When there is too much, what would be seen least is left out. */
export const mostSeenFirst = [sql`q.${ident(sizeColumn)} DESC`, sql`${weight} DESC`]

export const overviewTable = (datasetId: string, part: string | number): string =>
  `svc_ov_${datasetId.replaceAll('-', '')}_${part}`

/** One number for each tile of all zooms. */
export const tileNumber = ({ z, x, y }: Tile): number => (4 ** z - 1) / 3 + y * 2 ** z + x

/** What is copied: all but geometries, of which only the one that is drawn is. */
export const copiedColumns = ({ dtos }: TileDataset): string[] =>
  dtos.filter(({ type }) => type !== 'geometry').map(({ name }) => name)

/** The key by which rows are told apart; undefined when there can be no overview. */
export function keyOf({ dtos }: TileDataset): string | undefined {
  const keys = dtos.filter(({ primaryKey }) => primaryKey)
  const isTaken = dtos.some(({ name }) => name === countColumn || name === sizeColumn)
  return keys.length === 1 && !isTaken ? keys[0]?.name : undefined
}

/** Changes when an overview of before would no longer fit the dataset. */
export function shapeOf(dataset: TileDataset, geometry: Attribute): string {
  const columns = dataset.dtos.map(({ name, dbType }) => [name, dbType])
  return hash('sha1', JSON.stringify([geometry, columns]), 'base64url').slice(0, 12)
}

/** As the tables of an overview have it, whatever it was. */
export const overviewGeometry = ({ name }: Attribute): Attribute => ({ name, type: 'geometry', srid: 3857 })

export const overviewFrom = (schema: string, datasetId: string, zoom: number): Sql =>
  ident(schema, overviewTable(datasetId, zoom))
