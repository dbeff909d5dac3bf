// Query plans: the validated form of a dataset query, and the parser for it.
import { fitsIdentifier, maxIdentifierBytes } from '../../kernel/db/identifier.ts'
import { type ApiError, FaultCollector, invalid, maxFaults } from '../../kernel/errors.ts'
import { unknownName } from '../../kernel/nearest-name.ts'
import { parseFilterIn } from '../filter/filter-language.ts'
import { allOf, type Filter } from '../filter/filter-tree.ts'
import type { Geometry } from '../geometry/geojson.ts'
import type { PlaneImage } from '../geometry/plane-image.ts'
import type { Attribute, Attributes, AttributeType } from '../values/attribute.ts'
import { isScalarType } from '../values/value.ts'

export const aggregates = ['count', 'sum', 'avg', 'min', 'max', 'extent', 'area', 'length'] as const
export type Aggregate = (typeof aggregates)[number]

/** One output column: an attribute, or an aggregate over a group. */
export type PlanColumn = {
  readonly name: string
  readonly attribute?: Attribute
  readonly aggregate?: Aggregate
  readonly isDistinct?: boolean
  /** Select the attribute's distance to this geometry, in metres, instead of the attribute. */
  readonly distanceTo?: Geometry
  /** Of a distance: in no unit, to this image of the geometry, and good only for finding rows that are near by an index. */
  readonly roughTo?: PlaneImage
  /** Select the attribute's sort key, which may differ from its displayed value. */
  readonly isSortKey?: boolean
  /** Added only to break ties: any stable order will do. */
  readonly isTieBreaker?: boolean
  readonly type: AttributeType
}

/** Sort by an attribute or by an output column. */
export type SortOrder = { readonly by: PlanColumn; readonly isDescending: boolean }

export type RowSample = {
  readonly percentage: number
  readonly method: 'system' | 'bernoulli'
  readonly seed: number | undefined
}

/** A row's sort values in PostgreSQL's text format, one for each term of the complete order. */
export type KeysetPosition = readonly (string | null)[]

/**
 * A validated query on a dataset: every name is a known attribute. plan-sql.ts and plan-rows.ts interpret it with the
 * same result.
 */
export type Plan = {
  readonly columns: readonly PlanColumn[]
  readonly where: Filter
  readonly order: readonly SortOrder[]
  readonly group: readonly Attribute[] | undefined
  readonly distinct: readonly Attribute[]
  readonly sample: RowSample | undefined
  readonly limit: number | undefined
  readonly offset: number
  /** Keyset position: only the rows behind it (see keyset.ts). */
  readonly after?: KeysetPosition
}

/** An unvalidated query, with the field names of the advanced form. */
export type QueryRequest = {
  attributes?: readonly string[] | undefined
  where?: unknown
  /** The language of `where`, if it is not our own grammar. */
  filterLanguage?: string | undefined
  order?: readonly string[] | undefined
  group?: readonly string[]
  distinct?: readonly string[]
  sample?: { percentage: number; method?: string; seed?: number }
  limit?: number | undefined
  offset?: number | undefined
}

type List = 'attributes' | 'order' | 'group' | 'distinct'

/** The paths of a query's parts in the request, for messages. */
export type QueryPaths = { readonly where: string; readonly sample: string; of(list: List, index: number): string }

export const bodyPaths: QueryPaths = {
  where: 'body/where',
  sample: 'body/sample',
  of: (list, index) => `body/${list}/${index}`,
}

/** In a URL a list is a single parameter. */
export const queryPaths: QueryPaths = {
  where: 'query/filter',
  sample: 'query/sample',
  of: (list) => `query/${list === 'order' ? 'sort' : list}`,
}

type Parse = (query: QueryRequest, attributes: Attributes, paths?: QueryPaths, faults?: FaultCollector) => Plan

