import { changeable, creatable, type Params, readable, type Selecting } from '../crud.ts'
import { path } from '../request.ts'
import type { Send } from '../send.ts'
import type { AppConfig, AppConfigCreate, AppConfigPatch, JsonObject, ListParams } from '../types.ts'

const root = '/api/v1/appconfig'

/**
 * The configuration of the key's application, whole or by dotted key, and the records of all visible applications, which
 * `list`, `create`, `update` and `delete` mean. An id is the id of an application or a dotted key, as in the API.
 */
export function appconfigGroup(send: Send) {
  const { list, get, delete: remove } = readable<AppConfig>(send, root)
  const records = {
    ...creatable<AppConfig, AppConfigCreate>(send, root),
    ...changeable<AppConfig, AppConfigCreate, AppConfigPatch>(send, root),
    /** `offset` is always sent, because without any parameter this URL returns the configuration instead. */
    list: <Field extends keyof AppConfig = never>(params?: Params<Selecting<ListParams, Field>>) =>
      list<Field>({ offset: 0, ...params }),
    get,
    delete: remove,
  }
  return {
    get: configReader(send),
    set: <T = JsonObject>(config: T, params?: Params) => send<T>('PUT', () => root, params, { json: config }),
    /** A JSON merge patch: null removes a key. */
    merge: <T = JsonObject>(patch: JsonObject, params?: Params) =>
      send<T>('PATCH', () => root, params, { json: patch }),
    /** The configuration for a front end: a key with only this permission is enough. */
    current: <T = JsonObject>(params?: Params) => send<T>('GET', path`/api/v1/appconfig/current`, params),
    list: records.list,
    create: records.create,
    /** Replaces the record of an application, or the value of a dotted key. */
    update: <T = AppConfig>(id: string, data: unknown, params?: Params) =>
      send<T>('PUT', path`/api/v1/appconfig/${id}`, params, { json: data }),
    /** Deletes the record of an application, or the value of a dotted key. */
    delete: <T = void>(id: string, params?: Params) => send<T>('DELETE', path`/api/v1/appconfig/${id}`, params),
    getKey: <T = unknown>(key: string, params?: Params) => send<T>('GET', path`/api/v1/appconfig/${key}`, params),
    setKey: <T = JsonObject>(key: string, value: unknown, params?: Params) =>
      send<T>('PUT', path`/api/v1/appconfig/${key}`, params, { json: value }),
    deleteKey: <T = JsonObject>(key: string, params?: Params) =>
      send<T>('DELETE', path`/api/v1/appconfig/${key}`, params),
    records,
  }
}

interface ReadConfig {
  /** The configuration of the key's application. */
  <T = JsonObject>(params?: Params): Promise<T>
  /** The value of a dotted key, or the record of an application. */
  <T = unknown>(id: string | undefined, params?: Params): Promise<T>
}

const configReader =
  (send: Send): ReadConfig =>
  <T>(id?: string | Params, params?: Params) =>
    typeof id === 'string'
      ? send<T>('GET', path`/api/v1/appconfig/${id}`, params)
      : send<T>('GET', () => root, { ...id, ...params })
