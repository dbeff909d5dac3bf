import type { LooseGeometry } from '../../../../query/geometry/encoding/geojson-ewkb.ts'

/** A geometry of KML whose element is open: what its parts are so far. */
export type OpenGeometry = { element: string; parts: LooseGeometry[]; positions: number[][] }

const elements = new Set([
  'Point',
  'LineString',
  'LinearRing',
  'Polygon',
  'MultiGeometry',
  'Track',
  'MultiTrack',
  'Model',
])

export function isGeometryElement(name: string): boolean {
  return elements.has(name)
}

/** The positions of a `coordinates` element: x,y or x,y,z with blanks between. Answers undefined for what is none. */
export function positionsOf(text: string): number[][] | undefined {
  const tuples = text.replace(/\s*,\s*/g, ',').trim()
  if (tuples === '') return []
  const positions = tuples.split(/\s+/).map((tuple) => tuple.split(',').map(ordinateOf))
  const isSound = positions.every((position) => position.length >= 2 && position.every(Number.isFinite))
  // Programs write a height of 0 where there is none.
  return isSound ? positions.map((position) => position.slice(0, position[2] ? 3 : 2)) : undefined
}

function ordinateOf(text: string): number {
  return text === '' ? Number.NaN : Number(text)
}

/** The geometry of an element that is closed. */
export function closedGeometry({ element, parts, positions }: OpenGeometry): LooseGeometry {
  if (element === 'Point') return { type: 'Point', coordinates: positions[0] ?? [] }
  if (element === 'LineString' || element === 'LinearRing' || element === 'Track')
    return { type: 'LineString', coordinates: positions }
  if (element === 'Polygon') return { type: 'Polygon', coordinates: parts.map(({ coordinates }) => coordinates) }
  return element === 'Model' ? { type: 'Model' } : gathered(parts)
}

/** Parts of one type are a multi geometry, others a collection. */
function gathered(parts: readonly LooseGeometry[]): LooseGeometry {
  const [first] = parts
  const isSimple = first !== undefined && ['Point', 'LineString', 'Polygon'].includes(first.type)
  if (isSimple && parts.every(({ type }) => type === first.type)) {
    return { type: `Multi${first.type}`, coordinates: parts.map(({ coordinates }) => coordinates) }
  }
  return { type: 'GeometryCollection', geometries: parts }
}