/** Parses a query and reports all faults together. With `faults`, of parts that the query lacks for them, only names are looked at. */
export const parsePlan: Parse = (query, attributes, paths = bodyPaths, faults = new FaultCollector()) => {
  const each = <T>(list: List, read: (text: string, path: string) => T): T[] =>
    (query[list] ?? []).flatMap((text, index) => faults.attempt(() => [read(text, paths.of(list, index))]) ?? [])
  /** Those that are named without an alias are named once. */
  const eachOnce = <T>(list: List, read: (text: string, path: string) => T, nameOf: (made: T) => string): T[] => {
    const seen = new Set<string>()
    return each(list, (text, path) => {
      const made = read(text, path)
      const name = nameOf(made)
      if (seen.has(name)) throw refused(path, name, 'is given twice')
      seen.add(name)
      return made
    })
  }
  const where = faults.attempt(() =>
    parseFilterIn(query.filterLanguage, query.where, attributes, { path: paths.where }),
  )
  const named = each('attributes', (text, path) => parseColumn(attributes, text, path))
  const attribute = (name: string, path: string) => attributeNamed(attributes, name, path)
  const grouped = eachOnce('group', attribute, ({ name }) => name)
  const distinct = eachOnce('distinct', attribute, ({ name }) => name)
  const sample = query.sample && faults.attempt(() => parseSample(query.sample, paths.sample))
  if (faults.size > 0) findOrderFaults(query, attributes, paths, faults)
  faults.finish()
  const group = query.group && grouped
  const columns = named.length > 0 ? named : allColumns(attributes, group)
  const isGrouped = group !== undefined || columns.some(({ aggregate }) => aggregate)
  if (isGrouped) checkGrouped(columns, group ?? [], distinct, paths)
  checkNames(columns, paths)
  const byName = new Map(columns.map((column) => [column.name, column]))
  const sorted = { attributes, columns: byName, group: isGrouped ? (group ?? []) : undefined }
  const order = eachOnce(
    'order',
    (text, path) => parseOrder(sorted, text, path),
    ({ by }) => by.name,
  )
  faults.finish()
  return {
    columns,
    where: where ?? allOf([]),
    order: distinct.length > 0 ? distinctFirst(distinct, order) : order,
    group: sorted.group,
    distinct,
    sample,
    limit: query.limit,
    offset: query.offset ?? 0,
  }
}

/** Names in an order beside other faults, but for those that a column mentions, which may be the one at fault. */
function findOrderFaults(query: QueryRequest, attributes: Attributes, paths: QueryPaths, faults: FaultCollector): void {
  const mentioned = (query.attributes ?? []).join('\n')
  for (const [index, text] of (query.order ?? []).slice(0, maxFaults).entries()) {
    const name = attributes.has(text) ? text : text.replace(/^-/, '')
    if (mentioned.includes(name)) continue
    const path = paths.of('order', index)
    faults.attempt(() => sortable(plain(attributeNamed(attributes, name, path)), path))
  }
}

const plain = (attribute: Attribute, name = attribute.name): PlanColumn => ({ name, attribute, type: attribute.type })

function allColumns(attributes: Attributes, group: readonly Attribute[] | undefined): PlanColumn[] {
  return (group ?? [...attributes.values()]).map((attribute) => plain(attribute))
}

/**
 * `name`, `name as alias`, `sum(name)`, `count(*)`, `count(distinct name) as alias`. An attribute with exactly this
 * name takes precedence.
 */
function parseColumn(attributes: Attributes, text: string, path: string): PlanColumn {
  const whole = attributes.get(text)
  if (whole) return plain(whole)
  const [, expression = '', alias] = /^(.*?)(?:\s+as\s+"?([^"]+?)"?)?\s*$/is.exec(text) ?? []
  const renamed = attributes.get(expression)
  if (renamed) return plain(renamed, checkAlias(alias, expression, path))
  const [, call, inside = ''] = /^\s*(\w+)\s*\(\s*(.*?)\s*\)$/s.exec(expression) ?? []
  if (call === undefined) throw invalid(path, unknownName('an attribute', expression, attributes.keys()))
  const aggregate = aggregates.find((name) => name === call.toLowerCase())
  if (!aggregate) throw invalid(path, unknownName('an aggregate', call, aggregates))
  return parseAggregate({ attributes, path }, aggregate, inside, alias)
}

function parseAggregate(
  { attributes, path }: { attributes: Attributes; path: string },
  aggregate: Aggregate,
  inside: string,
  alias: string | undefined,
): PlanColumn {
  if (inside === '*') {
    if (aggregate !== 'count') throw refused(path, `${aggregate}(*)`, 'is not possible: only count takes *')
    return { name: checkAlias(alias, 'count', path), aggregate, type: 'integer' }
  }
  const [, distinct, name = ''] = /^(?:(distinct)\s+)?(.*)$/is.exec(inside) ?? []
  const attribute = attributeNamed(attributes, name, path)
  const isDistinct = distinct !== undefined
  if (isDistinct && aggregate !== 'count') throw refused(path, inside, 'is not possible: only count takes distinct')
  const type = aggregateType(aggregate, attribute)
  if (!type) throw refused(path, `${aggregate}(${name})`, `is not possible on type ${attribute.type}`)
  return { name: checkAlias(alias, `${aggregate}_${name}`, path), attribute, aggregate, isDistinct, type }
}

const ordered: readonly AttributeType[] = ['string', 'integer', 'number', 'date', 'datetime', 'time']

