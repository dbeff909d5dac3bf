import { ApiError } from '../errors.ts'
import type { Attribute, Attributes, AttributeType } from './attribute.ts'
import { parseFilter } from './filter.ts'
import type { Filter } from './filter-tree.ts'

export const aggregates = ['count', 'sum', 'avg', 'min', 'max', 'extent', 'area', 'length'] as const
export type Aggregate = (typeof aggregates)[number]

/** One column of the answer: an attribute as it is, or something computed from the rows of a group. */
export type Column = {
  readonly name: string
  readonly attribute?: Attribute
  readonly aggregate?: Aggregate
  readonly isDistinct?: boolean
  readonly type: AttributeType
}

/** By an attribute, or by a column of the answer. */
export type Order = { readonly by: Column; readonly isDescending: boolean }

export type Sample = {
  readonly percentage: number
  readonly method: 'system' | 'bernoulli'
  readonly seed: number | undefined
}

/** A query on a dataset, checked: every name in it is an attribute's. SQL and memory interpret it alike. */
export type Plan = {
  readonly columns: readonly Column[]
  readonly where: Filter
  readonly order: readonly Order[]
  readonly group: readonly Attribute[] | undefined
  readonly distinct: readonly Attribute[]
  readonly sample: Sample | undefined
  readonly limit: number | undefined
  readonly offset: number
}

/** A query as it arrives, in the words of the advanced form. */
export type Query = {
  attributes?: readonly string[]
  where?: unknown
  order?: readonly string[]
  group?: readonly string[]
  distinct?: readonly string[]
  sample?: { percentage: number; method?: string; seed?: number }
  limit?: number
  offset?: number
}

/** `root` is what the messages call the filter. */
export function parsePlan(query: Query, attributes: Attributes, root = 'where'): Plan {
  const where = parseFilter(query.where, attributes, root)
  const named = query.attributes ?? []
  const group = query.group?.map((name) => attributeNamed(attributes, name, 'group'))
  const columns = named.length > 0 ? named.map((text) => parseColumn(attributes, text)) : allColumns(attributes, group)
  const isGrouped = group !== undefined || columns.some(({ aggregate }) => aggregate)
  const distinct = query.distinct?.map((name) => attributeNamed(attributes, name, 'distinct')) ?? []
  if (isGrouped) checkGrouped(columns, group ?? [], distinct)
  checkNames(columns)
  const order = (query.order ?? []).map((text) => parseOrder(attributes, columns, isGrouped, group ?? [], text))
  return {
    columns,
    where,
    order: distinct.length > 0 ? distinctFirst(distinct, order) : order,
    group: isGrouped ? (group ?? []) : undefined,
    distinct,
    sample: query.sample && parseSample(query.sample),
    limit: query.limit,
    offset: query.offset ?? 0,
  }
}

const plain = (attribute: Attribute, name = attribute.name): Column => ({ name, attribute, type: attribute.type })

function allColumns(attributes: Attributes, group: readonly Attribute[] | undefined): Column[] {
  return (group ?? [...attributes.values()]).map((attribute) => plain(attribute))
}

/** `name`, `name as alias`, `sum(name)`, `count(*)`, `count(distinct name) as alias`. An attribute's own name comes first. */
function parseColumn(attributes: Attributes, text: string): Column {
  const whole = attributes.get(text)
  if (whole) return plain(whole)
  const [, expression = '', alias] = /^(.*?)(?:\s+as\s+"?([^"]+?)"?)?\s*$/is.exec(text) ?? []
  const renamed = attributes.get(expression)
  if (renamed) return plain(renamed, checkAlias(alias, expression))
  const [, call = '', inside = ''] = /^\s*(\w+)\s*\(\s*(.*?)\s*\)$/s.exec(expression) ?? []
  const aggregate = aggregates.find((known) => known === call.toLowerCase())
  if (!aggregate) throw refused('attributes', text, 'is neither an attribute nor an aggregate')
  return parseAggregate(attributes, aggregate, inside, alias)
}

