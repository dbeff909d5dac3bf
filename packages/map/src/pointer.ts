/** The pointer over a map: hit-tests features and notifies every data source, so that all act on the same feature. */
import type { LngLat, MapGeoJSONFeature, Map as MapLibreMap, MapMouseEvent, Point } from 'maplibre-gl'

export interface PointedSource {
  readonly id: string
  readonly layerIds: readonly string[]
  readonly pointer: {
    readonly isClickable: boolean
    readonly isHovered: boolean
    click(feature: MapGeoJSONFeature, at: PointerLocation): void
    clickElsewhere(isEmptyArea: boolean): void
    /** Undefined: the pointer is on none of its features now. */
    move(feature: MapGeoJSONFeature | undefined, at: PointerLocation): void
  }
}

export interface PointerLocation {
  readonly lngLat: LngLat
  /** In pixels of the map's container. */
  readonly point: Point
}

/** Tolerance in pixels, so that small points and thin lines can be hit. */
const tolerance = 4

export function handlePointer(gl: MapLibreMap, sources: () => readonly PointedSource[]): void {
  gl.on('click', ({ point, lngLat }: MapMouseEvent) => {
    const all = sources()
    const feature = featureAt(gl, point, all)
    for (const source of all) if (source.id !== feature?.source) source.pointer.clickElsewhere(feature === undefined)
    if (feature) all.find(({ id }) => id === feature.source)?.pointer.click(feature, { lngLat, point })
  })
  const move = ({ point, lngLat }: PointerLocation, isOutside: boolean): void => {
    const all = sources()
    if (!all.some(({ pointer }) => pointer.isClickable || pointer.isHovered)) return
    const feature = isOutside ? undefined : featureAt(gl, point, all)
    const isClickable = all.some(({ id, pointer }) => pointer.isClickable && id === feature?.source)
    gl.getCanvas().style.cursor = isClickable ? 'pointer' : ''
    for (const { id, pointer } of all) pointer.move(id === feature?.source ? feature : undefined, { point, lngLat })
  }
  gl.on('mousemove', (event: MapMouseEvent) => move(event, false))
  gl.on('mouseout', (event: MapMouseEvent) => move(event, true))
}

/** The topmost feature of a data source at a point, otherwise within the tolerance. */
function featureAt(gl: MapLibreMap, { x, y }: Point, sources: readonly PointedSource[]): MapGeoJSONFeature | undefined {
  const layers = sources.flatMap(({ layerIds }) => layerIds).filter((id) => gl.getLayer(id))
  if (layers.length === 0) return undefined
  const around: [[number, number], [number, number]] = [
    [x - tolerance, y - tolerance],
    [x + tolerance, y + tolerance],
  ]
  return gl.queryRenderedFeatures([x, y], { layers })[0] ?? gl.queryRenderedFeatures(around, { layers })[0]
}
