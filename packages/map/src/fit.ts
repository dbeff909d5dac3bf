/** How close a map goes to an extent. */
import type { FitBoundsOptions, LngLatBoundsLike, Map as MapLibreMap } from 'maplibre-gl'
import { LngLatBounds } from 'maplibre-gl'

/** What is smaller is shown as a point: it says nothing of where it lies unless the base map does. */
const tinyMetres = 1_000
const metresPerDegree = 111_320
/** Beyond its last zoom a base map is drawn larger; so much larger it still says something. */
const zoomsBeyond = 3
const closestOfAll = 16
/** For extents that fill the map themselves. */
const closestOfExtents = 14
/** The bundled world ends at zoom 6. */
const closestOfWorld = 9
/** The layer of tiles that are made from datasets. */
const layerOfDatasets = 'geometry'

type BaseSource = { type: string; maxzoom?: number; vectorLayerIds?: readonly string[] }

/**
 * The options of MapLibre's `fitBounds`: a point or a tiny extent is approached as far as the base map has something to show, anything
 * else until it fills the map. `isOwned` tells data sources from those of the style.
 */
export function fitOptions(
  gl: MapLibreMap,
  bounds: LngLatBoundsLike,
  isOwned: (sourceId: string) => boolean,
): FitBoundsOptions {
  const closest = closestOfBase(gl, isOwned)
  return { padding: 40, maxZoom: isTiny(bounds) ? closest : Math.max(closest, closestOfExtents) }
}

/** The same before the style is there: any base map shows as much. */
export const firstFitOptions = (bounds: LngLatBoundsLike): FitBoundsOptions => ({
  padding: 40,
  maxZoom: isTiny(bounds) ? closestOfWorld : closestOfExtents,
})

/** Goes closer to a point once it is known that there are streets, unless the map was moved meanwhile. */
export function approachLater(gl: MapLibreMap, bounds: LngLatBoundsLike, fit: () => void): void {
  if (!isTiny(bounds)) return
  let isMoved = false
  gl.once('movestart', () => {
    isMoved = true
  })
  gl.once('load', () => {
    if (!isMoved) fit()
  })
}

function isTiny(bounds: LngLatBoundsLike): boolean {
  const box = LngLatBounds.convert(bounds)
  const height = (box.getNorth() - box.getSouth()) * metresPerDegree
  const width = (box.getEast() - box.getWest()) * metresPerDegree * Math.cos((box.getCenter().lat * Math.PI) / 180)
  return Math.max(width, height) < tinyMetres
}

/** Of the style's sources of tiles those that are not made from datasets; without any the data are all there is. */
function closestOfBase(gl: MapLibreMap, isOwned: (sourceId: string) => boolean): number {
  const zooms = Object.keys(gl.getStyle()?.sources ?? {}).flatMap((id) => {
    const source = isOwned(id) ? undefined : (gl.getSource(id) as BaseSource | undefined)
    return source ? zoomOf(source) : []
  })
  return zooms.length === 0 ? closestOfExtents : Math.min(Math.max(...zooms) + zoomsBeyond, closestOfAll)
}

/** A source that is still loading is taken for one of little detail. */
function zoomOf({ type, maxzoom, vectorLayerIds }: BaseSource): number[] {
  if (type === 'vector' && vectorLayerIds === undefined) return [closestOfWorld - zoomsBeyond]
  const isBase = type === 'raster' || vectorLayerIds?.some((id) => id !== layerOfDatasets)
  return isBase ? [maxzoom ?? 0] : []
}
