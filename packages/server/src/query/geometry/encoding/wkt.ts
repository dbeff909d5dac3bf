// The WKT and EWKT parser.
import type { LooseGeometry } from './geojson-ewkb.ts'

const types = {
  POINT: ['Point', 0],
  LINESTRING: ['LineString', 1],
  POLYGON: ['Polygon', 2],
  MULTIPOINT: ['MultiPoint', 1],
  MULTILINESTRING: ['MultiLineString', 2],
  MULTIPOLYGON: ['MultiPolygon', 3],
  GEOMETRYCOLLECTION: ['GeometryCollection', 0],
} as const

const head =
  /\s*(POINT|LINESTRING|POLYGON|MULTIPOINT|MULTILINESTRING|MULTIPOLYGON|GEOMETRYCOLLECTION)\s*(ZM|Z|M)?\s*(\(|EMPTY\b)/iy
const sridHead = /^\s*SRID=(\d{1,6});/i

/** Thrown for text that is no WKT; never seen outside. */
const noWkt = new Error('No WKT')

type Text = { text: string; at: number; hasM: boolean }

/** Whether a text starts like WKT. */
export function looksLikeWkt(text: string): boolean {
  head.lastIndex = sridHead.exec(text)?.[0].length ?? 0
  return head.test(text)
}

/** The geometry of a WKT or EWKT text; undefined when it is none, or a curve. */
export function parseWkt(text: string): { geometry: LooseGeometry; srid?: number } | undefined {
  const srid = sridHead.exec(text)
  const state: Text = { text, at: srid?.[0].length ?? 0, hasM: false }
  try {
    const geometry = readGeometry(state, 0)
    if (state.text.slice(state.at).trim() !== '') return undefined
    return srid ? { geometry, srid: Number(srid[1]) } : { geometry }
  } catch (error) {
    if (error === noWkt) return undefined
    throw error
  }
}

function readGeometry(state: Text, depth: number): LooseGeometry {
  head.lastIndex = state.at
  const match = head.exec(state.text)
  if (!match || depth > 32) throw noWkt
  state.at = head.lastIndex
  state.hasM = match[2]?.toUpperCase() === 'M'
  const [type, nesting] = types[(match[1] ?? '').toUpperCase() as keyof typeof types]
  const isEmpty = match[3] !== '('
  if (type === 'GeometryCollection') {
    return { type, geometries: isEmpty ? [] : readList(state, () => readGeometry(state, depth + 1)) }
  }
  if (isEmpty) return { type, coordinates: [] }
  return { type, coordinates: type === 'Point' ? readPositions(state)[0] : readNested(state, nesting) }
}

/** A list behind its opening bracket. */
function readList<T>(state: Text, read: () => T): T[] {
  const items: T[] = []
  for (;;) {
    items.push(read())
    const separator = nextCharacter(state)
    state.at++
    if (separator === ')') return items
    if (separator !== ',') throw noWkt
  }
}

function nextCharacter(state: Text): string | undefined {
  while (state.text[state.at] === ' ' || state.text[state.at] === '\n') state.at++
  return state.text[state.at]
}

function readNested(state: Text, nesting: number): unknown[] {
  // The points of a multipoint may have brackets of their own.
  if (nesting === 1 && nextCharacter(state) !== '(') return readPositions(state)
  if (nesting === 1) return readList(state, () => readBracketed(state, () => readPositions(state)[0]))
  return readList(state, () => readBracketed(state, () => readNested(state, nesting - 1)))
}

const empty = /\s*EMPTY\b/iy

function readBracketed<T>(state: Text, read: () => T): T | [] {
  empty.lastIndex = state.at
  if (empty.test(state.text)) {
    state.at = empty.lastIndex
    return []
  }
  if (nextCharacter(state) !== '(') throw noWkt
  state.at++
  return read()
}

/** The positions up to the closing bracket, which is stepped over. */
function readPositions(state: Text): (number[] | [])[] {
  const end = state.text.indexOf(')', state.at)
  if (end < 0) throw noWkt
  const list = state.text.slice(state.at, end)
  state.at = end + 1
  return list.split(',').map((text) => positionOf(text.trim(), state.hasM))
}

function positionOf(text: string, hasM: boolean): number[] {
  const blank = text.indexOf(' ')
  const [x, y] = [Number(text.slice(0, blank)), Number(text.slice(blank + 1))]
  // The commonest without the detour; three numbers are none.
  if (blank > 0 && Number.isFinite(x) && Number.isFinite(y)) return [x, y]
  if (/^EMPTY$/i.test(text)) return []
  const numbers = text.split(/\s+/).map(Number)
  if (numbers.length < 2 || numbers.length > 4 || !numbers.every(Number.isFinite) || text === '') throw noWkt
  return numbers.slice(0, hasM ? 2 : 3)
}
