import type { Warning } from '../reader.ts'
import type { GeometryColumns } from './geometry-cell.ts'

/** The columns of a table and the cells of its first rows, without those that hold nothing. */
export type TextColumns = { names: readonly string[]; cells: readonly (readonly string[])[] }

/** What columns of geometries written out are called. */
export const geometryNames =
  /^(wkt|ewkt|wkb|ewkb|geom|geometry|geojson|the_geom|wkb_geometry|shape|_?wkt_?geom(etry)?|geom_?wkt)$/i

/** The share of the cells of a column of which it is true. */
export function shareOf(cells: readonly string[], isTrue: (cell: string) => boolean): number {
  return cells.filter(isTrue).length / (cells.length || 1)
}

/** Where the geometry of a table was found, and what is to be said of it. */
export type ChosenGeometry = {
  readonly geometryColumns: GeometryColumns
  readonly warnings: readonly Warning[]
  /** The reference system that names and values tell. */
  readonly srid?: number
  /** Which one it may be, where they do not. */
  readonly sridHint?: string
}