/** The type of an aggregate of this attribute; undefined if it does not apply. */
function aggregateType(aggregate: Aggregate, { type }: Attribute): AttributeType | undefined {
  if (aggregate === 'count') return 'integer'
  if (aggregate === 'extent') return type === 'geometry' ? 'json' : undefined
  if (aggregate === 'area' || aggregate === 'length') return type === 'geometry' ? 'number' : undefined
  if (aggregate === 'min' || aggregate === 'max') return ordered.includes(type) ? type : undefined
  return type === 'integer' || type === 'number' ? 'number' : undefined
}

const aliasForm = /^[\p{L}\p{M}\p{N}_. -]+$/u

function checkAlias(alias: string | undefined, otherwise: string, path: string): string {
  const name = alias ?? otherwise
  if (alias !== undefined && !aliasForm.test(alias)) {
    throw refused(path, alias, 'is not an alias: letters, digits, _, -, . and blanks are allowed')
  }
  if (!fitsIdentifier(name) || /\p{Cc}/u.test(name)) {
    const most = `at most ${maxIdentifierBytes} bytes without control characters are allowed`
    throw refused(path, name, `cannot name a column: ${most}`)
  }
  return name
}

function checkNames(columns: readonly PlanColumn[], paths: QueryPaths): void {
  const seen = new Set<string>()
  for (const [index, { name }] of columns.entries()) {
    if (seen.has(name)) throw refused(paths.of('attributes', index), name, 'is given twice; rename one with "as"')
    seen.add(name)
  }
}

function checkGrouped(
  columns: readonly PlanColumn[],
  group: readonly Attribute[],
  distinct: readonly Attribute[],
  paths: QueryPaths,
): void {
  if (distinct.length > 0) throw invalid(paths.of('distinct', 0), 'must not be combined with group or aggregates')
  for (const [index, { attribute, aggregate, name }] of columns.entries()) {
    if (!aggregate && attribute && !group.includes(attribute)) {
      throw refused(paths.of('attributes', index), name, 'must be in group or inside an aggregate')
    }
  }
}

type Sorted = {
  readonly attributes: Attributes
  readonly columns: ReadonlyMap<string, PlanColumn>
  readonly group: readonly Attribute[] | undefined
}

function parseOrder({ attributes, columns, group }: Sorted, text: string, path: string): SortOrder {
  const isDescending = text.startsWith('-') && !attributes.has(text)
  const name = isDescending ? text.slice(1) : text
  const column = columns.get(name)
  if (column) return { by: sortable(column, path), isDescending }
  const attribute = attributes.get(name)
  if (!attribute) {
    throw invalid(path, unknownName('an attribute', name, new Set([...attributes.keys(), ...columns.keys()])))
  }
  if (group && !group.includes(attribute)) throw refused(path, name, 'must be in group or an aggregate')
  return { by: sortable(plain(attribute), path), isDescending }
}

function sortable(column: PlanColumn, path: string): PlanColumn {
  if (!isScalarType(column.type) && !(column.attribute?.isOrdered && !column.aggregate)) {
    throw refused(path, column.name, `is of type ${column.type} and cannot be sorted`)
  }
  return column
}

/** DISTINCT ON keeps the first row of each group, so its columns must come first in the order. */
function distinctFirst(distinct: readonly Attribute[], order: readonly SortOrder[]): SortOrder[] {
  const isDistinct = ({ by }: SortOrder) => by.attribute !== undefined && distinct.includes(by.attribute)
  const leading = distinct.map(
    (attribute) => order.find(({ by }) => by.attribute === attribute) ?? { by: plain(attribute), isDescending: false },
  )
  return [...leading, ...order.filter((term) => !isDistinct(term))]
}

function parseSample(sample: QueryRequest['sample'], path: string): RowSample | undefined {
  if (!sample) return undefined
  const { percentage, method = 'system', seed } = sample
  if (!(percentage > 0 && percentage <= 100)) throw invalid(`${path}/percentage`, 'must be above 0 and at most 100')
  const lower = method.toLowerCase()
  if (lower !== 'system' && lower !== 'bernoulli') {
    throw invalid(`${path}/method`, unknownName('a method', method, ['SYSTEM', 'BERNOULLI']))
  }
  return { percentage, method: lower, seed }
}

function attributeNamed(attributes: Attributes, name: string, path: string): Attribute {
  const attribute = attributes.get(name)
  if (!attribute) throw invalid(path, unknownName('an attribute', name, attributes.keys()))
  return attribute
}

const refused = (path: string, what: string, message: string): ApiError =>
  invalid(path, `"${what.slice(0, 80)}" ${message}`)
