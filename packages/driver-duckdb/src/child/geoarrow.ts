import type { DuckDBConnection } from '@duckdb/node-api'
import { rowsOf } from './rows/rows.ts'
import { quotedName, quotedText } from './sql/sql-text.ts'

/** GeoArrow's native encodings of GeoParquet 1.1: nested lists of {x, y}, which DuckDB takes for plain data. */

type Shape = { readonly word: string; readonly depth: number }

const shapes: { readonly [encoding: string]: Shape } = {
  point: { word: 'POINT', depth: 0 },
  linestring: { word: 'LINESTRING', depth: 1 },
  multipoint: { word: 'MULTIPOINT', depth: 1 },
  polygon: { word: 'POLYGON', depth: 2 },
  multilinestring: { word: 'MULTILINESTRING', depth: 2 },
  multipolygon: { word: 'MULTIPOLYGON', depth: 3 },
}

const axesAllowed: ReadonlySet<string> = new Set(['xy', 'xyz', 'xym', 'xyzm'])

export const isGeoarrow = (encoding: string): boolean => Object.hasOwn(shapes, encoding)

/** SQL that makes a geometry of the column: well-known text, since DuckDB has no function that takes coordinates. */
export async function geoarrowSql(
  connection: DuckDBConnection,
  { from, column, encoding }: { from: string; column: string; encoding: string },
): Promise<string | undefined> {
  const shape = shapes[encoding]
  const described = await rowsOf<{ type: string }>(
    connection,
    `SELECT column_type AS type FROM (DESCRIBE ${from}) WHERE column_name = ${quotedText(column)}`,
  )
  const [, axes = '', lists = ''] =
    /^STRUCT\(((?:"?[xyzm]"? DOUBLE(?:, )?){2,4})\)((?:\[\])*)$/.exec(described[0]?.type ?? '') ?? []
  const names = axes.match(/[xyzm](?="? DOUBLE)/g) ?? []
  if (!shape || !axesAllowed.has(names.join('')) || lists.length !== shape.depth * '[]'.length) return undefined
  const value = quotedName(column)
  const tag = `${shape.word}${names.length > 2 ? ` ${names.slice(2).join('').toUpperCase()} ` : ' '}`
  const isEmpty = shape.depth === 0 ? `isnan(${value}.x)` : `len(${value}) = 0`
  const body = shape.depth === 0 ? `'(' || ${coordinates(value, names)} || ')'` : nested(value, names, shape.depth)
  return `CASE WHEN ${value} IS NULL THEN NULL WHEN ${isEmpty} THEN '${tag}EMPTY' ELSE '${tag}' || ${body} END::GEOMETRY`
}

const coordinates = (value: string, axes: readonly string[]): string =>
  axes.map((axis) => `${value}.${axis}`).join(` || ' ' || `)

function nested(value: string, axes: readonly string[], depth: number): string {
  if (depth === 0) return coordinates(value, axes)
  const item = `item${depth}`
  return `'(' || array_to_string(list_transform(${value}, lambda ${item}: ${nested(item, axes, depth - 1)}), ', ') || ')'`
}
