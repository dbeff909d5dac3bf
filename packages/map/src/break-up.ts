import type { GeoJSONSource, MapGeoJSONFeature, Map as MapLibreMap } from 'maplibre-gl'

/** Zooms in until a clicked cluster splits. */
export async function breakUp(gl: MapLibreMap, { source, properties, geometry }: MapGeoJSONFeature): Promise<void> {
  if (geometry.type !== 'Point' || !properties.point_count) return
  const isOfPage = typeof properties.cluster_id === 'number'
  // Tiles do not say where a cluster of theirs parts: the cells of two zooms closer are a quarter as wide.
  const zoom = isOfPage
    ? await gl.getSource<GeoJSONSource>(source)?.getClusterExpansionZoom(properties.cluster_id)
    : gl.getZoom() + 2
  if (zoom !== undefined) gl.easeTo({ center: geometry.coordinates as [number, number], zoom })
}
