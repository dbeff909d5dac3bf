/** The options of a map, and their validation. */
import type { MapOptions, StyleSpecification } from 'maplibre-gl'
import type { MapClient } from './map-client.ts'
import type { State } from './state.ts'
import type { Theme } from './theme.ts'

export interface GraticuleMapOptions extends Omit<MapOptions, 'style' | 'transformRequest'> {
  /** Made by `createClient` of `@graticule/client`. */
  client: MapClient
  /** The id or name of a style on the server, the URL of a style, or a style object. */
  style: string | StyleSpecification
  /** The application state that `selectionState` and `selectionFeatureState` are paths in. @defaultValue a new state */
  state?: State | undefined
  /** The colours of the default layers. @defaultValue detected from the style's metadata or background */
  theme?: Theme | undefined
  /** Follows the datasets that the style's sources are made from. @defaultValue false */
  live?: boolean | undefined
  /** Where MapLibre's worker is, for bundlers that do not find it; as MapLibre's `setWorkerUrl`, for all maps of the page. */
  workerUrl?: string | undefined
  /**
   * Shows what was saved with the style in the console besides its layers; of a list only these parts.
   * @defaultValue false
   */
  recipes?: boolean | readonly RecipePart[] | undefined
  /** Applied to requests to servers other than the client's. */
  transformRequest?: (url: string, resourceType?: string) => { url: string; headers?: Record<string, string> }
}

/** `popups` are also what the pointer is told. */
export type RecipePart = 'popups' | 'legend' | 'tools'

export function checkMapOptions({ client, style, state, theme, live, workerUrl }: GraticuleMapOptions): void {
  if (typeof client?.url !== 'string' || typeof client.transformRequest !== 'function')
    throw refuse('client', 'made by createClient')
  if (!style || (typeof style !== 'string' && typeof style !== 'object'))
    throw refuse('style', 'a style, or its id, name or address')
  if (
    state &&
    (typeof state.get !== 'function' || typeof state.set !== 'function' || typeof state.subscribe !== 'function')
  )
    throw refuse('state', 'made by createState')
  if (theme !== undefined && theme !== 'light' && theme !== 'dark') throw refuse('theme', '"light" or "dark"')
  if (live !== undefined && typeof live !== 'boolean') throw refuse('live', 'true or false')
  if (workerUrl !== undefined && typeof workerUrl !== 'string') throw refuse('workerUrl', 'an address')
}

const refuse = (name: string, allowed: string) => new TypeError(`GraticuleMap: ${name} must be ${allowed}.`)
