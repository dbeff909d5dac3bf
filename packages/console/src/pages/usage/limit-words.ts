/** The limits that an application may have, in words. */
import type { Usage } from '@graticule/client'
import { formatBytes, formatNumber } from '../../format.ts'

export type LimitName = keyof Usage['limits']

interface LimitWords {
  label: string
  /** What it limits, for whoever sets it. */
  hint: string
  /** The value of the field is divided by this. */
  unit: number
  format(value: number): string
}

const gigabyte = 1_000_000_000

const counted = (label: string, hint: string): LimitWords => ({ label, hint, unit: 1, format: formatNumber })

export const limitWords: Readonly<Record<LimitName, LimitWords>> = {
  storageBytes: {
    label: 'Storage',
    hint: 'Tables and files that it keeps, in GB. Uploads that would pass it are refused.',
    unit: gigabyte,
    format: formatBytes,
  },
  unfinishedUploads: counted('Unfinished uploads', 'Files that arrive, wait or are being loaded.'),
  uploadsPerHour: counted('Uploads per hour', 'Files that are sent to it.'),
  queriesAtOnce: counted(
    'Queries at once',
    'Queries of datasets that run or are being read, in each replica. It can only be lowered.',
  ),
  requestsPerSecond: counted(
    'Requests per second',
    'Of each key; a tile counts a fifth, a query four. Twice as many may come at once.',
  ),
  applicationConnections: counted('Connections', 'Open connections of its clients, in each replica.'),
  sessionsPerUser: counted('Sessions of a user', 'One more ends the oldest.'),
  messagesPerMinute: counted('Messages per minute', 'To its contact points.'),
}

export const limitNames = Object.keys(limitWords) as LimitName[]

/** "10 GB", or "none". */
export const limitText = (name: LimitName, value: number | null): string =>
  value === null ? 'none' : limitWords[name].format(value)

export type LimitDraft = Readonly<Record<LimitName, string>>

export const draftOf = (own: { readonly [name in LimitName]?: number }): LimitDraft =>
  Object.fromEntries(
    limitNames.map((name) => [name, own[name] === undefined ? '' : String(own[name] / limitWords[name].unit)]),
  ) as LimitDraft

/** A merge patch of the limits: what was changed, and null where the installation's shall hold again. */
export function patchOf(before: LimitDraft, after: LimitDraft): { [name in LimitName]?: number | null } {
  return Object.fromEntries(
    limitNames
      .filter((name) => before[name].trim() !== after[name].trim())
      .map((name) => [
        name,
        after[name].trim() === '' ? null : Math.round(Number(after[name]) * limitWords[name].unit),
      ]),
  )
}

/** Null if it can be sent. */
export function faultOfLimit(name: LimitName, text: string): string | null {
  if (text.trim() === '') return null
  const value = Number(text) * limitWords[name].unit
  if (!(value >= 1 && value <= Number.MAX_SAFE_INTEGER)) return 'Must be a number above 0, or empty.'
  return limitWords[name].unit === 1 && !Number.isInteger(value) ? 'Must be a whole number.' : null
}
