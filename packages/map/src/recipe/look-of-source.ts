/** The look of a data source, whatever its data are. Loaded when a source has one. */
import type { GraticuleMap } from '../graticule-map.ts'
import type { Look } from '../look.ts'
import { isOwnAddress, type MapClient } from '../map-client.ts'
import type { SourceData } from '../source-data.ts'
import { type DataSourceOptions, isCollection } from '../source-options.ts'
import { dataOfFeatures, dataOfServer } from './look-data.ts'
import { type LookData, makeLook } from './source-look.ts'

export async function lookOf({ client }: GraticuleMap, data: SourceData, options: DataSourceOptions): Promise<Look> {
  return await makeLook(options.id, options.title, options, await lookData(client, data, options))
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
  const { url, headers = {} } = isOwnAddress(client, address)
    ? client.transformRequest(address)
    : { url: address, headers: {} }
  return await (await fetch(url, { headers })).json()
}
