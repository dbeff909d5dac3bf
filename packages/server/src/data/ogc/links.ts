// Links between the resources of /ogc. All are absolute, because clients do not resolve others, and each says its type.
import { keyParameter } from '../../api/access/credentials.ts'
import type { QueryTree } from '../../api/http/input/query-string.ts'

export type Link = {
  readonly href: string
  readonly rel: string
  readonly type?: string
  readonly title?: string
  readonly templated?: true
}

/** The address of the landing page, and the key that came in the request's address, to be carried in every link. */
export type Root = { readonly url: string; readonly key: string | undefined }

export const mediaTypes = {
  json: 'application/json',
  geojson: 'application/geo+json',
  mergePatch: 'application/merge-patch+json',
  html: 'text/html',
  schema: 'application/schema+json',
  openApi: 'application/vnd.oai.openapi+json;version=3.0',
  vectorTile: 'application/vnd.mapbox-vector-tile',
} as const

/** Relations that OGC defines, by their last part. */
export const ogcRelation = (name: string): string => `http://www.opengis.net/def/rel/ogc/1.0/${name}`

export const rootOf = (baseUrl: string, { [keyParameter]: key }: QueryTree): Root => ({
  url: `${baseUrl}/ogc`,
  key: typeof key === 'string' ? key : undefined,
})

type Parameters = Readonly<Record<string, string | number | undefined>>

/** An address below the landing page. The path is already percent-encoded. */
export function addressOf({ url, key }: Root, path: string, parameters: Parameters = {}): string {
  const pairs = Object.entries({ ...parameters, [keyParameter]: key }).filter(([, value]) => value !== undefined)
  const query = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
  return `${url}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`
}

/** The links of a resource to itself and to its other form: `json` is the type of the one for programs. */
export function selfLinks(
  address: (form?: 'json' | 'html') => string,
  form: 'json' | 'html',
  json: string = mediaTypes.json,
): Link[] {
  const asJson = { href: address('json'), type: json, title: 'This resource as JSON' }
  const asHtml = { href: address('html'), type: mediaTypes.html, title: 'This resource as a page' }
  const [own, other] = form === 'json' ? [asJson, asHtml] : [asHtml, asJson]
  return [
    { ...own, rel: 'self' },
    { ...other, rel: 'alternate' },
  ]
}

/** A link to the form of a resource for programs, and one to its page. The first has no `f`: GDAL puts ids behind it. */
export const bothForms = (root: Root, path: string, rel: string, json: string, title: string): Link[] => [
  { href: addressOf(root, path), rel, type: json, title },
  { href: addressOf(root, path, { f: 'html' }), rel, type: mediaTypes.html, title },
]
