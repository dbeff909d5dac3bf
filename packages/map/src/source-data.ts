/// <reference lib="dom" />
/** Where the features of a data source come from, and the MapLibre source specification for it. */

import type { GeoJSONSource, Source, SourceSpecification, VectorTileSource } from 'maplibre-gl'
import type { FeatureCollection } from './geojson.ts'
import { swapTogether } from './hold-tiles.ts'
import type { FollowedTiles } from './live.ts'
import { isId, type MapClient, withKey } from './map-client.ts'
import { type DataSourceOptions, isCollection, typeOf } from './source-options.ts'
import { tileSourceOf } from './tile-address.ts'

export type SourceData =
  | {
      readonly kind: 'tiles'
      readonly address: string
      readonly isTemplate: boolean
      readonly datasetId?: string
      /** Undefined for tiles of other servers. */
      readonly tileSource: FollowedTiles | undefined
    }
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'inline'; readonly features: FeatureCollection }
  | { readonly kind: 'dataset'; readonly datasetId: string }

export const noFeatures: FeatureCollection = { type: 'FeatureCollection', features: [] }

export function sourceDataOf(options: DataSourceOptions, client: MapClient): SourceData {
  const { src, apiKey, limit } = options
  const isVector = typeOf(options) === 'vector'
  if (typeof src !== 'string') return { kind: 'inline', features: src }
  if (isId(src)) {
    if (!isVector) return { kind: 'dataset', datasetId: src }
    const address = client.tiles.url(src, { ...(apiKey && { apiKey }), ...(limit && { limit }) })
    return { kind: 'tiles', address, isTemplate: false, datasetId: src, tileSource: { tileSourceId: src, apiKey } }
  }
  // MapLibre's workers cannot resolve URLs relative to the page. The braces of URL templates must not stay escaped.
  const absolute = new URL(src, document.baseURI).href.replaceAll('%7B', '{').replaceAll('%7D', '}')
  const address = withKey(client, absolute, apiKey)
  if (!isVector) return { kind: 'address', address }
  return { kind: 'tiles', address, isTemplate: src.includes('{z}'), tileSource: tileSourceOf(client, address) }
}

/** `held` are the features of a dataset or a collection. */
export function specificationOf(
  data: SourceData,
  options: DataSourceOptions,
  held: FeatureCollection,
): SourceSpecification {
  const { featureId, cluster, clusterMaxZoom, clusterRadius, sourceLayer = defaultSourceLayer } = options
  if (data.kind === 'tiles') {
    const place = data.isTemplate ? { tiles: [data.address] } : { url: data.address }
    return { type: 'vector', ...place, ...(featureId && { promoteId: { [sourceLayer]: featureId } }) }
  }
  return {
    type: 'geojson',
    data: data.kind === 'address' ? data.address : held,
    ...(featureId && { promoteId: featureId }),
    ...(cluster && { cluster }),
    ...(clusterMaxZoom !== undefined && { clusterMaxZoom }),
    ...(clusterRadius !== undefined && { clusterRadius }),
  }
}

export const defaultSourceLayer = 'geometry'

/** Makes MapLibre reload everything, including the TileJSON, whose tile URLs contain the version of the data. */
export async function reload(source: Source, data: SourceData, held: FeatureCollection): Promise<void> {
  if (data.kind !== 'tiles') await setData(source as GeoJSONSource, data.kind === 'address' ? data.address : held)
  else if (data.isTemplate) (source as VectorTileSource).setTiles([data.address])
  else (source as VectorTileSource).setUrl(data.address)
}

/** MapLibre cuts features into tiles too. */
const setData = (source: GeoJSONSource, features: FeatureCollection | string): Promise<void> =>
  swapTogether(source, (held) => held.load(() => source.setData(features)))

export async function queryFeatures(
  client: MapClient,
  datasetId: string,
  query: { where?: Record<string, unknown>; limit?: number },
  { apiKey, signal }: { apiKey?: string | undefined; signal?: AbortSignal },
): Promise<FeatureCollection> {
  const answer = await client.datasets.query(datasetId, query, {
    format: 'geojson',
    ...(apiKey && { apiKey }),
    ...(signal && { signal }),
  })
  if (!isCollection(answer)) throw new Error('The answer to the query is not a FeatureCollection.')
  return answer
}
