import { type ChangeStream, createChangeStream } from '../change-stream.ts'
import { changeable, creatable, type Params, readable } from '../crud.ts'
import type { FeatureCollection } from '../geojson.ts'
import { readRows } from '../json-rows.ts'
import { nextCursor } from '../next-cursor.ts'
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
  DatasetsChangesParams,
  DatasetsDeleteParams,
  DatasetsListParams,
  DatasetsTryRulesAnswer,
  DatasetsTryRulesBody,
  DatasetUpdate,
  JsonObject,
} from '../types.ts'
import { type DatasetEvent, type WatchOptions, watchChanges } from '../watch.ts'
import { datasetRows } from './dataset-rows.ts'

/** Responses are rows unless `format` is set. The dataset's own parameters are passed along with the declared ones. */
type QueryParams<Format> = Params<Omit<DatasetQueryParams, 'format' | 'explain' | 'cursor'>> & {
  format?: Format
  explain?: false
  cursor?: string | null | undefined
  [parameter: string]: unknown
}
type StatisticsParams = Params<AttributeStatisticsParams> & { [parameter: string]: unknown }
type Explain = Omit<QueryParams<DatasetQueryParams['format']>, 'explain'> & { explain: true }

type ExportParams = Omit<QueryParams<DatasetQueryParams['format']>, 'cursor'> & {
  format: NonNullable<DatasetQueryParams['format']>
}

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

/** One page of a query's rows. */
export interface RowPage<Row> {
  rows: Row[]
  /** The cursor of the next page; null on the last page. */
  next: string | null
}

const root = '/api/v1/datasets'

const refreshable = (send: Sender['json']) => ({
  /** What a user would see and could write by rules that are not stored yet, or by those of the dataset. */
  tryRules: (id: string, json: DatasetsTryRulesBody = {}, params?: Params) =>
    send<DatasetsTryRulesAnswer>('POST', path`/api/v1/datasets/${id}/rules/try`, params, {
      json,
      repeatability: 'safe',
    }),
  /** Reads the columns anew, after the table or query was changed in its database. */
  refresh: (id: string, params?: Params) => send<Dataset>('POST', path`/api/v1/datasets/${id}/refresh`, params),
})

export function datasetsGroup({ json: send, text, blob, stream }: Sender) {
  const query = (id: string, json: DatasetQuery = {}, params: QueryParams<string> = {}) =>
    (params.format === 'csv' && !params.explain ? text : send)('POST', path`/api/v1/datasets/${id}/query`, params, {
      json,
      // A POST, but it changes nothing.
      repeatability: 'safe',
    })
  function watch<Key = unknown>(
    id: string,
    { onDisconnect, lastEventId: first, ...params }: Params<WatchOptions> = {},
  ): AsyncGenerator<DatasetEvent<Key>, void> {
    const open = (lastEventId: string | undefined, signal: AbortSignal) => {
      const request: Params<DatasetsChangesParams> = {
        ...params,
        ...(lastEventId !== undefined && { lastEventId }),
        signal,
      }
      return stream('GET', path`/api/v1/datasets/${id}/changes`, request, { accept: 'text/event-stream' })
    }
    return watchChanges<Key>(open, { ...params, lastEventId: first, onDisconnect })
  }
  const streams = new Map<string, ChangeStream>()
  return {
    ...readable<Dataset, DatasetsListParams, DatasetsDeleteParams>(send, root),
    ...creatable<Dataset, DatasetCreate>(send, root),
    ...changeable<Dataset, DatasetUpdate, DatasetPatch>(send, root),
    ...datasetRows(send),
    /** Runs a query and returns all its rows, features or CSV at once. */
    query: query as RunQuery,
    /** All rows of a query as a file, such as `gpkg`, `parquet` or `xlsx`, in memory. */
    export: (id: string, json: DatasetQuery, params: ExportParams) =>
      blob('POST', path`/api/v1/datasets/${id}/query`, params, { json, repeatability: 'safe' }),
    ...refreshable(send),
    /** Statistics of an attribute's values. The dataset's own parameters are passed along with the declared ones. */
    statistics: (id: string, name: string, params?: StatisticsParams) =>
      send<AttributeStatistics>('GET', path`/api/v1/datasets/${id}/attributes/${name}/statistics`, params),
    /**
     * Keyset paging: at most 1 000 rows (`limit`), and the `cursor` of the next page. Unlike `offset`, a cursor costs the same
     * on every page, and concurrent writes neither skip nor repeat rows. The dataset must have a primary key.
     */
    async page<Row = JsonObject>(
      id: string,
      json: Omit<DatasetQuery, 'cursor'> = {},
      params: QueryParams<'json'> = {},
    ): Promise<RowPage<Row>> {
      let next: string | null = null
      const onResponse = (response: Response): void => {
        next = nextCursor(response.headers.get('link'))
        params.onResponse?.(response)
      }
      const request: QueryParams<'json'> = { ...params, cursor: params.cursor ?? '', format: 'json', onResponse }
      const options = { json, repeatability: 'safe' } as const
      const rows = await send<Row[]>('POST', path`/api/v1/datasets/${id}/query`, request, options)
      return { rows, next }
    },
    /**
     * Follows the changes of a dataset of type `table`, whoever makes them. A broken connection is opened again, behind the last
     * event; `lastEventId` continues an earlier one. Leaving the loop or aborting ends it.
     */
    watch,
    /**
     * The changes of a dataset over one connection, shared by all who ask for it with the same key. It is opened again for ever, also
     * when the first attempt fails, and closed while the page is hidden.
     */
    changeStream(id: string, { apiKey }: { apiKey?: string | undefined } = {}): ChangeStream {
      const key = JSON.stringify([id, apiKey])
      const stream = streams.get(key) ?? createChangeStream((options) => watch(id, { ...options, apiKey }))
      streams.set(key, stream)
      return stream
    },
    /** Streams the rows one by one, in constant memory. Leaving the loop ends the request. */
    rows<Row = JsonObject>(
      id: string,
      json: DatasetQuery = {},
      params: QueryParams<'json'> = {},
    ): AsyncGenerator<Row, void> {
      const request: QueryParams<'json'> = { ...params, format: 'json' }
      return readRows<Row>(stream('POST', path`/api/v1/datasets/${id}/query`, request, { json, repeatability: 'safe' }))
    },
  }
}
