// The table of a GeoPackage that is being made, and what was seen of its geometries.
import type { Extent } from '../../../geometry/geometry-type.ts'
import { type ExportColumn, type ExportOrder, freeName, geometryIndexOf } from '../export-order.ts'

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** `name` is that of the column in the file. */
type Field = { readonly column: ExportColumn; readonly index: number; readonly name: string }

export type GeopackageLayer = {
  readonly table: string
  /** The name of the integer key that every table of features has: that of the rows, or a number that SQLite gives. */
  readonly key: string
  readonly hasOwnKey: boolean
  readonly fields: readonly Field[]
  readonly geometry: (ExportColumn & { readonly index: number }) | undefined
  readonly srid: number
}

/** Whether any geometry has an ordinate, and whether any lacks it. */
export type OrdinateSummary = { isGiven: boolean; isMissing: boolean }

/** What was seen of the geometries: their extent, heights and measures. */
export type GeometrySummary = {
  extent?: Extent | undefined
  readonly heights: OrdinateSummary
  readonly measures: OrdinateSummary
}

/** What GDAL calls the key that it makes, and uploads call theirs. */
const madeKey = 'fid'

export function layerOf({ name, columns, srid }: ExportOrder): GeopackageLayer {
  const index = geometryIndexOf(columns)
  const column = columns[index]
  // SQLite has its own tables by these prefixes, and GeoPackage the others.
  const table = /^(sqlite_|gpkg_|rtree_)/i.test(name) || name === '' ? `layer ${name}` : name
  const fields = fieldsOf(columns, index)
  // Readers take the key for the number of a feature, and not for an attribute: of others that would be a loss.
  const own = fields.find(({ column: one, name: label }) => label === madeKey && one.isKey && one.type === 'integer')
  return {
    table,
    key: own?.name ?? freeName(madeKey, [...fields.map(({ name: taken }) => taken), column?.name ?? '']),
    hasOwnKey: own !== undefined,
    fields,
    geometry: column && { ...column, index },
    srid,
  }
}

export const anyType = 'GEOMETRY'

/** SQLite tells no names apart by their case. */
function fieldsOf(columns: readonly ExportColumn[], geometryIndex: number): Field[] {
  const taken = geometryIndex < 0 ? [] : [columns[geometryIndex]?.name ?? '']
  return columns.flatMap((column, index) => {
    if (index === geometryIndex) return []
    const name = freeName(column.name, taken)
    taken.push(name)
    return [{ column, index, name }]
  })
}

/** The geometry type that the registers have. */
export const typeName = ({ geometryType = '' }: ExportColumn): string =>
  /^(Multi)?(Point|LineString|Polygon)$|^GeometryCollection$/i.test(geometryType) ? geometryType.toUpperCase() : anyType
