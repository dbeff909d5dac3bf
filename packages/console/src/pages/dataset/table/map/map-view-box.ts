/** The view of the map next to the table, for "in the map's view" conditions. */
import { createContext, type RefObject, use } from 'react'
import type { LngLatBox } from '../../../../map/fit/fit-control.ts'

export const MapViewContext = createContext<RefObject<LngLatBox | null>>({ current: null })

export const useMapView = (): RefObject<LngLatBox | null> => use(MapViewContext)

/** Normalizes MapLibre's bounds, which exceed 180 degrees; the server's boxes cross the antimeridian with west > east. */
export function boxOf(west: number, south: number, east: number, north: number): LngLatBox {
  const round = (degrees: number) => Math.round(degrees * 1e5) / 1e5
  const [low, high] = [Math.max(-90, south), Math.min(90, north)].map(round) as [number, number]
  if (east - west >= 360) return [-180, low, 180, high]
  return [round(wrapped(west)), low, round(wrapped(east)), high]
}

function wrapped(degrees: number): number {
  const turned = ((((degrees + 180) % 360) + 360) % 360) - 180
  return turned === -180 && degrees > 0 ? 180 : turned
}
