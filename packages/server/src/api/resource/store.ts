import { jittered, linear, poll } from '../../kernel/concurrency/retry.ts'
import type { Queryable, Row } from '../../kernel/db/db.ts'
import { and, ident, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { denied, type Scope } from '../access/acl.ts'
import type { Secrets } from '../access/secrets/secrets.ts'
import { aboutColumns, markWritten, noteRecord, noteShown, withoutSecrets, writeIn, writeNow } from './audited-write.ts'
import { rethrowRefusal, rethrowWriteRefusal } from './constraint-errors.ts'
import type { ListQuery } from './list-query.ts'
import { absent, one, reach, table, viewFor } from './reach.ts'
import { type Removal, removeWith } from './removal.ts'
import type { BaseServices, Entity, Resource, Store, View } from './resource.ts'
import { readRow, readText, type SerializedEntity, type StoredEntity, selection, shownAs, toColumns } from './rows.ts'

/** `If-Match`: any of these revisions, or any at all. */
export type ExpectedRevision = 'any' | readonly string[]

export function listEntities(store: Store, scope: Scope, query: ListQuery): Promise<Page<StoredEntity>> {
  return listBy(store, scope, query, 'columns', readRow)
}

/** The same, serialized. */
export function listTexts(store: Store, scope: Scope, query: ListQuery): Promise<Page<SerializedEntity>> {
  return listBy(store, scope, query, 'texts', readText)
}

type Page<T> = { page: T[]; total: number }
type ReadEntity<T> = (resource: Resource, row: Row, secrets: Secrets, names?: readonly string[]) => T

async function listBy<T>(
  store: Store,
  scope: Scope,
  query: ListQuery,
  form: 'columns' | 'texts',
  read: ReadEntity<T>,
): Promise<Page<T>> {
  const { db, resource, secrets } = partsOf(store)
  const view = await viewFor(store, scope)
  const where = and([query.where, reach(resource, scope, view)])
  const rows = await db.query(sql`
    SELECT ${selection(resource, query.fields, view?.columns)[form]} FROM ${table(resource)} WHERE ${where}
    ORDER BY ${query.order} LIMIT ${query.limit} OFFSET ${query.offset}`)
  noteShown(scope, resource, rows)
  const page = rows.map((row) => read(resource, row, secrets, query.fields))
  // A page that is not full tells the total; only otherwise is counting worth a query.
  if (rows.length < query.limit && (rows.length > 0 || query.offset === 0)) {
    return { page, total: query.offset + rows.length }
  }
  const [count] = await db.query(sql`SELECT count(*) AS total FROM ${table(resource)} WHERE ${where}`)
  return { page, total: Number(count?.total) }
}

/** The stored values, without the view of the caller, to compute a change from. */
async function getStored(store: Store, scope: Scope, id: string, view: View | undefined): Promise<StoredEntity> {
  const { db, resource, secrets } = partsOf(store)
  const where = one(resource, scope, id, view)
  const [row] = await db.query(sql`SELECT ${selection(resource).columns} FROM ${table(resource)} WHERE ${where}`)
  if (!row) throw absent(resource)
  return readRow(resource, row, secrets)
}

/** A record as it is stored, whatever its resource shows of it to this caller. */
export async function getWhole(store: Store, scope: Scope, id: string): Promise<StoredEntity> {
  const stored = await getStored(store, scope, id, await viewFor(store, scope))
  if (scope.trail) noteRecord(scope.trail, stored.entity)
  return stored
}

export async function getEntity(
  store: Store,
  scope: Scope,
  id: string,
  fields?: readonly string[],
): Promise<StoredEntity> {
  const stored = await getBy(store, scope, id, 'columns', readRow, fields)
  if (scope.trail) noteRecord(scope.trail, stored.entity)
  return stored
}

/** The same, serialized. */
export async function getText(
  store: Store,
  scope: Scope,
  id: string,
  fields?: readonly string[],
): Promise<SerializedEntity> {
  return getBy(store, scope, id, 'texts', readText, fields)
}

async function getBy<T>(
  store: Store,
  scope: Scope,
  id: string,
  form: 'columns' | 'texts',
  read: ReadEntity<T>,
  fields?: readonly string[],
): Promise<T> {
  const { db, resource, secrets } = partsOf(store)
  const view = await viewFor(store, scope)
  const where = one(resource, scope, id, view)
  const { [form]: wanted } = selection(resource, fields, view?.columns)
  const [row] = await db.query(sql`SELECT ${wanted} FROM ${table(resource)} WHERE ${where}`)
  if (!row) throw absent(resource)
  noteShown(scope, resource, [row])
  return read(resource, row, secrets, fields)
}

/** The records within reach whose `column` holds one of `keys`, each with that key, for a join. */
export async function findEntities(
  store: Store,
  scope: Scope,
  column: string,
  keys: Sql,
): Promise<{ key: string; entity: Entity }[]> {
  const { db, resource, secrets } = partsOf(store)
  const view = await viewFor(store, scope)
  const where = and([sql`${ident(column)} = ANY(${keys})`, reach(resource, scope, view)])
  const shown = { ...view, columns: { ...view?.columns, ...withoutSecrets(resource) } }
  const rows = await db.query(sql`
    SELECT ${columns(resource, shown)}, ${ident(column)}::text AS join_key FROM ${table(resource)} WHERE ${where}
    ORDER BY created_at, ${ident(resource.identity.column)}`)
  return rows.map((row) => ({ key: String(row.join_key), entity: readRow(resource, row, secrets).entity }))
}

/** Makes what belongs to a new record, in its transaction, and answers what the caller is shown of it. */
export type Addition<S extends BaseServices> = (tx: Queryable, entity: Entity, services: S) => Promise<Entity>

export async function insertEntity<S extends BaseServices>(
  store: Store<S>,
  scope: Scope,
  applicationId: string,
  values: Entity,
  add?: Addition<S>,
): Promise<StoredEntity> {
  const { db, resource, secrets } = partsOf(store)
  const { ownerColumn, tenantColumn, identity } = resource
  const row = new Map(Object.entries(toColumns(resource, values)))
  for (const [column, value] of Object.entries(identity.generate(secrets))) row.set(column, sql`${value}`)
  if (tenantColumn !== 'id') row.set(tenantColumn, sql`${applicationId}::uuid`)
  if (scope.ownerId !== null) {
    if (!ownerColumn) throw denied(`A key of type user cannot create a ${resource.title}.`)
    row.set(ownerColumn, sql`${scope.ownerId}`)
  }
  const names = [...row.keys()].map((column) => ident(column))
  const view = await viewFor(store, scope)
  const insertion = sql`INSERT INTO ${table(resource)} (${joinSql(names, ', ')})
    VALUES (${joinSql([...row.values()], ', ')})`
  const insert = async (on: Queryable): Promise<StoredEntity> => {
    const [inserted] = await writeIn(on, store, scope, insertion, columns(resource, view)).catch(rethrowWriteRefusal)
    return readRow(resource, inserted as Row, secrets)
  }
  const stored = add ? await db.transaction((tx) => insertWith(tx, insert, add, store.services)) : await insert(db)
  markWritten(scope, 1)
  return stored
}

async function insertWith<S extends BaseServices>(
  tx: Queryable,
  insert: (on: Queryable) => Promise<StoredEntity>,
  add: Addition<S>,
  services: S,
): Promise<StoredEntity> {
  const stored = await insert(tx)
  return { ...stored, entity: { ...stored.entity, ...(await add(tx, stored.entity, services)) } }
}

/**
 * Optimistic concurrency: reads the record, lets `change` compute the new one, and writes it if nobody else wrote in
 * between; otherwise it retries. No lock is held while `change` runs.
 */
export async function changeEntity(
  store: Store,
  scope: Scope,
  id: string,
  expected: ExpectedRevision,
  change: (current: Entity) => Promise<Entity>,
): Promise<StoredEntity> {
  const { db, resource, secrets } = partsOf(store)
  return untilWritten(async () => {
    const view = await viewFor(store, scope)
    const current = await getStored(store, scope, id, view)
    if (expected !== 'any' && !expected.includes(current.revision)) throw changedMeanwhile()
    const values = toColumns(resource, await change(current.entity))
    const assignments = Object.entries(values).map(([column, value]) => sql`${ident(column)} = ${value}`)
    const where = and([one(resource, scope, id, view), atRevision([current.revision])])
    const update = sql`UPDATE ${table(resource)} SET ${joinSql([...assignments, touched], ', ')} WHERE ${where}`
    const [row] = await writeNow(db, store, scope, update, columns(resource, view)).catch(rethrowWriteRefusal)
    if (!row) return undefined
    changed(store)
    return readRow(resource, row, secrets)
  })
}

/** Optimistic concurrency: `write` says by undefined that somebody else wrote in between, and is then called again. */
export async function untilWritten<T>(write: () => Promise<T | undefined>): Promise<T> {
  const stored = await poll(write, { tries: 50, pauseMs: jittered(linear(5)) })
  if (stored !== undefined) return stored
  throw new ApiError('conflict', 'Too many others are writing this record. Try again.')
}

/** Deletes a record, with what its resource says goes with it. */
export async function removeEntity<S extends BaseServices>(
  store: Store<S>,
  scope: Scope,
  id: string,
  expected: ExpectedRevision,
  removal?: Removal<S>,
  query: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { db, resource } = partsOf(store)
  const view = await viewFor(store, scope)
  const entity = removal ? (await getStored(store, scope, id, view)).entity : {}
  const removing = await removal?.prepare({ entity, query, scope }, store.services)
  const where = and([one(resource, scope, id, view), atRevision(expected)])
  const remove = async (on: Queryable): Promise<number> =>
    (await writeIn(on, store, scope, sql`DELETE FROM ${table(resource)} WHERE ${where}`, aboutColumns(resource))).length
  const removed = removing
    ? await removeWith(db, sql`SELECT FROM ${table(resource)} WHERE ${where} FOR UPDATE`, remove, removing)
    : { count: await remove(db).catch(rethrowRefusal) }
  markWritten(scope, removed.count)
  if (removed.count === 0) await explainMiss(store, scope, id)
  changed(store)
  await removed.finish?.()
}

const columns = (resource: Resource, view: View | undefined): Sql =>
  selection(resource, undefined, view?.columns).columns

const partsOf = ({ resource, services: { db, secrets } }: Store) => ({ resource, db, secrets })

/** Computes the new value of a JSON column from the old one in one statement, so that no update is lost. */
export async function updateJson(
  store: Store,
  scope: Scope,
  id: string,
  expected: ExpectedRevision,
  { column, next }: { column: string; next: Sql },
): Promise<JsonStored> {
  const { db, resource } = partsOf(store)
  const view = await viewFor(store, scope)
  const update = sql`UPDATE ${table(resource)} SET ${ident(column)} = ${next}, ${touched}
    WHERE ${and([one(resource, scope, id, view), atRevision(expected)])}`
  const returning = sql`${shownAs(column, view?.columns)} AS value, revision, ${aboutColumns(resource)}`
  const [row] = await writeNow<JsonStored>(db, store, scope, update, returning).catch(rethrowRefusal)
  if (!row) return explainMiss(store, scope, id)
  changed(store)
  return row
}

export type JsonStored = { value: Entity; revision: string }

/** A dry run: the JSON column as stored and as `next` would make it, with its revision. */
export async function foreseeJson(
  store: Store,
  scope: Scope,
  id: string,
  expected: ExpectedRevision,
  { column, next }: { column: string; next: Sql },
): Promise<{ before: Entity; after: Entity; revision: string; applicationId: string }> {
  const { db, resource } = partsOf(store)
  const where = and([one(resource, scope, id, await viewFor(store, scope)), atRevision(expected)])
  const [row] = await db
    .query<{ before: Entity; after: Entity; revision: unknown; applicationId: string }>(
      sql`SELECT ${ident(column)} AS before, ${next} AS after, revision, ${ident(resource.tenantColumn)} AS "applicationId"
          FROM ${table(resource)} WHERE ${where}`,
    )
    .catch(rethrowRefusal)
  return row ? { ...row, revision: String(row.revision) } : explainMiss(store, scope, id)
}

const changed = ({ resource, services }: Store): void => services.generations.next(resource)

/** The JSON value that an expression finds in a record, or 404. */
export async function readJson(store: Store, scope: Scope, id: string, column: string, value: Sql): Promise<unknown> {
  const { db, resource } = partsOf(store)
  const view = await viewFor(store, scope)
  const where = one(resource, scope, id, view)
  const seen = shownAs(column, view?.columns)
  const [row] = await db.query(sql`
    SELECT value, value IS NOT NULL AS present FROM (
      SELECT ${value} AS value FROM (SELECT ${seen} AS ${ident(column)} FROM ${table(resource)} WHERE ${where}) s) v`)
  if (!row) throw absent(resource)
  if (!row.present) throw new ApiError('not_found', 'There is no such key.')
  return row.value
}

/** Explains why no row changed: the record is absent (404), or at another revision (412). */
async function explainMiss(store: Store, scope: Scope, id: string): Promise<never> {
  await getEntity(store, scope, id, ['id'])
  throw changedMeanwhile()
}

const atRevision = (expected: ExpectedRevision): Sql =>
  expected === 'any' ? raw('TRUE') : sql`revision = ANY(${expected}::bigint[])`

/** The columns that every update sets. */
export const touched = raw("revision = revision + 1, updated_at = date_trunc('milliseconds', clock_timestamp())")

const changedMeanwhile = (): ApiError =>
  new ApiError('precondition_failed', 'The record has changed since the revision in If-Match. Read it again.')
