import type { Params } from '../crud.ts'
import type { Feature, FeatureCollection } from '../geojson.ts'
import { path } from '../request.ts'
import type { Send } from '../send.ts'
import type {
  Dataset,
  DatasetsAddColumnBody,
  DatasetsChangeColumnBody,
  DatasetsChangeColumnParams,
  DatasetsChangeRowParams,
  DatasetsChangeRowsParams,
  DatasetsColumnConversionAnswer,
  DatasetsColumnConversionParams,
  DatasetsDeleteRowsParams,
  DatasetsInsertRowsParams,
  JsonObject,
} from '../types.ts'

/** The primary key of a row: its value, or the values of all its columns. */
export type RowKey = string | number | readonly (string | number)[]

/** What was written. */
export interface WrittenRows {
  count: number
  /** The keys of inserted rows; absent if the table has no primary key. */
  keys?: unknown[]
}

export type InsertParams = Params<DatasetsInsertRowsParams>
type ChangeParams = Params<DatasetsChangeRowParams>

export interface Insert {
  /** CSV with a header, or rows. */
  (id: string, rows: string | readonly object[] | FeatureCollection, params?: InsertParams): Promise<WrittenRows>
  <Properties = JsonObject>(id: string, row: Feature, params?: InsertParams): Promise<Feature<Properties>>
  <Row = JsonObject>(id: string, row: object, params?: InsertParams): Promise<Row>
}

const addressOf = (id: string, key: RowKey) => () => {
  const parts = typeof key === 'object' ? key : [key]
  return `${path`/api/v1/datasets/${id}/rows/`()}${parts.map((part) => path`${part}`()).join()}`
}

/** Writes the rows and columns of a dataset's table. */
export const datasetRows = (send: Send) => ({
  /** Inserts one row, many, or CSV: all or none. One row is answered as it is stored. */
  insert: ((id: string, rows: unknown, params?: InsertParams) =>
    send(
      'POST',
      path`/api/v1/datasets/${id}/rows`,
      params,
      typeof rows === 'string' ? { body: () => rows, headers: { 'content-type': 'text/csv' } } : { json: rows },
    )) as Insert,
  /** One row by its key. `onResponse` shows its ETag, which `ifMatch` of the methods that change it takes. */
  row: <Row = JsonObject>(id: string, key: RowKey, params?: Params) => send<Row>('GET', addressOf(id, key), params),
  /** Changes the given columns of one row. */
  changeRow: <Row = JsonObject>(id: string, key: RowKey, values: object, params?: ChangeParams) =>
    send<Row>('PATCH', addressOf(id, key), params, { json: values }),
  /** Inserts the row with this key, or replaces it: columns that are not given go back to their default. */
  putRow: <Row = JsonObject>(id: string, key: RowKey, row: object, params?: ChangeParams) =>
    send<Row>('PUT', addressOf(id, key), params, { json: row }),
  deleteRow: (id: string, key: RowKey, params?: Params) => send<void>('DELETE', addressOf(id, key), params),
  /** Changes all rows that `filter` matches, if they are as many as `expect` says. */
  changeRows: (id: string, values: object, params: Params<DatasetsChangeRowsParams>) =>
    send<WrittenRows>('PATCH', path`/api/v1/datasets/${id}/rows`, params, { json: values }),
  /** Deletes all rows that `filter` matches, if they are as many as `expect` says. */
  deleteRows: (id: string, params: Params<DatasetsDeleteRowsParams>) =>
    send<WrittenRows>('DELETE', path`/api/v1/datasets/${id}/rows`, params),
  addColumn: (id: string, column: DatasetsAddColumnBody, params?: Params) =>
    send<Dataset>('POST', path`/api/v1/datasets/${id}/columns`, params, { json: column }),
  /** Renames, retypes or describes a column. Values that cannot be converted are refused, unless `onLoss` is `null`. */
  changeColumn: (
    id: string,
    name: string,
    change: DatasetsChangeColumnBody,
    params?: Params<DatasetsChangeColumnParams>,
  ) => send<Dataset>('PATCH', path`/api/v1/datasets/${id}/columns/${name}`, params, { json: change }),
  /** What another type would do to the values of a column: nothing is changed. */
  columnConversion: (id: string, name: string, params: Params<DatasetsColumnConversionParams>) =>
    send<DatasetsColumnConversionAnswer>('GET', path`/api/v1/datasets/${id}/columns/${name}/conversion`, params),
  dropColumn: (id: string, name: string, params?: Params) =>
    send<void>('DELETE', path`/api/v1/datasets/${id}/columns/${name}`, params),
})
