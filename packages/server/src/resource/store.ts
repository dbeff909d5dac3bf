import { setTimeout } from 'node:timers/promises'
import { denied, type Scope } from '../access/acl.ts'
import type { Db, Row } from '../db/db.ts'
import { and, ident, joinSql, json, raw, type Sql, sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import type { ListQuery } from './list-query.ts'
import { refusalOf, writeRefusalOf } from './refusal.ts'
import { removeWith } from './remove-with.ts'
import type { Entity, Resource } from './resource.ts'
import { readRow, readText, type Stored, selection, toColumns, type Views, viewOf, type Written } from './rows.ts'

/** Where the records of a resource are. Every function below demands a scope, and reaches nothing outside it. */
export type Store = { readonly db: Db; readonly resource: Resource }

/** `If-Match`: any of these revisions, or whatever there is. */
export type Expected = 'any' | readonly string[]

export function listEntities(store: Store, scope: Scope, query: ListQuery): Promise<Page<Stored>> {
  return listBy(store, scope, query, 'columns', readRow)
}

/** As above, but ready to be sent: for whoever does not look inside. */
export function listTexts(store: Store, scope: Scope, query: ListQuery): Promise<Page<Written>> {
  return listBy(store, scope, query, 'texts', readText)
}

type Page<T> = { page: T[]; total: number }
type Read<T> = (resource: Resource, row: Row, names?: readonly string[]) => T

async function listBy<T>(
  { db, resource }: Store,
  scope: Scope,
  query: ListQuery,
  form: 'columns' | 'texts',
  read: Read<T>,
): Promise<Page<T>> {
  const where = and([query.where, await reach(resource, scope)])
  const rows = await db.query(sql`
    SELECT ${selection(resource, query.fields, await viewsFor(resource, scope))[form]} FROM ${table(resource)} WHERE ${where}
    ORDER BY ${query.order} LIMIT ${query.limit} OFFSET ${query.offset}`)
  const page = rows.map((row) => read(resource, row, query.fields))
  // A page that is not full tells the total; only otherwise is counting worth a query.
  if (rows.length < query.limit && (rows.length > 0 || query.offset === 0)) {
    return { page, total: query.offset + rows.length }
  }
  const [count] = await db.query(sql`SELECT count(*) AS total FROM ${table(resource)} WHERE ${where}`)
  return { page, total: Number(count?.total) }
}

/** As it is, not as this caller sees it: to work out what becomes of it. */
async function getStored({ db, resource }: Store, scope: Scope, id: string): Promise<Stored> {
  const where = await one(resource, scope, id)
  const [row] = await db.query(sql`SELECT ${selection(resource).columns} FROM ${table(resource)} WHERE ${where}`)
  if (!row) throw absent(resource)
  return readRow(resource, row)
}

export async function getEntity(store: Store, scope: Scope, id: string, fields?: readonly string[]): Promise<Stored> {
  return getBy(store, scope, id, 'columns', readRow, fields)
}

/** As above, but ready to be sent: for whoever does not look inside. */
export async function getText(store: Store, scope: Scope, id: string, fields?: readonly string[]): Promise<Written> {
  return getBy(store, scope, id, 'texts', readText, fields)
}

async function getBy<T>(
  { db, resource }: Store,
  scope: Scope,
  id: string,
  form: 'columns' | 'texts',
  read: Read<T>,
  fields?: readonly string[],
): Promise<T> {
  const where = await one(resource, scope, id)
  const { [form]: wanted } = selection(resource, fields, await viewsFor(resource, scope))
  const [row] = await db.query(sql`SELECT ${wanted} FROM ${table(resource)} WHERE ${where}`)
  if (!row) throw absent(resource)
  return read(resource, row, fields)
}

/** The records within reach whose `column` holds one of `keys`, each with that key. */
export async function findEntities(
  { db, resource }: Store,
  scope: Scope,
  column: string,
  keys: Sql,
): Promise<{ key: string; entity: Entity }[]> {
  const where = and([sql`${ident(column)} = ANY(${keys})`, await reach(resource, scope)])
  const rows = await db.query(sql`
    SELECT ${await columns(resource, scope)}, ${ident(column)}::text AS join_key FROM ${table(resource)} WHERE ${where}
    ORDER BY created_at, ${ident(resource.identity.column)}`)
  return rows.map((row) => ({ key: String(row.join_key), entity: readRow(resource, row).entity }))
}

export async function insertEntity(
  { db, resource }: Store,
  scope: Scope,
  applicationId: string,
  values: Entity,
): Promise<Stored> {
  const { ownerColumn, tenantColumn, identity } = resource
  const row = new Map(Object.entries(toColumns(resource, values)))
  for (const [column, value] of Object.entries(identity.generate())) row.set(column, sql`${value}`)
  if (tenantColumn !== 'id') row.set(tenantColumn, sql`${applicationId}::uuid`)
  if (scope.ownerId !== null) {
    if (!ownerColumn) throw denied(`A key of type user cannot create a ${resource.title}.`)
    row.set(ownerColumn, sql`${scope.ownerId}`)
  }
  const names = [...row.keys()].map((column) => ident(column))
  const [inserted] = await db
    .query(
      sql`INSERT INTO ${table(resource)} (${joinSql(names, ', ')}) VALUES (${joinSql([...row.values()], ', ')})
          RETURNING ${await columns(resource, scope)}`,
    )
    .catch(writeRefusalOf)
  return readRow(resource, inserted as Row)
}

/**
 * Reads the record, lets `change` say what becomes of it, and writes that if nobody else wrote in between;
 * otherwise it begins again. No lock is held while `change` thinks.
 */
export async function changeEntity(
  store: Store,
  scope: Scope,
  id: string,
  expected: Expected,
  change: (current: Entity) => Promise<Entity>,
): Promise<Stored> {
  const { db, resource } = store
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const current = await getStored(store, scope, id)
    if (expected !== 'any' && !expected.includes(current.revision)) throw changedMeanwhile()
    const values = toColumns(resource, await change(current.entity))
    const assignments = Object.entries(values).map(([column, value]) => sql`${ident(column)} = ${value}`)
    const where = and([await one(resource, scope, id), atRevision([current.revision])])
    const [row] = await db
      .query(
        sql`UPDATE ${table(resource)} SET ${joinSql([...assignments, touched], ', ')} WHERE ${where}
            RETURNING ${await columns(resource, scope)}`,
      )
      .catch(writeRefusalOf)
    if (row) {
      changed(resource)
      return readRow(resource, row)
    }
    await setTimeout(Math.random() * 5 * attempt)
  }
  throw tooBusy()
}

