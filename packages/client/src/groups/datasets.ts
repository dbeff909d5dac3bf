import { changeable, creatable, type Params, readable } from '../crud.ts'
import type { FeatureCollection } from '../geojson.ts'
import { readRows } from '../json-rows.ts'
import { path } from '../request.ts'
import type { Sender } from '../send.ts'
import type {
  AttributeStatistics,
  AttributeStatisticsParams,
  Dataset,
  DatasetCreate,
  DatasetPatch,
  DatasetQuery,
  DatasetQueryParams,
  DatasetsDeleteParams,
  DatasetsListParams,
  DatasetUpdate,
  JsonObject,
} from '../types.ts'

/** Answers come as rows unless `format` says otherwise. A dataset's own parameters are given along with the declared ones. */
type QueryParams<Format> = Params<Omit<DatasetQueryParams, 'format' | 'explain'>> & {
  format?: Format
  explain?: false
  [parameter: string]: unknown
}
type StatisticsParams = Params<AttributeStatisticsParams> & { [parameter: string]: unknown }
type Explain = Omit<QueryParams<DatasetQueryParams['format']>, 'explain'> & { explain: true }

interface RunQuery {
  <Row = JsonObject>(id: string, query?: DatasetQuery, params?: QueryParams<'json'>): Promise<Row[]>
  <Properties = JsonObject>(
    id: string,
    query: DatasetQuery,
    params: QueryParams<'geojson'> & { format: 'geojson' },
  ): Promise<FeatureCollection<Properties>>
  (id: string, query: DatasetQuery, params: QueryParams<'csv'> & { format: 'csv' }): Promise<string>
  (id: string, query: DatasetQuery, params: Explain): Promise<{ plan: unknown }>
}

const root = '/api/v1/datasets'

export function datasetsGroup({ json: send, text, stream }: Sender) {
  const query = (id: string, json: DatasetQuery = {}, params: QueryParams<string> = {}) =>
    (params.format === 'csv' && !params.explain ? text : send)('POST', path`/api/v1/datasets/${id}/query`, params, {
      json,
      // A query changes nothing, although it is a POST.
      repeatability: 'safe',
    })
  return {
    ...readable<Dataset, DatasetsListParams, DatasetsDeleteParams>(send, root),
    ...creatable<Dataset, DatasetCreate>(send, root),
    ...changeable<Dataset, DatasetUpdate, DatasetPatch>(send, root),
    /** The rows, features or CSV that a query finds, all at once. */
    query: query as RunQuery,
    /** What the values of an attribute are. A dataset's own parameters are given along with the declared ones. */
    statistics: (id: string, name: string, params?: StatisticsParams) =>
      send<AttributeStatistics>('GET', path`/api/v1/datasets/${id}/attributes/${name}/statistics`, params),
    /** The rows one by one while they arrive, in constant memory. Leaving the loop ends the request. */
    rows<Row = JsonObject>(
      id: string,
      json: DatasetQuery = {},
      params: QueryParams<'json'> = {},
    ): AsyncGenerator<Row, void> {
      const asked: QueryParams<'json'> = { ...params, format: 'json' }
      return readRows<Row>(stream('POST', path`/api/v1/datasets/${id}/query`, asked, { json, repeatability: 'safe' }))
    },
  }
}
