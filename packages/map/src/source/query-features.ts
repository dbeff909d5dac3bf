/// <reference lib="dom" />
/** Queries of a dataset for features. */
import type { GeoJsonCollection } from '../geojson.ts'
import { type MapClient, withKey } from '../map-client.ts'
import { type FilterParams, isCql2, rowParams, type SourceFilter, withParams } from './source-filter.ts'
import { isCollection } from './source-options.ts'

interface FeatureRequest {
  apiKey?: string | undefined
  signal?: AbortSignal
}

interface RowRequest {
  filter?: SourceFilter | undefined
  time?: string | undefined
  limit?: number | undefined
}

/** The features of a dataset for which the filter holds. */
export async function queryFeatures(
  client: MapClient,
  datasetId: string,
  { filter, time, limit }: RowRequest,
  { apiKey, signal }: FeatureRequest,
): Promise<GeoJsonCollection> {
  const request = { ...(apiKey && { apiKey }), ...(signal && { signal }) }
  const most = limit ? { limit } : {}
  const answer =
    filter !== undefined && isCql2(filter)
      ? await askByAddress(client, datasetId, rowParams({ filter, time }), { ...most, ...request })
      : await client.datasets.query(
          datasetId,
          { ...(filter && { where: filter }), ...(time !== undefined && { time }), ...most },
          { format: 'geojson', ...request },
        )
  if (!isCollection(answer)) throw new Error('The answer to the query is not a FeatureCollection.')
  return answer
}

/** Queries in CQL2 are requests for an address; the client has the others. */
async function askByAddress(
  client: MapClient,
  datasetId: string,
  rows: FilterParams,
  { limit, apiKey, signal }: FeatureRequest & { limit?: number },
): Promise<unknown> {
  const address = `${client.url}/api/v1/datasets/${datasetId}/query`
  const asked = withParams(`${address}?format=geojson${limit ? `&limit=${limit}` : ''}`, rows)
  const { url, headers = {} } = client.transformRequest(withKey(client, asked, apiKey))
  const response = await fetch(url, { headers, ...(signal && { signal }) })
  const answer = await response.json()
  if (response.ok) return answer
  throw new Error(typeof answer?.message === 'string' ? answer.message : `The server answered ${response.status}.`)
}