function parseAggregate(
  attributes: Attributes,
  aggregate: Aggregate,
  inside: string,
  alias: string | undefined,
): Column {
  if (inside === '*') {
    if (aggregate !== 'count') throw refused('attributes', `${aggregate}(*)`, 'is not possible: only count takes *')
    return { name: checkAlias(alias, 'count'), aggregate, type: 'integer' }
  }
  const [, distinct, name = ''] = /^(?:(distinct)\s+)?(.*)$/is.exec(inside) ?? []
  const attribute = attributeNamed(attributes, name, 'attributes')
  const isDistinct = distinct !== undefined
  if (isDistinct && aggregate !== 'count') throw refused('attributes', inside, 'distinct stands only in count')
  const type = aggregateType(aggregate, attribute)
  if (!type) throw refused('attributes', `${aggregate}(${name})`, `is not possible on ${attribute.type}`)
  return { name: checkAlias(alias, `${aggregate}_${name}`), attribute, aggregate, isDistinct, type }
}

const ordered: readonly AttributeType[] = ['string', 'integer', 'number', 'date', 'datetime', 'time']

/** What an aggregate of this attribute is; nothing where there is none. */
function aggregateType(aggregate: Aggregate, { type }: Attribute): AttributeType | undefined {
  if (aggregate === 'count') return 'integer'
  if (aggregate === 'extent') return type === 'geometry' ? 'json' : undefined
  if (aggregate === 'area' || aggregate === 'length') return type === 'geometry' ? 'number' : undefined
  if (aggregate === 'min' || aggregate === 'max') return ordered.includes(type) ? type : undefined
  return type === 'integer' || type === 'number' ? 'number' : undefined
}

function checkAlias(alias: string | undefined, otherwise: string): string {
  const name = alias ?? otherwise
  if (Buffer.byteLength(name) > 63 || /\p{Cc}/u.test(name)) throw refused('attributes', name, 'is no name for a column')
  return name
}

function checkNames(columns: readonly Column[]): void {
  const seen = new Set<string>()
  for (const { name } of columns) {
    if (seen.has(name)) throw refused('attributes', name, 'is there twice')
    seen.add(name)
  }
}

function checkGrouped(columns: readonly Column[], group: readonly Attribute[], distinct: readonly Attribute[]): void {
  if (distinct.length > 0) throw refused('distinct', 'distinct', 'cannot stand together with groups or aggregates')
  for (const { attribute, aggregate, name } of columns) {
    if (!aggregate && attribute && !group.includes(attribute)) {
      throw refused('attributes', name, 'is neither in group nor an aggregate')
    }
  }
}

function parseOrder(
  attributes: Attributes,
  columns: readonly Column[],
  isGrouped: boolean,
  group: readonly Attribute[],
  text: string,
): Order {
  const isDescending = text.startsWith('-') && !attributes.has(text)
  const name = isDescending ? text.slice(1) : text
  const column = columns.find((candidate) => candidate.name === name)
  if (column) return { by: sortable(column, text), isDescending }
  const attribute = attributeNamed(attributes, name, 'order')
  if (isGrouped && !group.includes(attribute)) throw refused('order', name, 'is neither in group nor an aggregate')
  return { by: sortable(plain(attribute), text), isDescending }
}

function sortable(column: Column, text: string): Column {
  if (['json', 'array', 'binary', 'geometry'].includes(column.type)) {
    throw refused('order', text, `cannot be sorted by, being ${column.type}`)
  }
  return column
}

/** DISTINCT ON keeps the first of each, so what it tells apart must be sorted by first. */
function distinctFirst(distinct: readonly Attribute[], order: readonly Order[]): Order[] {
  const isDistinct = ({ by }: Order) => by.attribute !== undefined && distinct.includes(by.attribute)
  const leading = distinct.map(
    (attribute) => order.find(({ by }) => by.attribute === attribute) ?? { by: plain(attribute), isDescending: false },
  )
  return [...leading, ...order.filter((term) => !isDistinct(term))]
}

function parseSample({ percentage, method = 'system', seed }: NonNullable<Query['sample']>): Sample {
  if (!(percentage > 0 && percentage <= 100))
    throw refused('sample.percentage', String(percentage), 'is not in 0 to 100')
  const known = method.toLowerCase()
  if (known !== 'system' && known !== 'bernoulli') throw refused('sample.method', method, 'is not SYSTEM or BERNOULLI')
  return { percentage, method: known, seed }
}

function attributeNamed(attributes: Attributes, name: string, place: string): Attribute {
  const attribute = attributes.get(name)
  if (!attribute) throw refused(place, name, 'is not an attribute')
  return attribute
}

function refused(path: string, what: string, message: string): ApiError {
  const text = `"${what.slice(0, 80)}" ${message}`
  return new ApiError('invalid_request', `${path}: ${text}`, { faults: [{ path, code: 'invalid', message: text }] })
}
