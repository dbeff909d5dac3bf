/** Which maps are being measured on: clicks there are for the measure, and open no popups. Apart, because every map asks. */
import type { Map as MapLibreMap } from 'maplibre-gl'

const measured = new WeakSet<MapLibreMap>()

export const isMeasuring = (gl: MapLibreMap): boolean => measured.has(gl)

export function setMeasuring(gl: MapLibreMap, isOn: boolean): void {
  if (isOn) measured.add(gl)
  else measured.delete(gl)
}
