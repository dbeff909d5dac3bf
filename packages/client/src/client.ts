// biome-ignore-all lint/performance/noBarrelFile: the entry of the package
import { createAuthChanges } from './auth-changes.ts'
import { agentsGroup } from './groups/agents.ts'
import { appconfigGroup } from './groups/appconfig.ts'
import { auditGroup } from './groups/audit.ts'
import { authGroup } from './groups/auth.ts'
import { datasetsGroup } from './groups/datasets.ts'
import { mapsGroup, tilesGroup } from './groups/maps.ts'
import { placesGroup } from './groups/places.ts'
import {
  apiKeysGroup,
  applicationsGroup,
  contactPointsGroup,
  databasesGroup,
  queriesGroup,
  stylesGroup,
  tileSourcesGroup,
} from './groups/resources.ts'
import { serverGroup } from './groups/server.ts'
import { uploadsGroup } from './groups/uploads.ts'
import { path } from './request.ts'
import { createSender, type Sender } from './send.ts'
import { createRefresh, type HeldTokens, type Session } from './session.ts'
import { type TransformedRequest, transformRequest } from './transform-request.ts'
import type { Refresh } from './types.ts'

export { ApiError, type Fault } from './api-error.ts'
export type { AuthChange } from './auth-changes.ts'
export type { ChangeStream, ChangeStreamState } from './change-stream.ts'
export type { Params } from './crud.ts'
export type { Feature, FeatureCollection, Geometry } from './geojson.ts'
export type { AgentEvent, AgentQuestion } from './groups/agents.ts'
export type { AuditPage } from './groups/audit.ts'
export type { RowKey, WrittenRows } from './groups/dataset-rows.ts'
export type { RowPage } from './groups/datasets.ts'
export type { TileCoordinates } from './groups/maps.ts'
export type { FoundPlaces, Place, PlaceSearchParams } from './groups/places.ts'
export { UploadError, type UploadOptions } from './groups/uploads.ts'
export type { ProviderSignIn, SignInReturn } from './provider-sign-in.ts'
export type { RequestParams } from './request.ts'
export type { AuthEvent, HeldTokens } from './session.ts'
export type { TransformedRequest } from './transform-request.ts'
export type * from './types.ts'
export type { UploadFile, UploadProgress } from './upload-body.ts'
export type { Box, DatasetChange, DatasetEvent } from './watch.ts'

export interface ClientOptions {
  /** A JWT: sent instead of the key. */
  accessToken?: string | null | undefined
  /** If set, an expired access token is replaced once and the request repeated. */
  refreshToken?: string | null | undefined
  /** Called when the client has changed its tokens: after login, refresh and logout. */
  onTokens?: ((tokens: HeldTokens) => void) | undefined
  fetch?: typeof fetch | undefined
  /** How often a failed request is repeated, if that is safe. @defaultValue 2 */
  retries?: number | undefined
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>> | undefined
  /** The time limit of each attempt; for streams, until the response begins. @defaultValue none */
  timeoutMs?: number | undefined
}

/** The API, in groups. `apiKey`, `accessToken` and `refreshToken` may be set at any time. */
export interface Client extends Session {
  readonly audit: ReturnType<typeof auditGroup>
  readonly auth: ReturnType<typeof authGroup>
  readonly apiKeys: ReturnType<typeof apiKeysGroup>
  readonly applications: ReturnType<typeof applicationsGroup>
  readonly appconfig: ReturnType<typeof appconfigGroup>
  readonly databases: ReturnType<typeof databasesGroup>
  readonly datasets: ReturnType<typeof datasetsGroup>
  readonly queries: ReturnType<typeof queriesGroup>
  readonly styles: ReturnType<typeof stylesGroup>
  readonly tileSources: ReturnType<typeof tileSourcesGroup>
  readonly uploads: ReturnType<typeof uploadsGroup>
  readonly tiles: ReturnType<typeof tilesGroup>
  readonly maps: ReturnType<typeof mapsGroup>
  readonly places: ReturnType<typeof placesGroup>
  readonly agents: ReturnType<typeof agentsGroup>
  readonly contactPoints: ReturnType<typeof contactPointsGroup>
  readonly server: ReturnType<typeof serverGroup>
  /** For MapLibre: `new Map({ transformRequest: client.transformRequest, … })`. */
  readonly transformRequest: (url: string, resourceType?: string) => TransformedRequest
}

const defaultRetries = 2

/** A client of the server at `url`. It authenticates with the API key, or with an access token if it has one. */
export function createClient(url: string, apiKey: string | null = null, options: ClientOptions = {}): Client {
  const { accessToken = null, refreshToken = null, onTokens = () => {}, retries = defaultRetries } = options
  const changes = createAuthChanges(onTokens)
  const session: Session = { url: serverAddress(url), apiKey, accessToken, refreshToken }
  // Looked up for each request, because programs and tests may replace the global fetch later.
  const ownFetch: typeof fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const renew = (json: Refresh) =>
    sender.json<string>('POST', path`/api/v1/auth/refresh`, {}, { json, isPublic: true, repeatability: 'safe' })
  const sender: Sender = createSender({
    session,
    fetch: ownFetch,
    refresh: createRefresh(session, renew, changes.tell),
    retries,
    timeoutMs: options.timeoutMs,
    headers: options.headers ?? {},
  })
  const send = sender.json
  return Object.assign(session, {
    audit: auditGroup(sender),
    auth: authGroup(send, session, changes),
    apiKeys: apiKeysGroup(send),
    applications: applicationsGroup(send),
    appconfig: appconfigGroup(send),
    databases: databasesGroup(send),
    datasets: datasetsGroup(sender),
    queries: queriesGroup(send),
    styles: stylesGroup(send),
    tileSources: tileSourcesGroup(send),
    uploads: uploadsGroup(send, options.fetch !== undefined),
    tiles: tilesGroup(sender, session),
    maps: mapsGroup(send, session),
    places: placesGroup(send),
    agents: agentsGroup(sender),
    contactPoints: contactPointsGroup(send),
    server: serverGroup(sender),
    transformRequest: (address: string) => transformRequest(session, address),
  })
}

/** In a browser, the URL may be relative to the page. */
function serverAddress(url: string): string {
  const { location } = globalThis as { location?: { href: string } }
  try {
    const { origin, pathname, protocol } = new URL(url, location?.href)
    if (/^https?:$/.test(protocol)) return origin + pathname.replace(/\/+$/, '')
  } catch {}
  throw new TypeError(`url: "${url}" is not the address of a server, such as https://maps.example.org.`)
}
