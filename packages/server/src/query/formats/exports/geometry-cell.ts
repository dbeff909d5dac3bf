// Cells of geometries, hexadecimal WKB, as flat arrays and as GeoJSON.

import { ewkbFlag } from '../../geometry/encoding/ewkb-writer.ts'
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

/** Whether the geometry has heights, by its first bytes: byte order, which is little-endian, and type. */
export function hasHeight(cell: Cell | undefined): boolean {
  if (cell === null || cell === undefined) return false
  const code = Buffer.from(cell.slice(2, 10), 'hex').readUInt32LE()
  const iso = Math.trunc((code & 0xffff) / 1000)
  return (code & ewkbFlag.z) !== 0 || iso === 1 || iso === 3
}
