/// <reference lib="dom" />
/** Where the features of a data source come from, and the MapLibre source specification for it. */

import type { GeoJSONSource, Source, SourceSpecification, VectorTileSource } from 'maplibre-gl'
import type { GeoJsonCollection } from '../geojson.ts'
import type { FollowedTiles } from '../live/live.ts'
import { isId, isName, type MapClient, withKey } from '../map-client.ts'
import { rowParams, withParams } from './source-filter.ts'
import { type DataSourceOptions, typeOf } from './source-options.ts'
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
  | { readonly kind: 'inline'; readonly features: GeoJsonCollection }
  | { readonly kind: 'dataset'; readonly datasetId: string }
  /** Of a dataset whose id is being looked up. */
  | { readonly kind: 'name'; readonly name: string }

/** Whether all features are in the page, and not only those of some tiles. */
export const holdsFeatures = ({ kind }: SourceData): boolean => kind === 'inline' || kind === 'dataset'

export const noFeatures: GeoJsonCollection = { type: 'FeatureCollection', features: [] }

export function sourceDataOf(options: DataSourceOptions, client: MapClient): SourceData {
  const { src, apiKey, limit } = options
  const isVector = typeOf(options) === 'vector'
  if (typeof src !== 'string') return { kind: 'inline', features: src }
  if (isName(src)) return { kind: 'name', name: src }
  // Points are put together in the page for GeoJSON, and on the server for tiles.
  const filter = { ...rowParams(options), ...(isVector && options.cluster && { aggregate: 'cluster' }) }
  if (isId(src)) {
    if (!isVector) return { kind: 'dataset', datasetId: src }
    const address = client.tiles.url(src, { ...(apiKey && { apiKey }), ...(limit && { limit }), ...filter })
    return { kind: 'tiles', address, isTemplate: false, datasetId: src, tileSource: { tileSourceId: src, apiKey } }
  }
  // MapLibre's workers cannot resolve URLs relative to the page. The braces of URL templates must not stay escaped.
  const absolute = new URL(src, document.baseURI).href.replaceAll('%7B', '{').replaceAll('%7D', '}')
  const keyed = withKey(client, absolute, apiKey)
  if (!isVector) return { kind: 'address', address: keyed }
  const address = options.filter ? withParams(keyed, filter) : keyed
  return { kind: 'tiles', address, isTemplate: src.includes('{z}'), tileSource: tileSourceOf(client, address) }
}

/** `held` are the features of a dataset or a collection. */
export function specificationOf(
  data: SourceData,
  options: DataSourceOptions,
  held: GeoJsonCollection,
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
export async function reload(source: Source, data: SourceData, held: GeoJsonCollection): Promise<void> {
  if (data.kind !== 'tiles') await setData(source as GeoJSONSource, data.kind === 'address' ? data.address : held)
  else if (data.isTemplate) (source as VectorTileSource).setTiles([data.address])
  else (source as VectorTileSource).setUrl(data.address)
}

/** MapLibre cuts features into tiles too. */
async function setData(source: GeoJSONSource, features: GeoJsonCollection | string): Promise<void> {
  const { swapTogether } = await import('../live/hold-tiles.ts')
  await swapTogether(source, (held) => held.load(() => source.setData(features)))
}
