/** Writes of records, each in one statement with its entry of the audit log. */

import type { Db, Queryable, Row } from '../../kernel/db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import type { Scope } from '../access/acl.ts'
import { type AboutRow, changeWithEntry, fingerprintSql, type Trail } from '../access/audit-trail.ts'
import type { Entity, Resource, Store } from './resource.ts'
import type { SelectList } from './rows.ts'

/** Runs a statement that changes one row of the resource. `change` ends before its RETURNING. */
export async function writeNow<R extends Row>(
  db: Db,
  store: Store,
  scope: Scope,
  change: Sql,
  returning: Sql,
): Promise<R[]> {
  const rows = await writeIn<R>(db, store, scope, change, returning)
  markWritten(scope, rows.length)
  return rows
}

/** The same in a transaction, after whose commit the entry is to be marked as written. */
export const writeIn = <R extends Row>(
  on: Queryable,
  { resource }: Store,
  { trail }: Scope,
  change: Sql,
  returning: Sql,
): Promise<R[]> => changeWithEntry<R>(on, trail, change, returning, aboutRow(resource))

export function markWritten({ trail }: Scope, count: number): void {
  if (trail && count > 0) trail.isWritten = true
}

const aboutRow = ({ identity, tenantColumn, fields }: Resource): AboutRow => ({
  applicationId: ident(tenantColumn),
  id: identity.sqlType === 'bytea' ? fingerprintSql(ident(identity.column)) : sql`${ident(identity.column)}::text`,
  name: fields.name && ident(fields.name.column),
})

/** The columns that the entry needs, for a statement that returns not the whole record. */
export const aboutColumns = ({ identity, tenantColumn, fields }: Resource): Sql => {
  const columns = new Set([identity.column, tenantColumn, ...(fields.name ? [fields.name.column] : [])])
  return joinSql(
    [...columns].map((column) => ident(column)),
    ', ',
  )
}

const secretColumns = ({ fields }: Resource): string[] =>
  Object.values(fields).flatMap(({ isSecret, column }) => (isSecret ? [column] : []))

/** What the log says of reading the records of a resource. */
export const auditOfReads = (resource: Resource): 'ifSecret' | undefined =>
  secretColumns(resource).length > 0 ? 'ifSecret' : undefined

/** Rows that are shown to the caller: where one holds a secret, the read has an entry. */
export function noteShown({ trail }: Scope, resource: Resource, rows: readonly Row[]): void {
  if (trail?.isMoot && secretColumns(resource).some((column) => rows.some((row) => row[column] != null)))
    trail.isMoot = false
}

/** Records that come by a join show no secrets: only reading them by themselves leaves an entry. */
export const withoutSecrets = (resource: Resource): SelectList =>
  Object.fromEntries(secretColumns(resource).map((column) => [column, raw('NULL::text')]))

/** A master key may name a record of any application: the entry is that application’s. */
export function noteRecord(trail: Trail, { id, applicationId, name }: Entity): void {
  if (typeof applicationId === 'string') trail.applicationId ??= applicationId
  if (typeof name === 'string' && trail.target.id === id) trail.target = { ...trail.target, name }
}
