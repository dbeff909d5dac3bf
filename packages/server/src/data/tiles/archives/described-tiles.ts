// Tiles that a document on the web names: a TileJSON, or a style, of which the first source of vector tiles is meant.
import { ApiError } from '../../../kernel/errors.ts'
import { type ArchiveInfo, type Fetch, fetchTimeoutMs, type OpenArchive } from './archive.ts'
import { boundsOf, centerOf, parseObject, textsOf, vectorLayersOf, versionOf, zoomOf } from './description.ts'

type Json = Readonly<Record<string, unknown>>

const maxBytes = 2 * 1024 * 1024
/** How long a document is believed. */
const believedMs = 3_600_000

/** `open` opens what the document names. */
export async function openDescribed(
  address: string,
  fetch: Fetch,
  open: (uri: string) => Promise<OpenArchive>,
): Promise<OpenArchive> {
  const { uri, description } = await readDescription(address, fetch)
  const readAt = performance.now()
  const archive = await open(uri)
  return {
    ...archive,
    info: async () => ({ ...(await archive.info()), ...description }),
    isStale: async () => performance.now() - readAt > believedMs || (await archive.isStale()),
  }
}

async function readDescription(
  address: string,
  fetch: Fetch,
): Promise<{ uri: string; description: Partial<ArchiveInfo> }> {
  const document = await readJson(address, fetch)
  const source = isObject(document.sources) ? firstVectorSource(document.sources) : document
  const { url } = source
  if (typeof url === 'string' && url.startsWith('pmtiles://')) return { uri: url, description: {} }
  const isElsewhere = typeof url === 'string' && !Array.isArray(source.tiles)
  const at = isElsewhere ? absolute(url, address) : address
  const tileJson = isElsewhere ? await readJson(at, fetch) : source
  const [template] = Array.isArray(tileJson.tiles) ? tileJson.tiles : []
  if (typeof template !== 'string') throw notDescribed()
  return { uri: absolute(template, at), description: descriptionOf(tileJson) }
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

function firstVectorSource(sources: Json): Json {
  const found = Object.values(sources).find((source) => isObject(source) && source.type === 'vector')
  if (!isObject(found)) throw notDescribed()
  return found
}

async function readJson(address: string, fetch: Fetch): Promise<Json> {
  const { status, body } = await fetch(address, {
    headers: { accept: 'application/json' },
    timeoutMs: fetchTimeoutMs,
    maxBytes,
  })
  if (status !== 200) throw new ApiError('upstream_failed', `The server of the tiles' description answered ${status}.`)
  return parseObject(body.toString())
}

/** Placeholders stay as they are. */
const absolute = (text: string, base: string): string =>
  URL.canParse(text, base) ? new URL(text, base).href.replaceAll(/%7B/gi, '{').replaceAll(/%7D/gi, '}') : text

function descriptionOf(tileJson: Json): Partial<ArchiveInfo> {
  const { minzoom, maxzoom, bounds, center, vector_layers: layers } = tileJson
  const [minZoom, maxZoom] = [zoomOf(minzoom), zoomOf(maxzoom)]
  const box = Array.isArray(bounds) ? boundsOf(bounds.map(Number)) : undefined
  const middle = Array.isArray(center) ? centerOf(center.map(Number)) : undefined
  return {
    ...textsOf(tileJson),
    ...(minZoom !== undefined && { minZoom }),
    ...(maxZoom !== undefined && { maxZoom }),
    ...(box && { bounds: box }),
    ...(middle && { center: middle }),
    ...(Array.isArray(layers) && { vectorLayers: vectorLayersOf(layers) }),
    version: versionOf(JSON.stringify(tileJson)),
  }
}

const notDescribed = (): ApiError =>
  new ApiError('upstream_failed', 'The address is no TileJSON, and no style with a source of vector tiles.')
