import type { Scope } from '../../api/access/acl.ts'
import { isUuid } from '../../api/access/credentials.ts'
import type { Entity } from '../../api/resource/resource.ts'
import { isShown } from '../../api/resource/resource.ts'
import { type SelectList, shownAs } from '../../api/resource/rows.ts'
import type { Queryable, Row } from '../../kernel/db/db.ts'
import { and, ident, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { invalid } from '../../kernel/errors.ts'
import { auditEntry } from './audit-entry.ts'

/** The place of an entry in the log: the next page begins behind it (keyset paging). */
export type AuditPosition = { readonly at: Date; readonly id: string }

export type AuditQuery = {
  readonly fields: readonly string[] | undefined
  readonly where: Sql
  readonly isAscending: boolean
  readonly limit: number
  readonly after: AuditPosition | undefined
}

export type AuditPage = { readonly entries: Entity[]; readonly next: AuditPosition | undefined }

/** Operators' addresses are no business of tenants. */
export function shownTo({ caller }: Scope): SelectList {
  if (caller.type === 'master') return {}
  const unlessOperator = (column: string): Sql =>
    sql`(CASE WHEN actor_type NOT IN ('master', 'command') THEN ${ident(column)} END)`
  return { address: unlessOperator('address'), user_agent: unlessOperator('user_agent') }
}

/** A page of the log, and where the next one begins. One entry more than asked for is read, to know whether there is one. */
export async function readAudit(
  db: Queryable,
  scope: Scope,
  { fields, where, isAscending, limit, after }: AuditQuery,
): Promise<AuditPage> {
  const direction = raw(isAscending ? 'ASC' : 'DESC')
  const comparison = raw(isAscending ? '>' : '<')
  const behind = after ? sql`(at, id) ${comparison} (${after.at}::timestamptz, ${after.id}::uuid)` : raw('TRUE')
  const shown = shownTo(scope)
  const wanted = Object.entries(auditEntry.fields).filter(
    ([name, field]) => isShown(field) && (fields?.includes(name) ?? true),
  )
  const columns = wanted.map(([, { column }]) => sql`${shownAs(column, shown)} AS ${ident(column)}`)
  const rows = await db.query<Row & { entry_at: Date; entry_id: string }>(sql`
    SELECT ${joinSql([raw('at AS entry_at'), raw('id AS entry_id'), ...columns], ', ')} FROM svc.audit
    WHERE ${and([reach(scope), where, behind])} ORDER BY at ${direction}, id ${direction} LIMIT ${limit + 1}`)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return {
    entries: rows
      .slice(0, limit)
      .map((row) => Object.fromEntries(wanted.map(([name, { column }]) => [name, plain(row[column])]))),
    next: last && { at: last.entry_at, id: last.entry_id },
  }
}

const plain = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value)

/** The ids of the scope are of applications. A key of type `user` reaches what its user did. */
const reach = ({ applicationId, ids, ownerId }: Scope): Sql =>
  and([
    ...(applicationId === 'any' ? [] : [sql`application_id = ${applicationId}::uuid`]),
    ...(ids === 'any' ? [] : [sql`application_id = ANY(${ids.filter(isUuid)}::uuid[])`]),
    ...(ownerId === null ? [] : [sql`user_id = ${ownerId}::bigint`]),
  ])

export const writeCursor = ({ at, id }: AuditPosition): string => `${at.getTime()}.${id}`

export function readCursor(text: string | undefined): AuditPosition | undefined {
  if (text === undefined || text === '') return undefined
  const [, at, id] = /^(\d{1,15})\.([\w-]{36})$/.exec(text) ?? []
  if (at === undefined || id === undefined || !isUuid(id))
    throw invalid('query/cursor', 'must be the cursor of a Link that this server gave; leave it out for the first page')
  return { at: new Date(Number(at)), id }
}
