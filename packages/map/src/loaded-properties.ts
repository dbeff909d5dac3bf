/** Looks up the properties of features that the browser has already loaded, by their id as text. */

import type { FilterSpecification, Map as MapLibreMap } from 'maplibre-gl'
import type { FeatureCollection } from './geojson.ts'
import type { FeatureId, Properties } from './selection.ts'

type Identified = { id?: string | number | undefined; properties: Properties | null }

/** Searches a collection, which also has the points that are clustered on the map. */
export function propertiesInCollection(
  { features }: FeatureCollection,
  ids: readonly FeatureId[],
  featureId: string | undefined,
): Map<string, Properties> {
  return byId(features as readonly Identified[], new Set(ids.map(String)), featureId)
}

/** Searches the tiles that the map has loaded, visible or not. */
export function propertiesInTiles(
  gl: MapLibreMap,
  { id, sourceLayer, featureId }: { id: string; sourceLayer?: string | undefined; featureId?: string | undefined },
  ids: readonly FeatureId[],
): Map<string, Properties> {
  if (!gl.getSource(id)) return new Map()
  const wanted = ids.map(String)
  const identity = featureId ? ['get', featureId] : ['id']
  const filter = ['in', ['to-string', identity], ['literal', wanted]] as unknown as FilterSpecification
  const features = gl.querySourceFeatures(id, { filter, ...(sourceLayer && { sourceLayer }) })
  return byId(features, new Set(wanted), featureId)
}

function byId(features: readonly Identified[], wanted: ReadonlySet<string>, featureId: string | undefined) {
  const loaded = new Map<string, Properties>()
  for (const { id, properties } of features) {
    const key = String(featureId ? properties?.[featureId] : id)
    if (wanted.has(key) && properties) loaded.set(key, properties)
  }
  return loaded
}
