// The methods that resources have in common: list, get, create, update, patch, delete and metadata.
import { path, type RequestParams } from './request.ts'
import type { Send } from './send.ts'
import type { GetParams, JsonObject, ListParams } from './types.ts'

/** The parameters of an operation, and those of every request. */
export type Params<Own = unknown> = Own & RequestParams

/** The record, or only the requested fields. */
type Selected<T, Field extends keyof T> = [Field] extends [never] ? T : Pick<T, Field>
export type Selecting<Own, Field> = Omit<Own, 'fields'> & { fields?: readonly Field[] | undefined }

/** The methods of all resources. */
export const readable = <T, List = ListParams, Delete = unknown>(send: Send, root: string) => ({
  list: <Field extends keyof T = never>(params?: Params<Selecting<List, Field>>) =>
    send<Selected<T, Field>[]>('GET', () => root, params),
  get: <Field extends keyof T = never>(id: string, params?: Params<Selecting<GetParams, Field>>) =>
    send<Selected<T, Field>>('GET', () => root + path`/${id}`(), params),
  delete: (id: string, params?: Params<Delete>) => send<void>('DELETE', () => root + path`/${id}`(), params),
  /** The record's key-value store. Dotted keys address nested values. */
  metadata: metadata(send, root),
})

const metadata = (send: Send, root: string) => {
  const all = (id: string) => () => root + path`/${id}/metadata`()
  const one = (id: string, key: string) => () => root + path`/${id}/metadata/${key}`()
  return {
    get: (id: string, params?: Params) => send<JsonObject>('GET', all(id), params),
    /** Merges the values into the existing ones. */
    set: (id: string, values: JsonObject, params?: Params) =>
      send<JsonObject>('PUT', all(id), params, { json: values }),
    getKey: <T = unknown>(id: string, key: string, params?: Params) => send<T>('GET', one(id, key), params),
    setKey: (id: string, key: string, value: unknown, params?: Params) =>
      send<JsonObject>('PUT', one(id, key), params, { json: value }),
    deleteKey: (id: string, key: string, params?: Params) => send<JsonObject>('DELETE', one(id, key), params),
  }
}

/** The methods of records that clients can create. */
export const creatable = <T, Create>(send: Send, root: string) => ({
  create: (data: Create, params?: Params) => send<T>('POST', () => root, params, { json: data }),
})

/** The methods of records that clients can change. */
export const changeable = <T, Update, Patch>(send: Send, root: string) => ({
  /** Replaces the record. Omitted fields keep their value or return to their default; docs/api.md says which. */
  update: (id: string, data: Update, params?: Params) =>
    send<T>('PUT', () => root + path`/${id}`(), params, { json: data }),
  /** Changes only the given fields (JSON merge patch, RFC 7396). */
  patch: (id: string, data: Patch, params?: Params) =>
    send<T>('PATCH', () => root + path`/${id}`(), params, { json: data }),
})