const maxAttempts = 50
const tooBusy = () => new ApiError('conflict', 'Too many others are writing this record. Try again.')

export async function removeEntity(
  store: Store,
  scope: Scope,
  id: string,
  expected: Expected,
  query: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { db, resource } = store
  const { checkRemoval, removal } = resource
  const entity = checkRemoval || removal ? (await getStored(store, scope, id)).entity : {}
  await checkRemoval?.(entity, scope)
  const where = and([await one(resource, scope, id), atRevision(expected)])
  const deletion = sql`DELETE FROM ${table(resource)} WHERE ${where} RETURNING 1`
  const removing = await removal?.prepare(entity, query)
  const removed = removing
    ? await removeWith(db, sql`SELECT FROM ${table(resource)} WHERE ${where} FOR UPDATE`, deletion, removing)
    : { count: (await db.query(deletion).catch(refusalOf)).length }
  if (removed.count === 0) await explainMiss(store, scope, id)
  changed(resource)
  await removed.finish?.()
}

/** What this caller sees in place of what is stored. */
export const viewsFor = async (resource: Resource, scope: Scope): Promise<Views | undefined> => resource.views?.(scope)

const columns = async (resource: Resource, scope: Scope): Promise<Sql> =>
  selection(resource, undefined, await viewsFor(resource, scope)).columns

/** What becomes of a JSON column, computed from what it is; and the keys at its top that this is about. */
export type JsonChange = { readonly next: Sql; readonly named: readonly string[] }

/** Computes the new value of a JSON column from the old one in one statement, so that no update is lost. */
export async function updateJson(
  store: Store,
  scope: Scope,
  id: string,
  expected: Expected,
  column: string,
  change: JsonChange,
): Promise<{ value: Entity; revision: string }> {
  const { resource } = store
  const isGuarded = column === 'metadata' && resource.guardMetadata !== undefined
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const where = and([await one(resource, scope, id), atRevision(expected)])
    const guarded = isGuarded ? await guardedMetadata(store, scope, where, change) : { value: change.next, at: where }
    const row = guarded && (await writeJson(store, scope, column, guarded))
    if (row) return row
    if (!isGuarded || !guarded) return explainMiss(store, scope, id)
  }
  throw tooBusy()
}

