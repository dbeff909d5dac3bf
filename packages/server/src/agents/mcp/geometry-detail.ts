import { simplify } from './simplify.ts'

/** How much of a geometry a model gets. */
export type GeometryDetail = 'none' | 'centroid' | 'bbox' | 'simplified' | 'full'

type Box = [west: number, south: number, east: number, north: number]

/** A GeoJSON geometry in the requested detail, with six decimals, a tenth of a metre. */
export function geometryInDetail(geometry: unknown, detail: GeometryDetail): unknown {
  if (geometry === null || geometry === undefined) return null
  if (detail === 'full') return rounded(geometry)
  if (detail === 'simplified') return rounded(simplify(geometry))
  const box = boxOf(geometry)
  if (!box) return null
  const [west, south, east, north] = box
  return rounded(detail === 'bbox' ? box : [(west + east) / 2, (south + north) / 2])
}

function boxOf(geometry: unknown): Box | undefined {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity]
  const pending: unknown[] = [geometry]
  while (pending.length > 0) {
    const value = pending.pop()
    if (Array.isArray(value) && typeof value[0] === 'number') widen(box, value[0], Number(value[1]))
    else if (Array.isArray(value)) pending.push(...value.slice(0, 100_000))
    else if (isGeometry(value)) pending.push(value.coordinates ?? value.geometries)
  }
  return Number.isFinite(box[0]) ? box : undefined
}

function widen(box: Box, x: number, y: number): void {
  box[0] = Math.min(box[0], x)
  box[1] = Math.min(box[1], y)
  box[2] = Math.max(box[2], x)
  box[3] = Math.max(box[3], y)
}

const isGeometry = (value: unknown): value is { coordinates?: unknown; geometries?: unknown } =>
  typeof value === 'object' && value !== null

function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, part) => (typeof part === 'number' ? Number(part.toFixed(6)) : part))
}
