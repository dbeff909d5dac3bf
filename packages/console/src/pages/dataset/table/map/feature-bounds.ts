/** The bounding box of features. */
import type { FeatureCollection } from '@graticule/client'

/** [west, south, east, north]; null if there are no positions. */
export function boundsOf({ features }: FeatureCollection): [number, number, number, number] | null {
  const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity]
  const take = (value: unknown): void => {
    if (!Array.isArray(value)) return
    const [x, y] = value
    if (typeof x !== 'number' || typeof y !== 'number') {
      for (const item of value) take(item)
      return
    }
    box[0] = Math.min(box[0], x)
    box[1] = Math.min(box[1], y)
    box[2] = Math.max(box[2], x)
    box[3] = Math.max(box[3], y)
  }
  for (const { geometry } of features) takeGeometry(geometry, take)
  return Number.isFinite(box[0]) ? box : null
}

type Shape = { coordinates?: unknown; geometries?: Shape[] } | null

function takeGeometry(geometry: unknown, take: (value: unknown) => void): void {
  const { coordinates, geometries = [] } = (geometry as Shape) ?? {}
  take(coordinates)
  for (const part of geometries) takeGeometry(part, take)
}
