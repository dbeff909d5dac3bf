/// <reference lib="dom" />
/** Where the features of a data source come from, and the MapLibre source specification for it. */

import type { GeoJSONSource, Source, SourceSpecification, VectorTileSource } from 'maplibre-gl'
import { type Bounds, boxOf } from './bounds.ts'
import type { FeatureCollection } from './geojson.ts'
import type { FollowedTiles } from './live.ts'
import { isId, isName, type MapClient, withKey } from './map-client.ts'
import { filterParams, isCql2, type SourceFilter, withParams } from './source-filter.ts'
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
  /** Of a dataset whose id is being looked up. */
  | { readonly kind: 'name'; readonly name: string }

/** Whether all features are in the page, and not only those of some tiles. */
export const holdsFeatures = ({ kind }: SourceData): boolean => kind === 'inline' || kind === 'dataset'

export const noFeatures: FeatureCollection = { type: 'FeatureCollection', features: [] }

export function sourceDataOf(options: DataSourceOptions, client: MapClient): SourceData {
  const { src, apiKey, limit } = options
  const isVector = typeOf(options) === 'vector'
  if (typeof src !== 'string') return { kind: 'inline', features: src }
  if (isName(src)) return { kind: 'name', name: src }
  const filter = filterParams(options.filter)
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

/** The box around the features of a source that the filter lets through; undefined where there are none. */
export async function boxOfSource(
  client: MapClient,
  data: SourceData,
  { filter, apiKey }: Pick<DataSourceOptions, 'filter' | 'apiKey'>,
  held: FeatureCollection,
  added: Source | undefined,
): Promise<Bounds | undefined> {
  if (data.kind === 'tiles' && data.tileSource) {
    const request = { ...filterParams(filter), ...(apiKey && { apiKey }) }
    return (await client.tiles.describe(data.tileSource.tileSourceId, request)).bounds
  }
  if (data.kind === 'tiles') return (added as VectorTileSource | undefined)?.bounds as Bounds | undefined
  const features = data.kind === 'address' ? await (added as GeoJSONSource | undefined)?.getData() : held
  return isCollection(features) ? boxOf(features) : undefined
}

export const defaultSourceLayer = 'geometry'

/** Makes MapLibre reload everything, including the TileJSON, whose tile URLs contain the version of the data. */
export async function reload(source: Source, data: SourceData, held: FeatureCollection): Promise<void> {
  if (data.kind !== 'tiles') await setData(source as GeoJSONSource, data.kind === 'address' ? data.address : held)
  else if (data.isTemplate) (source as VectorTileSource).setTiles([data.address])
  else (source as VectorTileSource).setUrl(data.address)
}

/** MapLibre cuts features into tiles too. */
async function setData(source: GeoJSONSource, features: FeatureCollection | string): Promise<void> {
  const { swapTogether } = await import('./hold-tiles.ts')
  await swapTogether(source, (held) => held.load(() => source.setData(features)))
}

interface FeatureRequest {
  apiKey?: string | undefined
  signal?: AbortSignal
}

/** The features of a dataset for which the filter holds. */
export async function queryFeatures(
  client: MapClient,
  datasetId: string,
  { filter, limit }: { filter?: SourceFilter | undefined; limit?: number | undefined },
  { apiKey, signal }: FeatureRequest,
): Promise<FeatureCollection> {
  const request = { ...(apiKey && { apiKey }), ...(signal && { signal }) }
  const most = limit ? { limit } : {}
  const answer =
    filter !== undefined && isCql2(filter)
      ? await askByAddress(client, datasetId, filter, { ...most, ...request })
      : await client.datasets.query(
          datasetId,
          { ...(filter && { where: filter }), ...most },
          { format: 'geojson', ...request },
        )
  if (!isCollection(answer)) throw new Error('The answer to the query is not a FeatureCollection.')
  return answer
}

/** Queries in CQL2 are requests for an address; the client has the others. */
async function askByAddress(
  client: MapClient,
  datasetId: string,
  filter: SourceFilter,
  { limit, apiKey, signal }: FeatureRequest & { limit?: number },
): Promise<unknown> {
  const address = `${client.url}/api/v1/datasets/${datasetId}/query`
  const asked = withParams(`${address}?format=geojson${limit ? `&limit=${limit}` : ''}`, filterParams(filter))
  const { url, headers = {} } = client.transformRequest(withKey(client, asked, apiKey))
  const response = await fetch(url, { headers, ...(signal && { signal }) })
  const answer = await response.json()
  if (response.ok) return answer
  throw new Error(typeof answer?.message === 'string' ? answer.message : `The server answered ${response.status}.`)
}
