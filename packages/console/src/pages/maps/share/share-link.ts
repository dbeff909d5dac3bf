/** Shares a map: an API key that can only show this map, and the URL that contains it. */
import type { ApiKey, ApiKeyCreate } from '@graticule/client'

/** A link, or a page of code with the key in it. */
export type ShareUse = 'link' | 'code'

export interface ShareOptions {
  use: ShareUse
  styleId: string
  name: string
  /** The tile sources of the map. */
  tileSourceIds: readonly string[]
  /** The datasets that it draws without a tile source. */
  datasetIds: readonly string[]
  allowedOrigins: readonly string[]
  expiresAt: string | null
}

/** The minimal permissions: the style, its tiles, and datasets without a tile source. */
export function shareKey({
  use,
  styleId,
  name,
  tileSourceIds,
  datasetIds,
  allowedOrigins,
  expiresAt,
}: ShareOptions): ApiKeyCreate {
  const tiles = [...tileSourceIds, ...datasetIds]
  return {
    type: 'app',
    description: `${use === 'code' ? 'Code' : 'Share'} of the map “${name}”`.slice(0, 255),
    permissions: {
      styles: { execute: [styleId] },
      ...(tiles.length > 0 && { tiles: { execute: tiles } }),
      ...(datasetIds.length > 0 && { datasets: { execute: [...datasetIds] } }),
    },
    metadata: { share: styleId, use },
    ...(allowedOrigins.length > 0 && { allowedOrigins: [...allowedOrigins] }),
    ...(expiresAt && { expiresAt }),
  }
}

export const isShareOf = ({ metadata }: Pick<ApiKey, 'metadata'>, styleId: string): boolean =>
  metadata.share === styleId

export const useOf = ({ metadata }: Pick<ApiKey, 'metadata'>): ShareUse => (metadata.use === 'code' ? 'code' : 'link')

/** The key is in the fragment, which browsers do not send. */
export const sharePath = (styleId: string, key: string): string => `share/${styleId}#key=${encodeURIComponent(key)}`

export function keyInFragment(fragment: string): string | null {
  return new URLSearchParams(fragment.replace(/^#/, '')).get('key')
}

export function frameSnippet(address: string, title: string): string {
  return `<iframe src="${escaped(address)}" title="${escaped(title)}" width="100%" height="480" style="border:0" loading="lazy" allow="fullscreen; geolocation"></iframe>`
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** Origins such as `https://maps.example.org`, one per line or separated by commas. */
export function readOrigins(text: string): { origins: string[]; fault: string | null } {
  const parts = text.split(/[\s,]+/).filter(Boolean)
  const wrong = parts.find((part) => !/^https?:\/\/[^/]+$/.test(part))
  return {
    origins: parts,
    fault:
      wrong === undefined
        ? null
        : `“${wrong}” is not an origin. Write it like https://maps.example.org, without a path.`,
  }
}
