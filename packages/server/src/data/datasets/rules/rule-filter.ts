/**
 * The condition of a rule as a filter, with the values of a caller in it. A comparison with a value that the caller does not have is false, and
 * so is its negation: so negations are moved down to the comparisons, and no absent value ever lets somebody see more.
 */
import { invalid } from '../../../kernel/errors.ts'
import { unknownName } from '../../../kernel/nearest-name.ts'
import { parseFilter } from '../../../query/filter/filter.ts'
import { allOf, anyOf, type Filter, not } from '../../../query/filter/filter-tree.ts'
import type { Attributes } from '../../../query/values/attribute.ts'
import { below, show } from '../../../query/values/fault.ts'
import { isVariable, looksVariable, plainText, type ResolveValue } from './caller-values.ts'

const maxDepth = 12
const maxConditions = 200

/** No row. */
export const noRows: Filter = anyOf([])

type Reading = {
  readonly attributes: Attributes
  readonly resolve: ResolveValue
  /** When a rule is stored, what is wrong is a fault; later, with the values of a caller or another table, it is false. */
  readonly isStrict: boolean
  conditions: number
}

type Position = { readonly path: string; readonly isNegated: boolean; readonly depth: number }

/** The rows of a rule for a caller. Nothing in it can fail: what cannot be decided is false. */
export const ruleFilter = (where: object | undefined, attributes: Attributes, resolve: ResolveValue): Filter =>
  read({ attributes, resolve, isStrict: false, conditions: 0 }, where, 'where')

/** Throws a 400 for a condition that is none, whoever asks. */
export function checkRuleFilter(where: object | undefined, attributes: Attributes, path: string): void {
  read({ attributes, resolve: () => undefined, isStrict: true, conditions: 0 }, where, path)
}

const read = (reading: Reading, where: object | undefined, path: string): Filter =>
  where === undefined ? allOf([]) : readGroup(reading, where, { path, isNegated: false, depth: 0 })

/** `{ name: condition, $or: […], … }` */
function readGroup(reading: Reading, value: unknown, position: Position): Filter {
  const entries = entriesOf(value, position)
  return joined(
    entries.map(([name, item]) => readEntry(reading, name, item, { ...position, path: below(position.path, name) })),
    position,
  )
}

function readEntry(reading: Reading, name: string, value: unknown, position: Position): Filter {
  if (name === '$and' || name === '$or') return readList(reading, name, value, position, readGroup)
  if (name === '$not') return readGroup(reading, value, negated(position))
  if (name.startsWith('$'))
    throw invalid(position.path, unknownName('$and, $or or $not', name, ['$and', '$or', '$not']))
  if (!reading.attributes.has(name)) {
    if (reading.isStrict) throw invalid(position.path, unknownName('an attribute', name, reading.attributes.keys()))
    return noRows
  }
  return readCondition(reading, value, position, name)
}

/** The condition on one attribute: a value, a list, or an object of operators. */
function readCondition(reading: Reading, value: unknown, position: Position, name: string): Filter {
  if (isVariable(value)) {
    const resolved = reading.resolve(value)
    const operator = Array.isArray(resolved) ? '$in' : '$eq'
    // An object would be read as operators.
    const isObject = typeof resolved === 'object' && !Array.isArray(resolved)
    return leaf(reading, { name, operator, value: isObject ? undefined : value }, position)
  }
  if (Array.isArray(value)) return leaf(reading, { name, operator: '$in', value }, position)
  if (typeof value !== 'object' || value === null) return leaf(reading, { name, operator: '$eq', value }, position)
  const operators = entriesOf(value, position)
  if (operators.length === 0) throw invalid(position.path, 'must hold an operator such as $eq')
  return joined(
    operators.map(([operator, item]) =>
      readOperator(reading, { name, operator, value: item }, { ...position, path: below(position.path, operator) }),
    ),
    position,
  )
}

type Leaf = { readonly name: string; readonly operator: string; readonly value: unknown }

function readOperator(reading: Reading, { name, operator, value }: Leaf, position: Position): Filter {
  const readNamed: typeof readGroup = (one, item, at) => readCondition(one, item, deeper(at), name)
  if (operator === '$and' || operator === '$or') return readList(reading, operator, value, position, readNamed)
  if (operator !== '$not') return leaf(reading, { name, operator, value }, position)
  return readCondition(reading, value, negated(position), name)
}

