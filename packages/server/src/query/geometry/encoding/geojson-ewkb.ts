// GeoJSON → EWKB.

import { type GeometryType, isGeometryType } from '../geometry-type.ts'
import {
  beginGeometry,
  closeRing,
  type GeometryWriter,
  setCount,
  writeCount,
  writeEmptyPosition,
  writeHeader,
  writePosition,
} from './ewkb-writer.ts'

/** A geometry as GeoJSON has it, of whatever a file says: nothing about it is checked yet. */
export type LooseGeometry = {
  type: string
  coordinates?: unknown
  geometries?: unknown
  /** Arcs were replaced by straight lines. */
  isCurved?: boolean
  /** Measures were left out. */
  isMeasured?: boolean
}

const maxDepth = 32

/** Writes a geometry of nested arrays as EWKB. False when it is no geometry: a line of one point, a ring of two. */
export function writeGeometry(writer: GeometryWriter, geometry: LooseGeometry): boolean {
  beginGeometry(writer)
  if (geometry.isCurved === true) writer.curvedCount++
  if (geometry.isMeasured === true) writer.sawM = true
  return writeInner(writer, geometry, 0)
}

function writeInner(writer: GeometryWriter, { type, coordinates, geometries }: LooseGeometry, depth: number): boolean {
  if (!isGeometryType(type) || depth > maxDepth) return false
  writeHeader(writer, type)
  if (type === 'GeometryCollection') {
    return writeList(writer, geometries, (inner) => isGeoJson(inner) && writeInner(writer, inner, depth + 1))
  }
  return writeCoordinates(writer, type, coordinates)
}

export function isGeoJson(value: unknown): value is LooseGeometry {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function writeCoordinates(writer: GeometryWriter, type: GeometryType, coordinates: unknown): boolean {
  if (type === 'Point') return writePoint(writer, coordinates)
  if (type === 'LineString') return writeLine(writer, coordinates)
  if (type === 'Polygon') return writePolygon(writer, coordinates)
  const part = type === 'MultiPoint' ? 'Point' : type === 'MultiLineString' ? 'LineString' : 'Polygon'
  return writeList(writer, coordinates, (inner) => {
    writeHeader(writer, part)
    return writeCoordinates(writer, part, inner)
  })
}

function writeList(writer: GeometryWriter, list: unknown, write: (inner: unknown) => boolean): boolean {
  if (!Array.isArray(list)) return false
  writeCount(writer, list.length)
  return list.every(write)
}

function writePoint(writer: GeometryWriter, position: unknown): boolean {
  if (!Array.isArray(position) || position.length > 0) return writeOne(writer, position)
  writeEmptyPosition(writer)
  return true
}

function writeOne(writer: GeometryWriter, position: unknown): boolean {
  if (!Array.isArray(position)) return false
  const [x, y, z, m] = position
  if (!Number.isFinite(x) || !Number.isFinite(y)) return false
  if (z !== undefined) writer.sawZ = true
  if (m !== undefined) writer.sawM = true
  writePosition(writer, x, y, Number.isFinite(z) ? z : 0)
  return true
}

function writeLine(writer: GeometryWriter, positions: unknown): boolean {
  if (!Array.isArray(positions) || positions.length === 1) return false
  return writeList(writer, positions, (position) => writeOne(writer, position))
}

function writePolygon(writer: GeometryWriter, rings: unknown): boolean {
  if (!Array.isArray(rings)) return false
  const countAt = writeCount(writer, 0)
  let count = 0
  for (const ring of rings) {
    // A ring of nothing is none.
    if (Array.isArray(ring) && ring.length === 0) continue
    if (!writeRing(writer, ring)) return false
    count++
  }
  setCount(writer, countAt, count)
  return true
}

function writeRing(writer: GeometryWriter, ring: unknown): boolean {
  const countAt = writer.length
  if (!writeList(writer, ring, (position) => writeOne(writer, position))) return false
  const count = closeRing(writer, countAt + 4, (ring as unknown[]).length)
  setCount(writer, countAt, count)
  return count > 0
}
