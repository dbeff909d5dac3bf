/** The columns of a table and the cells of its first rows, without those that hold nothing. */
export type TextColumns = { names: readonly string[]; cells: readonly (readonly string[])[] }

/** What columns of geometries written out are called. */
export const geometryNames =
  /^(wkt|ewkt|wkb|ewkb|geom|geometry|geojson|the_geom|wkb_geometry|shape|_?wkt_?geom(etry)?|geom_?wkt)$/i

/** The share of the cells of a column of which it is true. */
export function shareOf(cells: readonly string[], isTrue: (cell: string) => boolean): number {
  return cells.filter(isTrue).length / (cells.length || 1)
}
