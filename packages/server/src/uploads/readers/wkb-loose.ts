import type { GeometryType } from './reader.ts'
import { ewkbFlag, geometryCode } from './wkb.ts'
import type { LooseGeometry } from './wkb-geometry.ts'

const typeNames = Object.keys(geometryCode) as GeometryType[]

type Bytes = { view: DataView; at: number }

/** The geometry in WKB or EWKB of either byte order; undefined when it is none. */
export function parseWkb(bytes: Uint8Array): { geometry: LooseGeometry; srid?: number } | undefined {
  const state: Bytes = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0 }
  try {
    const { geometry, srid } = readGeometry(state, 0)
    if (state.at !== bytes.length) return undefined
    return srid === undefined || srid === 0 ? { geometry } : { geometry, srid }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function readGeometry(state: Bytes, depth: number): { geometry: LooseGeometry; srid?: number } {
  const isLittle = state.view.getUint8(state.at) === 1
  const code = state.view.getUint32(state.at + 1, isLittle)
  state.at += 5
  const srid = code & ewkbFlag.srid ? readCount(state, isLittle) : undefined
  const base = code & 0x0fffffff
  const type = typeNames[(base % 1000) - 1]
  if (type === undefined || base >= 4000 || depth > 32) throw new RangeError('No geometry')
  const hasZ = (code & ewkbFlag.z) !== 0 || (base >= 1000 && base < 2000) || base >= 3000
  const hasM = (code & ewkbFlag.m) !== 0 || base >= 2000
  const shape = { isLittle, hasZ, hasM }
  const geometry =
    type === 'GeometryCollection'
      ? { type, geometries: readList(state, isLittle, 9, () => readGeometry(state, depth + 1).geometry) }
      : { type, coordinates: readCoordinates(state, type, shape, depth) }
  return srid === undefined ? { geometry } : { geometry, srid }
}

type Shape = { isLittle: boolean; hasZ: boolean; hasM: boolean }

function readCount(state: Bytes, isLittle: boolean): number {
  state.at += 4
  return state.view.getUint32(state.at - 4, isLittle)
}

function readList<T>(state: Bytes, isLittle: boolean, leastBytes: number, read: () => T): T[] {
  const count = readCount(state, isLittle)
  if (count * leastBytes > state.view.byteLength - state.at) throw new RangeError('Too many')
  return Array.from({ length: count }, read)
}

function readCoordinates(state: Bytes, type: GeometryType, shape: Shape, depth: number): unknown {
  const { isLittle } = shape
  if (type === 'Point') {
    const position = readPosition(state, shape)
    return position.some(Number.isNaN) ? [] : position
  }
  const readLine = () => readList(state, isLittle, 16, () => readPosition(state, shape))
  if (type === 'LineString') return readLine()
  if (type === 'Polygon') return readList(state, isLittle, 4, readLine)
  return readList(state, isLittle, 9, () => readGeometry(state, depth + 1).geometry.coordinates)
}

function readPosition(state: Bytes, { isLittle, hasZ, hasM }: Shape): number[] {
  const position = [state.view.getFloat64(state.at, isLittle), state.view.getFloat64(state.at + 8, isLittle)]
  if (hasZ) position.push(state.view.getFloat64(state.at + 16, isLittle))
  state.at += 16 + (hasZ ? 8 : 0) + (hasM ? 8 : 0)
  return position
}