function readList(
  reading: Reading,
  operator: '$and' | '$or',
  value: unknown,
  position: Position,
  readItem: typeof readGroup,
): Filter {
  const items = Array.isArray(value) ? value : entriesOf(value, position).map(([name, item]) => ({ [name]: item }))
  const filters = items.map((item, index) =>
    readItem(reading, item, deeper({ ...position, path: below(position.path, index) })),
  )
  return operator === '$and' ? joined(filters, position) : joined(filters, { isNegated: !position.isNegated })
}

/** All of them, or, where they are negated already, any. */
const joined = (filters: readonly Filter[], { isNegated }: Pick<Position, 'isNegated'>): Filter =>
  isNegated ? anyOf(filters) : allOf(filters)

function leaf(reading: Reading, { name, operator, value }: Leaf, { path, isNegated }: Position): Filter {
  if (++reading.conditions > maxConditions) throw invalid(path, `must not have more than ${maxConditions} conditions`)
  const parse = (operand: unknown): Filter => parseFilter({ [name]: { [operator]: operand } }, reading.attributes, path)
  const operand = operandOf(reading, value, path)
  if (operand === undefined) {
    if (reading.isStrict) demandUsable(parse)
    return noRows
  }
  const given = isVariable(value) && typeof operand === 'string' ? oneText(reading, name, operator, operand) : operand
  try {
    const filter = withNumberAsText(parse, given)
    return isNegated ? not(filter) : filter
  } catch (error) {
    if (reading.isStrict) throw error
    return noRows
  }
}

const listOperators: ReadonlySet<string> = new Set(['$in', '$notIn'])

/** A text of the caller is one value: its commas make no list of it, nor its braces a document, which every other might contain. */
function oneText({ attributes }: Reading, name: string, operator: string, text: string): unknown {
  const type = attributes.get(name)?.type
  if (type === 'json') return JSON.stringify(text)
  return type === 'array' || listOperators.has(operator) ? [text] : text
}

/** What a value of the caller may turn out to be. */
const samples: readonly unknown[] = [
  ...['x', 1, true, '2020-01-01', '2020-01-01T00:00:00Z', '12:00:00', '00000000-0000-4000-8000-000000000000'],
  ...[[1], ['x'], [0, 0, 1, 1], [1, 2], { type: 'Point', coordinates: [0, 0] }],
]

/** Throws the fault of an operator that takes none of them. */
function demandUsable(parse: (operand: unknown) => Filter): void {
  let first: unknown
  for (const sample of samples) {
    try {
      parse(sample)
      return
    } catch (error) {
      first ??= error
    }
  }
  throw first
}

/** The id of a user is a number, which a column of texts may hold. */
function withNumberAsText(parse: (value: unknown) => Filter, value: unknown): Filter {
  try {
    return parse(value)
  } catch (error) {
    if (typeof value !== 'number') throw error
    return parse(String(value))
  }
}

/** The value with those of the caller in it; undefined if one is absent. */
function operandOf(reading: Reading, value: unknown, path: string): unknown {
  if (isVariable(value)) return reading.resolve(value)
  if (looksVariable(value) && reading.isStrict)
    throw invalid(path, `must be a value of the caller, such as $user.id or $user.metadata.team, not ${show(value)}`)
  if (typeof value === 'string') return plainText(value)
  if (Array.isArray(value)) return listOf(value.map((item) => operandOf(reading, item, path)))
  if (reading.isStrict && holdsVariable(value))
    throw invalid(path, 'must not hold a value of the caller inside an object, where it would be a text like any other')
  return value
}

const holdsVariable = (value: unknown): boolean =>
  isVariable(value) || (typeof value === 'object' && value !== null && Object.values(value).some(holdsVariable))

const listOf = (items: readonly unknown[]): readonly unknown[] | undefined => {
  const flat = items.flat()
  return flat.includes(undefined) ? undefined : flat
}

const negated = (position: Position): Position => deeper({ ...position, isNegated: !position.isNegated })

function deeper(position: Position): Position {
  if (position.depth > maxDepth) throw invalid(position.path, `must not nest deeper than ${maxDepth} levels`)
  return { ...position, depth: position.depth + 1 }
}

function entriesOf(value: unknown, { path }: Position): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(path, `must be an object, not ${show(value)}`)
  return Object.entries(value)
}
