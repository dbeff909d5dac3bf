/** The box around features. */
import type { GeoJsonCollection } from './geojson.ts'

export type Bounds = [west: number, south: number, east: number, north: number]

type Shape = GeoJsonCollection['features'][number]['geometry'] | null

/** Undefined where no feature has a place. */
export function boxOf({ features }: GeoJsonCollection): Bounds | undefined {
  const box: Bounds = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]
  for (const { geometry } of features) addShape(box, geometry)
  return Number.isFinite(box[0]) ? box : undefined
}

function addShape(box: Bounds, geometry: Shape): void {
  if (!geometry) return
  if ('geometries' in geometry) for (const part of geometry.geometries) addShape(box, part)
  else addPositions(box, geometry.coordinates)
}

function addPositions(box: Bounds, coordinates: unknown): void {
  if (!Array.isArray(coordinates)) return
  const [longitude, latitude] = coordinates
  if (typeof longitude !== 'number' || typeof latitude !== 'number') {
    for (const part of coordinates) addPositions(box, part)
    return
  }
  box[0] = Math.min(box[0], longitude)
  box[1] = Math.min(box[1], latitude)
  box[2] = Math.max(box[2], longitude)
  box[3] = Math.max(box[3], latitude)
}
