// The table of a GeoPackage that is being made, and what was seen of its geometries.
import type { Extent } from '../../../geometry/geometry-type.ts'
import { type ExportColumn, type ExportOrder, freeName, geometryIndexOf } from '../export-order.ts'

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

type Field = { readonly column: ExportColumn; readonly index: number }

export type GeopackageLayer = {
  readonly table: string
  /** The name of the integer key that every table of features has. */
  readonly key: string
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

export function layerOf({ name, columns, srid }: ExportOrder): GeopackageLayer {
  const index = geometryIndexOf(columns)
  const column = columns[index]
  // SQLite has its own tables by these prefixes, and GeoPackage the others.
  const table = /^(sqlite_|gpkg_|rtree_)/i.test(name) || name === '' ? `layer ${name}` : name
  return {
    table,
    key: freeName(
      'fid',
      columns.map((one) => one.name),
    ),
    fields: columns.flatMap((one, at) => (at === index ? [] : [{ column: one, index: at }])),
    geometry: column && { ...column, index },
    srid,
  }
}

export const anyType = 'GEOMETRY'

/** The geometry type that the registers have. */
export const typeName = ({ geometryType = '' }: ExportColumn): string =>
  /^(Multi)?(Point|LineString|Polygon)$|^GeometryCollection$/i.test(geometryType) ? geometryType.toUpperCase() : anyType