async function writeJson(
  { db, resource }: Store,
  scope: Scope,
  column: string,
  { value, at }: { value: Sql; at: Sql },
): Promise<{ value: Entity; revision: string } | undefined> {
  const seen = viewOf(column, await viewsFor(resource, scope))
  const [row] = await db
    .query<{ value: Entity; revision: string }>(
      sql`UPDATE ${table(resource)} SET ${ident(column)} = ${value}, ${touched} WHERE ${at}
          RETURNING ${seen} AS value, revision`,
    )
    .catch(refusalOf)
  changed(resource)
  return row
}

/** Where a part of the metadata is not for everybody to write: what it becomes of a record as it is now. */
async function guardedMetadata({ db, resource }: Store, scope: Scope, where: Sql, { next, named }: JsonChange) {
  if (!resource.guardMetadata) return undefined
  const tenant = ident(resource.tenantColumn)
  const [row] = await db
    .query<{ before: Entity; after: Entity; revision: string; applicationId: string }>(
      sql`SELECT metadata AS before, ${next} AS after, revision, ${tenant} AS "applicationId"
          FROM ${table(resource)} WHERE ${where}`,
    )
    .catch(refusalOf)
  if (!row) return undefined
  const value = json(await resource.guardMetadata({ ...row, named, isNew: false }, scope))
  return { value, at: and([where, atRevision([String(row.revision)])]) }
}

const generations = new WeakMap<Resource, number>()

/** Grows with each change that this process makes: what was read before is not to be trusted any more. */
export const generationOf = (resource: Resource): number => generations.get(resource) ?? 0

const changed = (resource: Resource): unknown => generations.set(resource, generationOf(resource) + 1)

/** The JSON value that an expression finds in a record, or 404. */
export async function readJson(
  { db, resource }: Store,
  scope: Scope,
  id: string,
  column: string,
  value: Sql,
): Promise<unknown> {
  const where = await one(resource, scope, id)
  const seen = viewOf(column, await viewsFor(resource, scope))
  const [row] = await db.query(sql`
    SELECT value, value IS NOT NULL AS present FROM (
      SELECT ${value} AS value FROM (SELECT ${seen} AS ${ident(column)} FROM ${table(resource)} WHERE ${where}) s) v`)
  if (!row) throw absent(resource)
  if (!row.present) throw new ApiError('not_found', 'There is no such key.')
  return row.value
}

/** Nothing was changed: because the record is absent (404), or because it is not at the expected revision (412). */
async function explainMiss(store: Store, scope: Scope, id: string): Promise<never> {
  await getEntity(store, scope, id, ['id'])
  throw changedMeanwhile()
}

/** The one place where tenant, ACL and ownership become SQL. */
async function reach(resource: Resource, scope: Scope): Promise<Sql> {
  const { identity, tenantColumn, ownerColumn } = resource
  const conditions: Sql[] = []
  if (scope.applicationId !== 'any') conditions.push(sql`${ident(tenantColumn)} = ${scope.applicationId}::uuid`)
  if (scope.ids !== 'any') {
    const keys = scope.ids.map(identity.key).filter((key) => key !== undefined)
    conditions.push(sql`${ident(identity.column)} = ANY(${keys}::${raw(identity.sqlType)}[])`)
  }
  if (scope.ownerId !== null) {
    conditions.push(ownerColumn ? sql`${ident(ownerColumn)} = ${scope.ownerId}` : raw('FALSE'))
  }
  if (resource.restrict) conditions.push(await resource.restrict(scope))
  return and(conditions)
}

/** The record with this id, within reach; a text that can be no id is simply absent. */
async function one(resource: Resource, scope: Scope, id: string): Promise<Sql> {
  const key = resource.identity.key(id)
  if (key === undefined) throw absent(resource)
  return and([sql`${ident(resource.identity.column)} = ${key}`, await reach(resource, scope)])
}

const table = (resource: Resource): Sql => ident('svc', resource.name)

const atRevision = (expected: Expected): Sql =>
  expected === 'any' ? raw('TRUE') : sql`revision = ANY(${expected}::bigint[])`

/** What every change of a record changes too. */
export const touched = raw("revision = revision + 1, updated_at = date_trunc('milliseconds', clock_timestamp())")

const changedMeanwhile = (): ApiError =>
  new ApiError('precondition_failed', 'The record has changed since the revision in If-Match. Read it again.')

/** The same words for a record that never was, one of another tenant and one beyond reach. */
const absent = (resource: Resource): ApiError =>
  new ApiError('not_found', `There is no ${resource.title} with this id.`)
