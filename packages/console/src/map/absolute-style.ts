/** Makes the URLs of a style absolute: styles are stored with relative ones, which MapLibre does not load. */
import type { SourceSpecification, StyleSpecification } from 'maplibre-gl'
import { serverAddress } from '../address.ts'

export function absoluteStyle(style: StyleSpecification): StyleSpecification {
  const { glyphs, sprite, sources } = style
  return {
    ...style,
    ...(glyphs && { glyphs: absolute(glyphs) }),
    ...(typeof sprite === 'string' && { sprite: absolute(sprite) }),
    ...(Array.isArray(sprite) && { sprite: sprite.map((one) => ({ ...one, url: absolute(one.url) })) }),
    sources: Object.fromEntries(Object.entries(sources).map(([id, source]) => [id, absoluteSource(source)])),
  }
}

const baseMapUrl = '/tiles/basemap/index.json'

/** The base map's TileJSON says who made it, which depends on the streets that are set; a stored style knows only the bundled world. */
function unattributed(source: SourceSpecification): SourceSpecification {
  if (!('url' in source) || source.url !== baseMapUrl || !('attribution' in source)) return source
  const { attribution: _, ...rest } = source
  return rest as SourceSpecification
}

function absoluteSource(stored: SourceSpecification): SourceSpecification {
  const source = unattributed(stored)
  return {
    ...source,
    ...('url' in source && source.url && { url: absolute(source.url) }),
    ...('tiles' in source && source.tiles && { tiles: source.tiles.map(absolute) }),
    ...('data' in source && typeof source.data === 'string' && { data: absolute(source.data) }),
  } as SourceSpecification
}

/** Keeps the braces of URL templates, which URL would escape. */
const absolute = (address: string): string =>
  /^\/(?!\/)/.test(address) ? serverAddress('') + address.slice(1) : address
