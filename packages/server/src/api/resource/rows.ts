import type { Row } from '../../kernel/db/db.ts'
import { ident, joinSql, json, type Sql, type SqlValue, sql } from '../../kernel/db/sql.ts'
import type { Secrets } from '../access/secrets/secrets.ts'
import { type Entity, isShown, type Resource, type ResourceField } from './resource.ts'

/** A record, its revision, and its entity tag: the revision and, behind a point, the resource's `liveTag`. */
export type StoredEntity = { readonly entity: Entity; readonly revision: string; readonly tag: string }

/** A serialized record. */
export type SerializedEntity = { readonly json: string; readonly tag: string }

/** SQL for columns that differ for this caller, by name. */
export type SelectList = Readonly<Record<string, Sql>>

type Selection = { readonly fields: readonly [string, ResourceField][]; readonly columns: Sql; readonly texts: Sql }

/** Cache of the SELECT lists for whole records. */
const wholeSelections = new WeakMap<Resource, Selection>()

export function selection(resource: Resource, names?: readonly string[], shown?: SelectList): Selection {
  const isPlain = !names && !shown
  const cached = isPlain ? wholeSelections.get(resource) : undefined
  if (cached) return cached
  const fields = Object.entries(resource.fields).filter(
    ([name, field]) => isShown(field) && (names?.includes(name) ?? true),
  )
  const stored = fields.filter(([name]) => name !== 'id').map(([, field]) => field)
  const plain = stored.filter(({ type }) => type !== 'json').map(({ column }) => column)
  const json = stored
    .filter(({ type }) => type === 'json')
    .map(({ column, select }) => ({ name: ident(column), value: select ?? shownAs(column, shown) }))
  const rest = [...new Set([...resource.identity.columns, 'revision', ...plain])].map((column) =>
    shown?.[column] ? sql`${shown[column]} AS ${ident(column)}` : ident(column),
  )
  if (resource.liveTag) rest.push(sql`${resource.liveTag} AS live_tag`)
  const made = {
    fields,
    columns: joinSql([...rest, ...json.map(({ name, value }) => sql`${value} AS ${name}`)], ', '),
    texts: joinSql([...rest, ...json.map(({ name, value }) => sql`(${value})::text AS ${name}`)], ', '),
  }
  if (isPlain) wholeSelections.set(resource, made)
  return made
}

/** The column as this caller sees it. */
export const shownAs = (column: string, shown?: SelectList): Sql => shown?.[column] ?? ident(column)

export function readRow(resource: Resource, row: Row, secrets: Secrets, names?: readonly string[]): StoredEntity {
  const entity: Entity = {}
  for (const [name, field] of selection(resource, names).fields) {
    entity[name] = name === 'id' ? resource.identity.read(row, secrets) : fromColumn(field, row, secrets)
  }
  return { entity, revision: String(row.revision), tag: tagOf(row) }
}

const tagOf = ({ revision, live_tag: liveTag }: Row): string => `${revision}${liveTag ? `.${liveTag}` : ''}`

/** The serialized record. JSON columns stay text, so that a large style is neither parsed nor serialized again. */
export function readText(resource: Resource, row: Row, secrets: Secrets, names?: readonly string[]): SerializedEntity {
  const members = selection(resource, names).fields.map(([name, field]) => {
    if (name === 'id') return `"id":${JSON.stringify(resource.identity.read(row, secrets))}`
    const value =
      field.type === 'json' ? (row[field.column] ?? 'null') : JSON.stringify(fromColumn(field, row, secrets))
    return `"${name}":${value}`
  })
  return { json: `{${members.join(',')}}`, tag: tagOf(row) }
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

function toColumn(field: ResourceField, value: unknown): Sql {
  if (field.write) return field.write(value)
  if (field.type === 'json') return json(value)
  if (field.type === 'datetime') return sql`${value as string | null}::timestamptz`
  return sql`${value as SqlValue}`
}

function fromColumn({ column, read }: ResourceField, row: Row, secrets: Secrets): unknown {
  if (read) return read(row, secrets)
  const value = row[column]
  return value instanceof Date ? value.toISOString() : (value ?? null)
}
