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

function absoluteSource(source: SourceSpecification): SourceSpecification {
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
