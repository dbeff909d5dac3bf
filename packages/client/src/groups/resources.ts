import { changeable, creatable, type Params, readable } from '../crud.ts'
import { path } from '../request.ts'
import type { Send } from '../send.ts'
import type {
  AcceptedMessage,
  ApiKey,
  ApiKeyCreate,
  Application,
  ApplicationCreate,
  ApplicationPatch,
  ApplicationUpdate,
  ChangeBindings,
  ChangeBindingsUpdate,
  ContactPoint,
  ContactPointCreate,
  ContactPointPatch,
  ContactPointUpdate,
  Database,
  DatabaseCreate,
  DatabaseDraft,
  DatabaseDriver,
  DatabasePatch,
  DatabasesDriversParams,
  DatabasesQueryParams,
  DatabasesTablesParams,
  DatabaseTable,
  DatabaseTest,
  DatabaseUpdate,
  Delivery,
  Message,
  NewApplication,
  PageParams,
  Publication,
  PublicationResult,
  Query,
  QueryCreate,
  QueryPatch,
  QueryUpdate,
  SqlAnswer,
  SqlQuery,
  Style,
  StyleCreate,
  StylePatch,
  StyleUpdate,
  TileSource,
  TileSourceCreate,
  TileSourcePatch,
  TileSourceUpdate,
} from '../types.ts'

// The groups that have little more than the standard methods of a resource.

export const apiKeysGroup = (send: Send) => ({
  ...readable<ApiKey>(send, '/api/v1/apikeys'),
  ...creatable<ApiKey, ApiKeyCreate>(send, '/api/v1/apikeys'),
})

export const applicationsGroup = (send: Send) => ({
  ...readable<Application>(send, '/api/v1/applications'),
  ...creatable<NewApplication, ApplicationCreate>(send, '/api/v1/applications'),
  ...changeable<Application, ApplicationUpdate, ApplicationPatch>(send, '/api/v1/applications'),
})

export const stylesGroup = (send: Send) => ({
  ...readable<Style>(send, '/api/v1/styles'),
  ...creatable<Style, StyleCreate>(send, '/api/v1/styles'),
  ...changeable<Style, StyleUpdate, StylePatch>(send, '/api/v1/styles'),
  /** A JPEG as a data address; null if none was stored, or the style has changed since. */
  getPicture: (id: string, params?: Params) =>
    send<{ picture: string | null }>('GET', path`/api/v1/styles/${id}/picture`, params).then(({ picture }) => picture),
  /** Stores the picture of the style as it is now, for lists and shared links. */
  setPicture: (id: string, picture: string | null, params?: Params) =>
    send<unknown>('PUT', path`/api/v1/styles/${id}/picture`, params, { json: { picture } }).then(() => undefined),
})

export const tileSourcesGroup = (send: Send) => ({
  ...readable<TileSource>(send, '/api/v1/tilesources'),
  ...creatable<TileSource, TileSourceCreate>(send, '/api/v1/tilesources'),
  ...changeable<TileSource, TileSourceUpdate, TileSourcePatch>(send, '/api/v1/tilesources'),
  drivers: (params?: Params) => send<string[]>('GET', path`/api/v1/tilesources/drivers`, params),
})

export const databasesGroup = (send: Send) => ({
  ...readable<Database>(send, '/api/v1/databases'),
  ...creatable<Database, DatabaseCreate>(send, '/api/v1/databases'),
  ...changeable<Database, DatabaseUpdate, DatabasePatch>(send, '/api/v1/databases'),
  drivers: (params?: Params) => send<string[]>('GET', path`/api/v1/databases/drivers`, params),
  /** What each kind of database can do, and the fields of its form. */
  driverDetails(params?: Params) {
    const detailed: Params<DatabasesDriversParams> = { ...params, details: true }
    return send<DatabaseDriver[]>('GET', path`/api/v1/databases/drivers`, detailed)
  },
  /** Tests the connection and returns the server's version. */
  test: (id: string, params?: Params) =>
    send<DatabaseTest>('POST', path`/api/v1/databases/${id}/test`, params, { repeatability: 'safe' }),
  /** Tests a connection before it is stored. `id`: that of the record that is to be changed. */
  testDraft: (data: DatabaseDraft, params?: Params) =>
    send<DatabaseTest>('POST', path`/api/v1/databases/test`, params, { json: data, repeatability: 'safe' }),
  /** Runs one SELECT that is stored nowhere, or explains it. */
  query: (id: string, data: SqlQuery, params?: Params<DatabasesQueryParams>) =>
    send<SqlAnswer>('POST', path`/api/v1/databases/${id}/query`, params, { json: data, repeatability: 'safe' }),
  tables: (id: string, params?: Params<DatabasesTablesParams>) =>
    send<DatabaseTable[]>('GET', path`/api/v1/databases/${id}/tables`, params),
  /** Creates datasets from tables: from the named ones, or from all. */
  publish: (id: string, data: Publication = {}, params?: Params) =>
    send<PublicationResult>('POST', path`/api/v1/databases/${id}/publish`, params, { json: data }),
})

/** SQL that people keep. */
export const queriesGroup = (send: Send) => ({
  ...readable<Query>(send, '/api/v1/queries'),
  ...creatable<Query, QueryCreate>(send, '/api/v1/queries'),
  ...changeable<Query, QueryUpdate, QueryPatch>(send, '/api/v1/queries'),
})

export const contactPointsGroup = (send: Send) => ({
  ...readable<ContactPoint>(send, '/api/v1/contactpoints'),
  ...creatable<ContactPoint, ContactPointCreate>(send, '/api/v1/contactpoints'),
  ...changeable<ContactPoint, ContactPointUpdate, ContactPointPatch>(send, '/api/v1/contactpoints'),
  drivers: (params?: Params) => send<string[]>('GET', path`/api/v1/contactpoints/drivers`, params),
  send: (id: string, data: Message, params?: Params) =>
    send<AcceptedMessage>('POST', path`/api/v1/contactpoints/${id}/send`, params, { json: data }),
  deliveries: (id: string, params?: Params<PageParams>) =>
    send<Delivery[]>('GET', path`/api/v1/contactpoints/${id}/deliveries`, params),
  /** The datasets whose changes are sent to a webhook. */
  bindings: (id: string, params?: Params) =>
    send<ChangeBindings>('GET', path`/api/v1/contactpoints/${id}/bindings`, params),
  /** Replaces all bindings; those whose dataset stays go on where they are. */
  bind: (id: string, data: ChangeBindingsUpdate, params?: Params) =>
    send<ChangeBindings>('PUT', path`/api/v1/contactpoints/${id}/bindings`, params, { json: data }),
})
