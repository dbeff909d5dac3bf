type Position = number[]
type Shape = { type?: unknown; coordinates?: unknown; geometries?: unknown }

const maxPositions = 100
/** Limit of positions, because simplification takes quadratic time at worst. */
const maxConsidered = 500
const isPosition = (value: unknown): value is Position => Array.isArray(value) && typeof value[0] === 'number'
const countOf = (geometry: unknown): number => linesOf(geometry).reduce((sum, line) => sum + line.length, 0)

/** Simplifies a geometry to about a hundred positions (Douglas-Peucker). */
export function simplify(geometry: unknown): unknown {
  const count = countOf(geometry)
  if (count <= maxPositions) return geometry
  const step = Math.ceil(count / maxConsidered)
  let tolerance = widthOf(linesOf(geometry)) / 1_000
  let thinned = thin(geometry, { tolerance, step })
  for (let rounds = 0; rounds < 12 && countOf(thinned) > maxPositions; rounds++) {
    tolerance *= 2
    thinned = thin(geometry, { tolerance, step })
  }
  return thinned
}

/** Rings, lines and lists of points alike: whatever holds positions. */
function linesOf(value: unknown): Position[][] {
  if (Array.isArray(value)) return isPosition(value[0]) ? [value as Position[]] : value.flatMap(linesOf)
  const { coordinates, geometries } = (value ?? {}) as Shape
  return coordinates === undefined && geometries === undefined ? [] : linesOf(coordinates ?? geometries)
}

function widthOf(lines: readonly Position[][]): number {
  const axis = (at: number) => {
    let [least, most] = [Infinity, -Infinity]
    for (const line of lines)
      for (const position of line) {
        least = Math.min(least, position[at] ?? 0)
        most = Math.max(most, position[at] ?? 0)
      }
    return most - least
  }
  return Math.max(axis(0), axis(1))
}

type Detail = { readonly tolerance: number; readonly step: number }

function thin(value: unknown, detail: Detail): unknown {
  const { type, coordinates, geometries } = value as Shape
  const isVisible = (lines: Position[][]) => widthOf(lines) > detail.tolerance
  if (Array.isArray(geometries)) return { type, geometries: geometries.map((part) => thin(part, detail)) }
  if (type === 'MultiPoint') return { type, coordinates: everySo(coordinates as Position[], detail.step * 5) }
  if (type === 'LineString') return { type, coordinates: thinLine(coordinates as Position[], detail) }
  if (type === 'MultiLineString') {
    const lines = (coordinates as Position[][]).map((line) => thinLine(line, detail))
    return { type, coordinates: visible(lines, (line) => isVisible([line])) }
  }
  if (type === 'Polygon') return { type, coordinates: thinPolygon(coordinates as Position[][], detail) }
  if (type !== 'MultiPolygon') return value
  const parts = (coordinates as Position[][][]).map((rings) => thinPolygon(rings, detail))
  return { type, coordinates: visible(parts, isVisible) }
}

/** A sample of many positions, the last among them. */
const everySo = (line: readonly Position[], step: number): Position[] =>
  line.filter((_, index) => index % step === 0 || index === line.length - 1)

/** Keeps the outer ring, and holes that are large enough. */
function thinPolygon([outer = [], ...holes]: readonly Position[][], detail: Detail): Position[][] {
  const shown = holes.map((hole) => thinRing(hole, detail)).filter((hole) => widthOf([hole]) > detail.tolerance)
  return [thinRing(outer, detail), ...shown]
}

/** The parts that are large enough; the first if none is. */
function visible<T>(parts: T[], isVisible: (part: T) => boolean): T[] {
  const shown = parts.filter(isVisible)
  return shown.length > 0 ? shown : parts.slice(0, 1)
}

/** A ring has no fixed ends, so it is simplified in two halves. */
function thinRing(ring: readonly Position[], detail: Detail): Position[] {
  if (ring.length <= 5) return [...ring]
  const middle = Math.floor(ring.length / 2)
  const halves = [thinLine(ring.slice(0, middle + 1), detail), thinLine(ring.slice(middle), detail)] as const
  const thinned = [...halves[0], ...halves[1].slice(1)]
  if (thinned.length >= 4) return thinned
  const quarter = Math.floor(ring.length / 4)
  return [ring[0], ring[quarter], ring[middle], ring[0]].map((position) => position ?? [])
}

/** Douglas and Peucker, without recursion. */
function thinLine(whole: readonly Position[], { tolerance, step }: Detail): Position[] {
  const line = everySo(whole, step)
  const kept = new Set([0, line.length - 1])
  const pending: [number, number][] = [[0, line.length - 1]]
  for (let span = pending.pop(); span; span = pending.pop()) {
    const [from, to] = span
    let [farthest, distance] = [-1, tolerance]
    for (let at = from + 1; at < to; at++) {
      const away = distanceTo(line[at] ?? [], line[from] ?? [], line[to] ?? [])
      if (away > distance) [farthest, distance] = [at, away]
    }
    if (farthest === -1) continue
    kept.add(farthest)
    pending.push([from, farthest], [farthest, to])
  }
  return line.filter((_, index) => kept.has(index))
}

/** From a position to the line between two others. */
function distanceTo([x = 0, y = 0]: Position, [x1 = 0, y1 = 0]: Position, [x2 = 0, y2 = 0]: Position): number {
  const [dx, dy] = [x2 - x1, y2 - y1]
  const length = dx * dx + dy * dy
  const along = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / length))
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy)
}
