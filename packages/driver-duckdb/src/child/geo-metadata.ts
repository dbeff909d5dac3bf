import type { Box, Covering, GeometryFact } from '../messages.ts'
import { isGeoarrow } from './geoarrow.ts'
import { systemOf } from './reference-system.ts'
import { UnusableFile } from './table-facts.ts'

/** The `geo` key of GeoParquet files, read with care: whoever wrote it may mean harm. */
export type GeoColumn = {
  readonly encoding: string
  readonly fact: Omit<GeometryFact, 'srid' | 'system'>
  /** undefined: not given, which means longitude and latitude. */
  readonly crs: unknown
}

const maxColumns = 100

/** By column; undefined when the text is no GeoParquet metadata at all. */
export function readGeoMetadata(text: string): ReadonlyMap<string, GeoColumn> | undefined {
  const columns = fields(fields(parsed(text))?.columns)
  if (!columns) return undefined
  const entries = Object.entries(columns).slice(0, maxColumns)
  return new Map(entries.flatMap(([name, column]) => (fields(column) ? [[name, geoColumn(fields(column) ?? {})]] : [])))
}

function geoColumn({ encoding, geometry_types, bbox, covering, edges, ...others }: Fields): GeoColumn {
  const extent = boxOf(bbox)
  const boxes = coveringOf(fields(covering)?.bbox)
  return {
    encoding: String(encoding),
    crs: 'crs' in others ? others.crs : 'OGC:CRS84',
    fact: {
      ...kindOf(Array.isArray(geometry_types) ? geometry_types.map(String) : []),
      ...(extent && { extent }),
      ...(edges === 'spherical' && { edges }),
      ...(boxes && { covering: boxes }),
    },
  }
}

type Fields = { readonly [name: string]: unknown }

const fields = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `['Polygon Z']` → Polygon in three dimensions; several kinds are a Geometry. */
export function kindOf(types: readonly string[]): Pick<GeometryFact, 'type' | 'dimension'> {
  const [kind = 'Geometry', ...others] = new Set(types.map((type) => type.split(' ')[0] ?? ''))
  const extra = Math.max(0, ...types.map((type) => type.split(' ')[1]?.length ?? 0))
  const isKnown = others.length === 0 && /^(Multi)?(Point|LineString|Polygon)$|^GeometryCollection$/.test(kind)
  return { type: isKnown ? kind : 'Geometry', dimension: extra >= 2 ? 4 : extra === 1 ? 3 : 2 }
}

/** `[west, south, east, north]`, or with heights in between. */
function boxOf(bbox: unknown): Box | undefined {
  if (!Array.isArray(bbox) || !bbox.every((value) => Number.isFinite(value))) return undefined
  const half = bbox.length / 2
  if (half !== 2 && half !== 3 && half !== 4) return undefined
  return [bbox[0], bbox[1], bbox[half], bbox[half + 1]]
}

function coveringOf(bbox: unknown): Covering | undefined {
  const { xmin, ymin, xmax, ymax } = fields(bbox) ?? {}
  const isPath = (path: unknown): path is string[] =>
    Array.isArray(path) && path.length > 0 && path.length <= 3 && path.every((name) => typeof name === 'string')
  return isPath(xmin) && isPath(ymin) && isPath(xmax) && isPath(ymax) ? { xmin, ymin, xmax, ymax } : undefined
}

/** A column of the file's own schema. */
export type SchemaColumn = { readonly name: string; readonly type: string | null; readonly isText: boolean }

/** DuckDB's instance dies of a column of text that is called WKB, so the file is refused before it is read. */
export function checkGeoColumns(columns: ReadonlyMap<string, GeoColumn>, schema: readonly SchemaColumn[]): void {
  for (const [name, { encoding, crs }] of columns) {
    const place = `GeoParquet metadata: the column "${name}"`
    const column = schema.find((candidate) => candidate.name === name)
    if (!column) throw new UnusableFile(`${place} is not in the file.`)
    if (isGeoarrow(encoding)) continue
    if (encoding !== 'WKB')
      throw new UnusableFile(`${place} has the encoding "${encoding.slice(0, 40)}", which is unknown.`)
    if (column.type !== 'BYTE_ARRAY' || column.isText)
      throw new UnusableFile(`${place} is called WKB but holds no bytes.`)
    if (typeof crs === 'string' && crs !== 'OGC:CRS84') {
      throw new UnusableFile(`${place} has its reference system as text; it must be PROJJSON, or null.`)
    }
  }
}

export const systemOfColumn = ({ crs }: GeoColumn): Pick<GeometryFact, 'srid' | 'system'> => systemOf(crs)
