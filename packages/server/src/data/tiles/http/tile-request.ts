// Parses tile requests and makes their cache keys.
import Type, { type TObject } from 'typebox'
import { keyParameter } from '../../../api/access/credentials.ts'
import { noQuery, type QueryTree, queryOf, refuseUnknown } from '../../../api/http/input/query-string.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import type { Tile } from '../mvt/projection.ts'

export const extensions = ['mvt', 'pbf', 'geojson', 'png', 'jpg', 'jpeg', 'webp', 'avif'] as const
export type Extension = (typeof extensions)[number]

/** The parameters of a tile besides its coordinates. */
export type TileParameters = {
  readonly attributes?: readonly string[]
  readonly filter?: unknown
  /** The language of the filter, if it is not our own grammar. */
  readonly 'filter-lang'?: string
  /** The period that the rows' time meets. */
  readonly time?: string
  readonly limit?: number
  /** The cells that the rows are counted by, and what else is told of them. */
  readonly aggregate?: string
  readonly value?: readonly string[]
}

export type TileRequest = {
  readonly tile: Tile
  readonly extension: Extension
  readonly parameters: TileParameters
  /** The whole query string. */
  readonly tree: QueryTree
  /** `Accept-Encoding`. */
  readonly accept: string | undefined
}

const highestZoom = 30

/** Validates the coordinates locally: non-numbers and tiles outside the grid are 400. */
export function readTile({ z = '', x = '', y = '' }: Readonly<Record<string, string>>): Tile {
  const zoom = wholeNumber('z', z)
  if (zoom > highestZoom) throw invalid('path/z', `must be from 0 to ${highestZoom}`)
  const tile = { z: zoom, x: wholeNumber('x', x), y: wholeNumber('y', y) }
  const size = 2 ** zoom
  if (tile.x >= size) throw invalid('path/x', `must be from 0 to ${size - 1} at zoom ${zoom}`)
  if (tile.y >= size) throw invalid('path/y', `must be from 0 to ${size - 1} at zoom ${zoom}`)
  return tile
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw invalid(`path/${name}`, `must be a whole number, not "${text.slice(0, 40)}"`)
  return Number(text)
}

export function readExtension(text: string): Extension {
  const form = extensions.find((extension) => extension === text.toLowerCase())
  if (!form)
    throw new ApiError('not_found', `There are no "${text.slice(0, 20)}" tiles. Allowed: ${extensions.join(', ')}.`)
  return form
}

/** The data version in a tile's URL. No parameter of a dataset can have this name. */
export const versionParameter = 'tile-version'

const maxText = 200
const text = (description: string) => Type.Optional(Type.String({ maxLength: maxText, description }))

/** Parameters that only vary the URL for caches and do not change the tile. */
export const cacheParameters = {
  [versionParameter]: text('The version of the data, as the TileJSON says it: the tile may then be kept for an hour'),
  v: text('Ignored: a version, for caches'),
  _: text('Ignored: for caches'),
}

/** The version that a request names, unless it is refused for its length anyway. */
export function namedVersion({ [versionParameter]: version }: QueryTree): string | undefined {
  return typeof version === 'string' && version.length <= maxText ? version : undefined
}

/** Whether a query string holds nothing but a key and valid parameters for caches. */
export function variesAddressOnly(tree: QueryTree): boolean {
  if (tree === noQuery) return true
  for (const name in tree) {
    const { [name]: value } = tree
    const isShort = typeof value === 'string' && value.length <= maxText
    if (!isShort || !(Object.hasOwn(cacheParameters, name) || name === keyParameter)) return false
  }
  return true
}

/**
 * Validates the query string, without the cache parameters. Parameters unknown to both the tile and the dataset are
 * 400.
 */
export function readQuestion(tree: QueryTree, declared: TObject, own: ReadonlySet<string> = none): QueryTree {
  if (tree === noQuery) return tree
  refuseUnknown(tree, declared, own)
  const isForCaches = (name: string) => (name === 'v' || name === '_') && !own.has(name)
  if (!Object.keys(tree).some(isForCaches)) return tree
  return Object.fromEntries(Object.entries(tree).filter(([name]) => !isForCaches(name)))
}

const none: ReadonlySet<string> = new Set()

/** Not part of a tile's identity. */
const apart = new Set(['api-key', 'explain', versionParameter])

/** The rest of the query string, to be repeated in other URLs. */
export function restOf(address: string): string {
  return queryOf(address)
    .split('&')
    .filter((pair) => pair !== '' && !apart.has(nameOf(pair)))
    .join('&')
}

function nameOf(pair: string): string {
  const name = pair.split('=', 1)[0] ?? ''
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** A cache key: equal for all requests of the same tile, however they are written. */
export function requestKey({ z, x, y }: Tile, extension: Extension, tree: QueryTree): string {
  const form = extension === 'geojson' ? 'geojson' : ''
  return `${z}/${x}/${y} ${form} ${questionKey(tree)}`
}

/** A cache key: equal for all tiles requested with the same parameters. */
export function questionKey(tree: Readonly<Record<string, unknown>>): string {
  if (tree === noQuery) return ''
  const entries = Object.entries(tree).filter(([name]) => !apart.has(name))
  return entries.length === 0 ? '' : canonical(Object.fromEntries(entries))
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(',')}}`
}
