import { changeable, creatable, type Params, readable, type Selecting } from '../crud.ts'
import { path } from '../request.ts'
import type { Send } from '../send.ts'
import type { AppConfig, AppConfigCreate, AppConfigPatch, JsonObject, ListParams } from '../types.ts'

const root = '/api/v1/appconfig'

/** The configuration of the key's application, whole or by dotted key. `records` has those of all visible applications. */
export function appconfigGroup(send: Send) {
  const { list, get, delete: remove } = readable<AppConfig>(send, root)
  return {
    get: <T = JsonObject>(params?: Params) => send<T>('GET', () => root, params),
    set: <T = JsonObject>(config: T, params?: Params) => send<T>('PUT', () => root, params, { json: config }),
    /** A JSON merge patch: null removes a key. */
    merge: <T = JsonObject>(patch: JsonObject, params?: Params) =>
      send<T>('PATCH', () => root, params, { json: patch }),
    /** The configuration for a front end: a key with only this permission is enough. */
    current: <T = JsonObject>(params?: Params) => send<T>('GET', path`/api/v1/appconfig/current`, params),
    getKey: <T = unknown>(key: string, params?: Params) => send<T>('GET', path`/api/v1/appconfig/${key}`, params),
    setKey: <T = JsonObject>(key: string, value: unknown, params?: Params) =>
      send<T>('PUT', path`/api/v1/appconfig/${key}`, params, { json: value }),
    deleteKey: <T = JsonObject>(key: string, params?: Params) =>
      send<T>('DELETE', path`/api/v1/appconfig/${key}`, params),
    records: {
      ...creatable<AppConfig, AppConfigCreate>(send, root),
      ...changeable<AppConfig, AppConfigCreate, AppConfigPatch>(send, root),
      /** `offset` is always sent, because without any parameter this URL returns the configuration instead. */
      list: <Field extends keyof AppConfig = never>(params?: Params<Selecting<ListParams, Field>>) =>
        list<Field>({ offset: 0, ...params }),
      get,
      delete: remove,
    },
  }
}
