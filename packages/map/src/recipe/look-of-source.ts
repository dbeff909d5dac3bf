/** The look of a data source, whatever its data are. Loaded when a source has one. */
import type { DrawnLook } from '../look.ts'
import { isServerAddress, type MapClient } from '../map-client.ts'
import type { DataSource } from '../source/data-source.ts'
import type { SourceData } from '../source/source-data.ts'
import { rowParams } from '../source/source-filter.ts'
import { type DataSourceOptions, isCollection } from '../source/source-options.ts'
import type { CellOptions } from './cells-look.ts'
import { drawnLook } from './drawn-look.ts'
import { dataOfFeatures, dataOfServer } from './look-data.ts'
import { type LookData, makeLook } from './source-look.ts'

/** Returns a function that begins to draw it. */
export async function lookOf(source: DataSource, data: SourceData): Promise<() => DrawnLook> {
  const { options } = source
  const { client } = source.map
  const address: CellOptions['address'] = (params) => cellAddress(client, data, options, params)
  const known = await lookData(client, data, options)
  const looks = await makeLook(options.id, options.title, options, known, address)
  return () => drawnLook(source, looks)
}

/** `options` are those of the data source itself, whose filter and time change. */
function cellAddress(
  client: MapClient,
  data: SourceData,
  options: DataSourceOptions,
  params: Parameters<CellOptions['address']>[0],
): string {
  const id =
    data.kind === 'dataset' ? data.datasetId : data.kind === 'tiles' ? data.tileSource?.tileSourceId : undefined
  if (id === undefined) throw new Error('hexagons and grid need a dataset.')
  const { apiKey } = options
  return client.tiles.url(id, { ...(apiKey && { apiKey }), ...rowParams(options), ...params })
}

async function lookData(client: MapClient, data: SourceData, { id, apiKey }: DataSourceOptions): Promise<LookData> {
  if (data.kind === 'dataset') return await dataOfServer(client, data.datasetId, apiKey)
  if (data.kind === 'tiles' && data.tileSource) return await dataOfServer(client, data.tileSource.tileSourceId, apiKey)
  if (data.kind === 'inline') return dataOfFeatures(id, data.features)
  const features = data.kind === 'address' ? await loadFeatures(client, data.address) : undefined
  if (isCollection(features)) return dataOfFeatures(id, features)
  throw new Error('colorBy, sizeBy and heat need a dataset, or GeoJSON.')
}

/** MapLibre has loaded the same address, so that it is in the browser's cache. */
async function loadFeatures(client: MapClient, address: string): Promise<unknown> {
  const { url, headers = {} } = isServerAddress(client, address)
    ? client.transformRequest(address)
    : { url: address, headers: {} }
  return await (await fetch(url, { headers })).json()
}
