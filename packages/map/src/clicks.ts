/** The click handler of a map: hit-tests the feature and notifies every source, so that all act on the same feature. */
import type { GeoJSONSource, LngLat, MapGeoJSONFeature, Map as MapLibreMap, MapMouseEvent, Point } from 'maplibre-gl'

export interface ClickableSource {
  readonly id: string
  readonly layerIds: readonly string[]
  /** Whether clicks on its features do anything. */
  readonly isClickable: boolean
  clicked(feature: MapGeoJSONFeature, lngLat: LngLat): void
  clickedElsewhere(isEmptyArea: boolean): void
}

/** Tolerance in pixels, so that small points and thin lines can be clicked. */
const tolerance = 4

export function handleClicks(gl: MapLibreMap, sources: () => readonly ClickableSource[]): void {
  gl.on('click', ({ point, lngLat }: MapMouseEvent) => {
    const all = sources()
    const feature = featureAt(gl, point, all)
    for (const source of all) if (source.id !== feature?.source) source.clickedElsewhere(feature === undefined)
    if (feature) all.find(({ id }) => id === feature.source)?.clicked(feature, lngLat)
  })
  gl.on('mousemove', ({ point }: MapMouseEvent) => {
    const all = sources()
    if (!all.some(({ isClickable }) => isClickable)) return
    const feature = featureAt(gl, point, all)
    const isClickable = all.some(({ id, isClickable }) => isClickable && id === feature?.source)
    gl.getCanvas().style.cursor = isClickable ? 'pointer' : ''
  })
}

/** The topmost feature of a data source at a point, otherwise within the tolerance. */
function featureAt(
  gl: MapLibreMap,
  { x, y }: Point,
  sources: readonly ClickableSource[],
): MapGeoJSONFeature | undefined {
  const layers = sources.flatMap(({ layerIds }) => layerIds).filter((id) => gl.getLayer(id))
  if (layers.length === 0) return undefined
  const around: [[number, number], [number, number]] = [
    [x - tolerance, y - tolerance],
    [x + tolerance, y + tolerance],
  ]
  return gl.queryRenderedFeatures([x, y], { layers })[0] ?? gl.queryRenderedFeatures(around, { layers })[0]
}

/** Zooms in until a clicked cluster splits. */
export async function breakUp(gl: MapLibreMap, { source, properties, geometry }: MapGeoJSONFeature): Promise<void> {
  if (geometry.type !== 'Point' || typeof properties.cluster_id !== 'number') return
  const zoom = await gl.getSource<GeoJSONSource>(source)?.getClusterExpansionZoom(properties.cluster_id)
  if (zoom !== undefined) gl.easeTo({ center: geometry.coordinates as [number, number], zoom })
}
