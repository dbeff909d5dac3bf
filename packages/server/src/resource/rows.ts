import type { Row } from '../db/db.ts'
import { ident, joinSql, json, type Sql, type SqlValue, sql } from '../db/sql.ts'
import { type Entity, type Field, isShown, type Resource } from './resource.ts'

/** A record, and the revision that ETag and If-Match speak of. */
export type Stored = { readonly entity: Entity; readonly revision: string }

/** The same, ready to be sent. */
export type Written = { readonly json: string; readonly revision: string }

/** What columns are to this caller, where that differs from what is stored, by name. */
export type Views = Readonly<Record<string, Sql>>

type Selection = { readonly fields: readonly [string, Field][]; readonly columns: Sql; readonly texts: Sql }

/** What a record is read by when all of it is wanted, as it is stored; worked out once. */
const wholes = new WeakMap<Resource, Selection>()

export function selection(resource: Resource, names?: readonly string[], views?: Views): Selection {
  const isPlain = !names && !views
  const known = isPlain ? wholes.get(resource) : undefined
  if (known) return known
  const fields = Object.entries(resource.fields).filter(
    ([name, field]) => isShown(field) && (names?.includes(name) ?? true),
  )
  const stored = fields.filter(([name]) => name !== 'id').map(([, field]) => field)
  const plain = stored.filter(({ type }) => type !== 'json').map(({ column }) => column)
  const json = stored.filter(({ type }) => type === 'json').map(({ column }) => column)
  const rest = [...new Set([...resource.identity.columns, 'revision', ...plain])].map((column) =>
    views?.[column] ? sql`${views[column]} AS ${ident(column)}` : ident(column),
  )
  const made = {
    fields,
    columns: joinSql([...rest, ...json.map((column) => sql`${viewOf(column, views)} AS ${ident(column)}`)], ', '),
    texts: joinSql([...rest, ...json.map((column) => sql`(${viewOf(column, views)})::text AS ${ident(column)}`)], ', '),
  }
  if (isPlain) wholes.set(resource, made)
  return made
}

/** The column as this caller sees it. */
export const viewOf = (column: string, views?: Views): Sql => views?.[column] ?? ident(column)

export function readRow(resource: Resource, row: Row, names?: readonly string[]): Stored {
  const entity: Entity = {}
  for (const [name, field] of selection(resource, names).fields) {
    entity[name] = name === 'id' ? resource.identity.read(row) : fromColumn(field, row)
  }
  return { entity, revision: String(row.revision) }
}

/** The record as the text of its JSON. JSON in it stays the text it is: a style is neither parsed nor written anew. */
export function readText(resource: Resource, row: Row, names?: readonly string[]): Written {
  const members = selection(resource, names).fields.map(([name, field]) => {
    if (name === 'id') return `"id":${JSON.stringify(resource.identity.read(row))}`
    const value = field.type === 'json' ? (row[field.column] ?? 'null') : JSON.stringify(fromColumn(field, row))
    return `"${name}":${value}`
  })
  return { json: `{${members.join(',')}}`, revision: String(row.revision) }
}

export function toColumns(resource: Resource, values: Entity): Record<string, Sql> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const field = resource.fields[name]
      if (!field) throw new Error(`${resource.name} has no field ${name}`)
      return [field.column, toColumn(field, value)]
    }),
  )
}

function toColumn(field: Field, value: unknown): Sql {
  if (field.type === 'json') return json(value)
  if (field.type === 'datetime') return sql`${value as string | null}::timestamptz`
  return sql`${value as SqlValue}`
}

function fromColumn({ column, read }: Field, row: Row): unknown {
  if (read) return read(row)
  const value = row[column]
  return value instanceof Date ? value.toISOString() : (value ?? null)
}
