// Cells of geometries, hexadecimal WKB, as flat arrays and as GeoJSON.

import { parseWkb } from '../../geometry/encoding/wkb-geojson.ts'
import { createFlatGeometry, type FlatGeometry } from '../../geometry/flat/flat-geometry.ts'
import { readFlatGeometry } from '../../geometry/flat/flat-geometry-read.ts'
import type { Cell } from '../cell.ts'

/** A function that reads cells into one geometry, which it uses again for the next. */
export function geometryReader(): (cell: Cell | undefined) => FlatGeometry | undefined {
  const geometry = createFlatGeometry()
  return (cell) => {
    if (cell === null || cell === undefined) return undefined
    readFlatGeometry(Buffer.from(cell, 'hex'), 0, geometry)
    return geometry
  }
}

/** The GeoJSON of a second geometry, which most formats can only have as an attribute. */
export const geojsonOf = (cell: string): string => JSON.stringify(parseWkb(Buffer.from(cell, 'hex'))?.geometry ?? null)
