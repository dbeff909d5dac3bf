import type { SQLOutputValue } from 'node:sqlite'
import type { FlatGeometry } from './flat-geometry.ts'
import { tooLarge } from './geopackage-values.ts'
import { ReadFault } from './reader.ts'
import { readWkb } from './wkb-read.ts'

/** The size of the envelope by its code; the other codes are not valid. */
const envelopeBytes = [0, 32, 48, 48, 64]

/** Reads the WKB behind the header of GeoPackage into the geometry; false where there is none. */
export function readPackedGeometry(
  value: SQLOutputValue | undefined,
  geometry: FlatGeometry,
  feature: number,
): boolean {
  if (value === null || value === undefined) return false
  if (value === tooLarge) throw new ReadFault('feature_too_large', 'A geometry is too large.', { feature })
  if (!(value instanceof Uint8Array)) throw damaged('it is not binary', feature)
  if (value.length === 0) return false
  try {
    readWkb(value, headerSize(value, feature), geometry)
  } catch (error) {
    throw error instanceof ReadFault ? new ReadFault(error.code, error.message, { feature }) : error
  }
  return true
}

function headerSize(bytes: Uint8Array, feature: number): number {
  if (bytes[0] !== 0x47 || bytes[1] !== 0x50) throw damaged('it has no GeoPackage header', feature)
  const flags = bytes[3] ?? 0
  if (flags & 0x20) throw damaged('it uses an unknown extension of GeoPackage', feature)
  const envelope = envelopeBytes[(flags >> 1) & 7]
  if (envelope === undefined) throw damaged('the type of its envelope is unknown', feature)
  return 8 + envelope
}

function damaged(why: string, feature: number): ReadFault {
  return new ReadFault('invalid_file', `A geometry is damaged: ${why}.`, { feature })
}
