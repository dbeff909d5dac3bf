type Style = Readonly<Record<string, unknown>>

export type StyleLinks = {
  readonly base: string
  /** Added to the addresses that need one. */
  readonly key: string | undefined
  /** The application, if it has streets of its own below its maps. */
  readonly basemapOf?: string | undefined
}

/** Makes the URLs of a style absolute, because maps do not load relative ones. */
export function absoluteStyle(style: Style, { base, key, basemapOf }: StyleLinks): Style {
  const absolute = (url: unknown): unknown => (isServerPath(url) ? withKey(`${base}${url}`, key) : url)
  const { glyphs, sprite, sources } = style
  return {
    ...style,
    ...(glyphs !== undefined && { glyphs: isServerPath(glyphs) ? `${base}${glyphs}` : glyphs }),
    ...(sprite !== undefined && { sprite: spriteOf(sprite, base) }),
    ...(isObject(sources) && {
      sources: Object.fromEntries(
        Object.entries(sources).map(([id, source]) => [id, absoluteSource(ofBasemap(source, basemapOf), absolute)]),
      ),
    }),
  }
}

const isObject = (value: unknown): value is Style =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A path on this server; `//host/path` is another one. */
const isServerPath = (url: unknown): url is string => typeof url === 'string' && /^\/(?!\/)/.test(url)

const basemapUrl = '/tiles/basemap/index.json'

/** The base map says itself who made it, which depends on the streets that are set. */
function ofBasemap(source: unknown, application: string | undefined): unknown {
  if (!isObject(source) || source.url !== basemapUrl) return source
  const { attribution: _, ...rest } = source
  return { ...rest, url: application ? `${basemapUrl}?application=${application}` : basemapUrl }
}

function absoluteSource(source: unknown, absolute: (url: unknown) => unknown): unknown {
  if (!isObject(source)) return source
  const { url, tiles, data } = source
  return {
    ...source,
    ...(url !== undefined && { url: absolute(url) }),
    ...(Array.isArray(tiles) && { tiles: tiles.map(absolute) }),
    ...(typeof data === 'string' && { data: absolute(data) }),
  }
}

/** One sprite, or several with names. */
function spriteOf(sprite: unknown, base: string): unknown {
  if (isServerPath(sprite)) return `${base}${sprite}`
  if (!Array.isArray(sprite)) return sprite
  return sprite.map((item) =>
    isObject(item) && isServerPath(item.url) ? { ...item, url: `${base}${item.url}` } : item,
  )
}

/** The base map, fonts and sprites are public; a key in their URL would only leak. */
const isPublic = (url: string): boolean => /\/(tiles\/basemap|fonts|sprites)\//.test(url)

function withKey(url: string, key: string | undefined): string {
  if (key === undefined || isPublic(url) || /[?&]api-key=/.test(url)) return url
  return `${url}${url.includes('?') ? '&' : '?'}api-key=${encodeURIComponent(key)}`
}
