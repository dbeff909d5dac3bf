import type { SQLOutputValue } from 'node:sqlite'
import { upperG, upperP } from '../../../../query/geometry/encoding/character-codes.ts'
import type { FlatGeometry } from '../../../../query/geometry/flat/flat-geometry.ts'
import { readFlatGeometry } from '../../../../query/geometry/flat/flat-geometry-read.ts'
import { asReadFault, ReadFault } from '../reader.ts'

/** The size of the envelope by its code; the other codes are not valid. */
const envelopeBytes = [0, 32, 48, 48, 64]

/** Reads the WKB behind the header of GeoPackage into the geometry; false where there is none. */
export function readPackedGeometry(
  value: SQLOutputValue | undefined,
  geometry: FlatGeometry,
  feature: number,
): boolean {
  if (value === null || value === undefined) return false
  if (!(value instanceof Uint8Array)) throw damaged('it is not binary', feature)
  if (value.length === 0) return false
  try {
    readFlatGeometry(value, headerSize(value, feature), geometry)
  } catch (error) {
    throw asReadFault(error, { feature })
  }
  return true
}

function headerSize(bytes: Uint8Array, feature: number): number {
  if (bytes[0] !== upperG || bytes[1] !== upperP) throw damaged('it has no GeoPackage header', feature)
  const flags = bytes[3] ?? 0
  if (flags & 0x20) throw damaged('it uses an unknown extension of GeoPackage', feature)
  const envelope = envelopeBytes[(flags >> 1) & 7]
  if (envelope === undefined) throw damaged('the type of its envelope is unknown', feature)
  return 8 + envelope
}

function damaged(why: string, feature: number): ReadFault {
  return new ReadFault('invalid_file', `A geometry is damaged: ${why}.`, { feature })
}
