/** The search parameters of the activity page, and the filter of the audit log that they make. */
import type { AuditEntry } from '@graticule/client'

const hourMs = 3_600_000
export const spans = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs, month: 30 * 24 * hourMs } as const
export type ActivitySpan = keyof typeof spans

/** Kinds of actions, by the ids of operations. */
export const actionGroups = {
  create: ['%.create'],
  change: ['%.patch', '%.replace', '%.merge', '%.set', '%.setKey', '%.deleteKey'],
  delete: ['%.delete'],
  account: ['auth.%'],
} as const
export type ActionGroup = keyof typeof actionGroups

export type ActorType = AuditEntry['actorType']
export const actorTypes = ['key', 'user', 'master', 'anonymous', 'command', 'system'] as const satisfies ActorType[]

export interface ActivitySearch {
  /** Letters of a record's name, or the whole of an id, an address or a request id. */
  q?: string
  since?: ActivitySpan
  /** Days of the user's own calendar, such as 2027-01-31, both included. */
  from?: string
  to?: string
  actor?: ActorType
  /** The fingerprint of an API key. */
  key?: string
  user?: number
  /** A group, or the id of one operation. */
  action?: string
  kind?: string
  record?: string
  address?: string
  outcome?: 'done' | 'refused'
  /** The cursor of the page. */
  after?: string
  /** The entry whose details are open. */
  entry?: string
}

const texts = ['q', 'key', 'action', 'kind', 'record', 'address', 'after', 'entry'] as const

/** Invalid parameters are ignored. */
export function readActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const { since, outcome, actor, user } = search
  const read = {
    ...Object.fromEntries(texts.map((name) => [name, textOf(search[name])])),
    from: dayOf(search.from),
    to: dayOf(search.to),
    since: typeof since === 'string' && Object.hasOwn(spans, since) ? since : undefined,
    actor: actorTypes.find((type) => type === actor),
    user: Number.isSafeInteger(user) ? user : undefined,
    outcome: outcome === 'done' || outcome === 'refused' ? outcome : undefined,
  }
  return withoutAbsent(read)
}

const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined

const dayOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined

/** Another filter begins at the newest entry again. */
export const withChanges = (search: ActivitySearch, changes: Partial<Record<keyof ActivitySearch, unknown>>) =>
  withoutAbsent({ ...search, after: undefined, entry: undefined, ...changes })

const withoutAbsent = (search: object): ActivitySearch =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))

export function isFiltered({ after: _, entry: __, ...filters }: ActivitySearch): boolean {
  return Object.keys(filters).length > 0
}

type Condition = Record<string, unknown>

/** Undefined where nothing is filtered. */
export function auditFilter(search: ActivitySearch, now: number): Condition | undefined {
  const { actor, key, user, kind, record, address, outcome } = search
  const conditions: Condition[] = [
    ...timeConditions(search, now),
    ...(actor ? [{ actorType: actor }] : []),
    ...(key ? [{ actorId: key }] : []),
    ...(user === undefined ? [] : [{ userId: user }]),
    ...actionConditions(search.action),
    ...(kind ? [{ targetType: kind }] : []),
    ...(record ? [{ targetId: record }] : []),
    ...(address ? [{ address }] : []),
    ...(outcome ? [{ status: outcome === 'done' ? { $lt: firstRefusal } : { $gte: firstRefusal } }] : []),
    ...textConditions(search.q?.trim()),
  ]
  return conditions.length > 0 ? { $and: conditions } : undefined
}

/** The status from which on a request was refused or failed. */
export const firstRefusal = 400

function timeConditions({ since, from, to }: ActivitySearch, now: number): Condition[] {
  const first = since ? now - spans[since] : from && dayStart(from, 0)
  const end = !since && to && dayStart(to, 1)
  return [
    ...(first ? [{ at: { $gte: new Date(first).toISOString() } }] : []),
    ...(end ? [{ at: { $lt: new Date(end).toISOString() } }] : []),
  ]
}

/** Midnight of the user's own time zone, so many days later. */
function dayStart(day: string, later: number): number {
  const start = new Date(`${day}T00:00`)
  return start.setDate(start.getDate() + later)
}

function actionConditions(action: string | undefined): Condition[] {
  if (action === undefined) return []
  if (!isGroup(action)) return [{ action }]
  return [{ $or: actionGroups[action].map((pattern) => ({ action: { $like: pattern } })) }]
}

export const isGroup = (action: string): action is ActionGroup => Object.hasOwn(actionGroups, action)

function textConditions(text: string | undefined): Condition[] {
  if (!text) return []
  const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
  const whole = ['targetId', 'requestId', 'address', 'actorId'].map((field) => ({ [field]: text }))
  return [{ $or: [{ targetName: { $iLike: pattern } }, ...whole] }]
}
