// The WKT and EWKT parser.
import { straighten } from '../flat/arc.ts'
import type { LooseGeometry } from './geojson-ewkb.ts'

const types = {
  POINT: ['Point', 0],
  LINESTRING: ['LineString', 1],
  POLYGON: ['Polygon', 2],
  MULTIPOINT: ['MultiPoint', 1],
  MULTILINESTRING: ['MultiLineString', 2],
  MULTIPOLYGON: ['MultiPolygon', 3],
  GEOMETRYCOLLECTION: ['GeometryCollection', 0],
  TRIANGLE: ['Polygon', 2],
  TIN: ['MultiPolygon', 3],
  POLYHEDRALSURFACE: ['MultiPolygon', 3],
} as const

/** Types with arcs, and what they become. A member is a list without a name, or one of the others. */
const curves = {
  CIRCULARSTRING: { type: 'LineString', members: undefined, nesting: 1 },
  COMPOUNDCURVE: { type: 'LineString', members: 'LineString', nesting: 1 },
  CURVEPOLYGON: { type: 'Polygon', members: 'LineString', nesting: 1 },
  MULTICURVE: { type: 'MultiLineString', members: 'LineString', nesting: 1 },
  MULTISURFACE: { type: 'MultiPolygon', members: 'Polygon', nesting: 2 },
} as const

const head = new RegExp(
  String.raw`\s*(${[...Object.keys(types), ...Object.keys(curves)].join('|')})\s*(ZM|Z|M)?\s*(\(|EMPTY\b)`,
  'iy',
)
const sridHead = /^\s*SRID=(\d{1,6});/i

/** Thrown for text that is no WKT; never seen outside. */
const noWkt = new Error('No WKT')

type Text = { text: string; at: number; hasM: boolean; hasCurves: boolean; isMeasured: boolean }

/** Whether a text starts like WKT. */
export function looksLikeWkt(text: string): boolean {
  head.lastIndex = sridHead.exec(text)?.[0].length ?? 0
  return head.test(text)
}

/** The geometry of a WKT or EWKT text; undefined when it is none. Arcs become straight lines. */
export function parseWkt(text: string): { geometry: LooseGeometry; srid?: number } | undefined {
  const srid = sridHead.exec(text)
  const state: Text = { text, at: srid?.[0].length ?? 0, hasM: false, hasCurves: false, isMeasured: false }
  try {
    const geometry = readGeometry(state, 0)
    if (state.text.slice(state.at).trim() !== '') return undefined
    if (state.hasCurves) geometry.isCurved = true
    if (state.isMeasured) geometry.isMeasured = true
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
  const name = (match[1] ?? '').toUpperCase()
  const isEmpty = match[3] !== '('
  if (name in curves) return readCurve(state, curves[name as keyof typeof curves], isEmpty, depth)
  const [type, nesting] = types[name as keyof typeof types]
  if (type === 'GeometryCollection') {
    return { type, geometries: isEmpty ? [] : readList(state, () => readGeometry(state, depth + 1)) }
  }
  if (isEmpty) return { type, coordinates: [] }
  return { type, coordinates: type === 'Point' ? readPositions(state)[0] : readNested(state, nesting) }
}

type Curve = (typeof curves)[keyof typeof curves]

function readCurve(state: Text, { type, members, nesting }: Curve, isEmpty: boolean, depth: number): LooseGeometry {
  if (isEmpty) return { type, coordinates: [] }
  if (members === undefined) return { type, coordinates: readArcs(state) }
  const { hasM } = state
  const parts = readList(state, () => {
    state.hasM = hasM
    return readMember(state, members, nesting, depth)
  })
  return { type, coordinates: type === 'LineString' ? joined(parts) : parts }
}

/** Arcs have two positions each beside the first. */
function readArcs(state: Text): number[][] {
  const positions = readPositions(state)
  if (positions.length < 3 || positions.length % 2 === 0 || positions.some(({ length }) => length === 0)) throw noWkt
  state.hasCurves = true
  return straighten(positions)
}

/** The coordinates of a part of a curve. */
function readMember(state: Text, wanted: string, nesting: number, depth: number): unknown[] {
  const next = nextCharacter(state)
  if (next === '(' || /^EMPTY\b/i.test(state.text.slice(state.at, state.at + 6))) {
    return readBracketed(state, () => readNested(state, nesting))
  }
  const { type, coordinates } = readGeometry(state, depth + 1)
  if (type !== wanted) throw noWkt
  return coordinates as unknown[]
}

/** Parts of a line begin where the one before ends. */
function joined(parts: readonly unknown[][]): unknown[] {
  return parts.flatMap((part, index) => (index === 0 || parts[index - 1]?.length === 0 ? part : part.slice(1)))
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
  while (/\s/.test(state.text[state.at] ?? '')) state.at++
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
  return list.split(',').map((text) => positionOf(text.trim(), state))
}

function positionOf(text: string, state: Text): number[] {
  const blank = text.indexOf(' ')
  const [x, y] = [Number(text.slice(0, blank)), Number(text.slice(blank + 1))]
  // The commonest without the detour; three numbers are none.
  if (blank > 0 && Number.isFinite(x) && Number.isFinite(y)) return [x, y]
  if (/^EMPTY$/i.test(text)) return []
  const numbers = text.split(/\s+/).map(Number)
  if (numbers.length < 2 || numbers.length > 4 || !numbers.every(Number.isFinite) || text === '') throw noWkt
  const kept = state.hasM ? 2 : 3
  state.isMeasured ||= numbers.length > kept
  return numbers.slice(0, kept)
}
