import Type, { type Static } from 'typebox'
import { ident, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { FaultCollector, invalid, refuseRepeated } from '../../kernel/errors.ts'
import { unknownName } from '../../kernel/nearest-name.ts'
import { parseFilter } from '../../query/filter/filter.ts'
import { foldCase } from '../../query/filter/filter-case.ts'
import { filterSql } from '../../query/filter/filter-sql.ts'
import type { Attribute } from '../../query/values/attribute.ts'
import { freeObject, nameList } from '../http/input/bounded-schemas.ts'
import { byFilter, offsetParameter } from '../http/offset-parameter.ts'
import { isShown, type Resource, type ResourceField } from './resource.ts'
import { type SelectList, shownAs } from './rows.ts'

const defaultLimit = 1_000
const maxLimit = 10_000

/** More than any resource has. */
const maxFields = 200

const names = (description: string) => nameList(description, { maxItems: maxFields, maxLength: 255 })

export const selectionSchema = Type.Object({
  fields: Type.Optional(names('The fields to return; all of them by default')),
  join: Type.Optional(names('The related resources to load')),
})

export const listSchema = Type.Object({
  ...selectionSchema.properties,
  filter: Type.Optional(
    freeObject('urlBytes', {
      description: 'Conditions: `filter[name]=x`, `filter[name][$like]=a%`, or the JSON text of them',
    }),
  ),
  sort: Type.Optional(names('The fields to sort by; a leading `-` sorts downwards')),
  limit: Type.Optional(
    Type.Integer({ minimum: 0, description: `The size of the page: ${defaultLimit} by default, ${maxLimit} at most` }),
  ),
  offset: offsetParameter(byFilter),
})

export type ListParameters = Omit<Static<typeof listSchema>, 'filter'> & { filter?: unknown }

/** A list request, compiled to SQL fragments. */
export type ListQuery = {
  readonly fields: readonly string[] | undefined
  readonly where: Sql
  readonly order: Sql
  readonly limit: number
  readonly offset: number
}

export function readListQuery(resource: Resource, parameters: ListParameters, shown?: SelectList): ListQuery {
  const faults = new FaultCollector()
  const fields = faults.attempt(() => readFields(resource, parameters.fields))
  const where = faults.attempt(() => readFilter(resource, parameters.filter, shown))
  const order = faults.attempt(() => readSort(resource, parameters.sort ?? []))
  faults.finish()
  return {
    fields,
    where: where ?? raw('FALSE'),
    order: order ?? raw(''),
    limit: Math.min(parameters.limit ?? defaultLimit, maxLimit),
    offset: parameters.offset ?? 0,
  }
}

/** The requested fields, if they all exist. Write-only fields are treated as unknown. */
export function readFields(resource: Resource, wanted: readonly string[] | undefined): readonly string[] | undefined {
  refuseRepeated(wanted ?? [], 'query/fields')
  wanted?.forEach((name) => {
    knownField(resource, name, 'fields', isShown)
  })
  return wanted
}

function readFilter(resource: Resource, filter: unknown, shown?: SelectList): Sql {
  if (filter === undefined) return raw('TRUE')
  const attributes = new Map<string, Attribute>()
  for (const [name, field] of Object.entries(resource.fields)) {
    if (field.queryable) attributes.set(name, { name, type: field.type })
  }
  const isFolded = ({ name }: Attribute) => resource.fields[name]?.foldedColumn !== undefined
  return filterSql(foldCase(parseFilter(filter, attributes), isFolded), ({ name }) => {
    const field = resource.fields[name] as ResourceField
    return shownAs(field.foldedColumn ?? field.column, shown)
  })
}

/** Ties are broken by id, so that pages neither overlap nor skip. */
function readSort(resource: Resource, sort: readonly string[]): Sql {
  const nameOf = (term: string) => term.replace(/^[-+]/, '')
  refuseRepeated(sort.map(nameOf), 'query/sort')
  const order = (sort.length > 0 ? sort : ['createdAt']).map((term) => {
    const isDescending = term.startsWith('-')
    const field = knownField(resource, nameOf(term), 'sort', isSortable)
    // The same order on every server, whatever its locale.
    const collation = field.type === 'string' ? raw(' COLLATE "C"') : raw('')
    return sql`${column(field)}${collation} ${raw(isDescending ? 'DESC' : 'ASC')} NULLS LAST`
  })
  return joinSql([...order, ident(resource.identity.column)], ', ')
}

const isSortable = ({ queryable, type }: ResourceField): boolean => queryable && type !== 'json' && type !== 'array'

/** A field that does not fit is reported as unknown. */
function knownField(
  resource: Resource,
  name: string,
  parameter: string,
  fits: (field: ResourceField) => boolean,
): ResourceField {
  const field = Object.hasOwn(resource.fields, name) ? resource.fields[name] : undefined
  if (field && fits(field)) return field
  const allowed = Object.entries(resource.fields).flatMap(([name, one]) => (fits(one) ? [name] : []))
  throw invalid(`query/${parameter}`, unknownName(`a field for ${parameter}`, name, allowed))
}

const column = (field: ResourceField): Sql => ident(field.foldedColumn ?? field.column)
