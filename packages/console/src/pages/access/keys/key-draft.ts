/** The draft of a new key: the form's values, presets, and the request that creates the key. */
import type { ApiKey, ApiKeyCreate } from '@graticule/client'
import {
  developerPermissions,
  isFormerPublic,
  publicPermissions,
} from '../../../../../server/src/api/access/first-permissions.ts'
import { grantEqually, type Permissions } from '../../../../../server/src/api/access/grants.ts'

export interface KeyDraft {
  description: string
  type: ApiKey['type']
  /** For keys of type `user`. */
  userId: string
  permissions: Permissions
  expiry: Expiry
  /** For `expiry` "date": the value of the `datetime-local` field. */
  expiresOn: string
  origins: readonly string[]
}

export type Expiry = 'never' | '7' | '30' | '90' | '365' | 'date'

export const emptyDraft: KeyDraft = {
  description: '',
  type: 'app',
  userId: '',
  permissions: publicPermissions,
  expiry: 'never',
  expiresOn: '',
  origins: [],
}

/** A draft with the properties of an existing key. */
export const draftOf = (key: ApiKey): KeyDraft => ({
  description: key.description,
  type: key.type,
  userId: key.userId === null ? '' : String(key.userId),
  permissions: key.permissions,
  expiry: key.expiresAt === null ? 'never' : 'date',
  expiresOn: key.expiresAt === null ? '' : localTime(new Date(key.expiresAt)),
  origins: key.allowedOrigins ?? [],
})

/** The format of `datetime-local`: local time, without a zone. */
function localTime(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}

const dayMs = 86_400_000

export function expiresAt({ expiry, expiresOn }: KeyDraft, now: number = Date.now()): string | null {
  if (expiry === 'never') return null
  if (expiry !== 'date') return new Date(now + Number(expiry) * dayMs).toISOString()
  return Number.isNaN(Date.parse(expiresOn)) ? null : new Date(expiresOn).toISOString()
}

export const requestOf = (draft: KeyDraft): ApiKeyCreate => ({
  description: draft.description.trim(),
  type: draft.type,
  permissions: structuredClone(draft.permissions) as ApiKeyCreate['permissions'],
  expiresAt: expiresAt(draft),
  allowedOrigins: draft.origins.length > 0 ? [...draft.origins] : null,
  ...(draft.type === 'user' && { userId: draft.userId }),
})

export type Preset = 'public' | 'developer' | 'map' | 'custom'

/** The preset that has these permissions, if any. */
export function presetOf(permissions: Permissions): Preset {
  if (grantEqually(permissions, publicPermissions)) return 'public'
  return grantEqually(permissions, developerPermissions) ? 'developer' : 'custom'
}

export const presetPermissions = { public: publicPermissions, developer: developerPermissions }

/** Whether it may do what the public keys of earlier versions may, which is more than pages need. */
export const isFormerPublicKey = ({ type, permissions }: Pick<ApiKey, 'type' | 'permissions'>): boolean =>
  type === 'app' && isFormerPublic(permissions)

/** The draft of a key that replaces one of those: with another name, so that both can be told apart in the list. */
export const narrowDraftOf = (key: ApiKey): KeyDraft => ({
  ...draftOf(key),
  description: key.description === formerPublicName ? publicName : `${key.description} (narrow)`.trim(),
  permissions: publicPermissions,
})

const formerPublicName = 'Public key: read and execute, for web pages'
const publicName = 'Public key: reads and queries data and shows maps, for web pages'

/** Parses an origin into the form that browsers send. */
export function readOrigin(text: string): { value: string } | { fault: string } {
  const trimmed = text.trim()
  const example = 'An origin is such as https://maps.example.org: scheme and host, with a port if there is one.'
  if (!/^https?:\/\//i.test(trimmed) || !URL.canParse(trimmed)) return { fault: example }
  const { origin, username, hostname } = new URL(trimmed)
  return username !== '' || hostname.includes('*') ? { fault: example } : { value: origin }
}

/**
 * The permissions for showing one map: its style, and the tiles and datasets of its sources. Tiles of a dataset need both.
 */
export function mapPermissions(styleId: string, style: unknown, datasetIds: ReadonlySet<string>): Permissions {
  const tiles = new Set<string>()
  const datasets = new Set<string>()
  for (const address of addressesOf(style)) {
    const tile = /\/tiles\/([^/?#]+)\//.exec(address)?.[1]
    const queried = /\/api\/v1\/datasets\/([^/?#]+)\/query/.exec(address)?.[1]
    if (queried) datasets.add(queried)
    if (!tile || tile === 'basemap') continue
    tiles.add(tile)
    if (datasetIds.has(tile)) datasets.add(tile)
  }
  return {
    styles: { execute: [styleId] },
    ...(tiles.size > 0 && { tiles: { execute: [...tiles] } }),
    ...(datasets.size > 0 && { datasets: { execute: [...datasets] } }),
  }
}

function addressesOf(style: unknown): string[] {
  const { sources = {} } = style as { sources?: Record<string, { url?: string; tiles?: string[]; data?: unknown }> }
  return Object.values(sources)
    .flatMap(({ url, tiles, data }) => [url, ...(tiles ?? []), data])
    .filter((address) => typeof address === 'string')
}
