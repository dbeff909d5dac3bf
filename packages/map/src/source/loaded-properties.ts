/** Looks up the properties of features by their id as text: those that the browser has already loaded, and others. */

import type { FilterSpecification, Map as MapLibreMap } from 'maplibre-gl'
import type { GeoJsonCollection } from '../geojson.ts'
import type { FeatureId, Properties } from '../selection.ts'
import type { DataSource } from './data-source.ts'
import { holdsFeatures, type SourceData } from './source-data.ts'

type Identified = { id?: string | number | undefined; properties: Properties | null }

/** Of features that the browser has already loaded; `held` are those of a dataset or a collection. */
export function loadedProperties(
  { id, map, options: { featureId }, sourceLayer }: DataSource,
  data: SourceData,
  held: GeoJsonCollection,
  ids: readonly FeatureId[],
): ReadonlyMap<string, Properties> {
  if (holdsFeatures(data)) return propertiesInCollection(held, ids, featureId)
  return propertiesInTiles(map.gl, { id, featureId, sourceLayer }, ids)
}

/** By a query of the dataset. Otherwise properties come with the tiles or the file. */
export async function fetchedProperties(
  { map, options: { featureId, apiKey } }: DataSource,
  data: SourceData,
  ids: readonly FeatureId[],
): Promise<ReadonlyMap<string, Properties>> {
  if (!('datasetId' in data) || data.datasetId === undefined) return new Map()
  // The primary key of tables that uploads make is `id`.
  const filter = { [featureId ?? 'id']: { $in: ids } }
  const { queryFeatures } = await import('./query-features.ts')
  const answer = await queryFeatures(map.client, data.datasetId, { filter, limit: ids.length }, { apiKey })
  return propertiesInCollection(answer, ids, featureId)
}

/** Searches a collection, which also has the points that are clustered on the map. */
function propertiesInCollection(
  { features }: GeoJsonCollection,
  ids: readonly FeatureId[],
  featureId: string | undefined,
): Map<string, Properties> {
  return byId(features as readonly Identified[], new Set(ids.map(String)), featureId)
}

/** Searches the tiles that the map has loaded, visible or not. */
function propertiesInTiles(
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
