// Filter parser: MongoDB-like JSON to the tree of filter-tree.ts.
import { FaultCollector } from '../../kernel/errors.ts'
import { unknownName } from '../../kernel/nearest-name.ts'
import type { Attribute, Attributes } from '../values/attribute.ts'
import { below, fault, show } from '../values/fault.ts'
import { allOf, anyOf, type Filter, not } from './filter-tree.ts'
import { asList, asObject } from './operand.ts'
import { applyOperator, isOperator, type Use } from './operator.ts'

const bounds = { depth: 10, nodes: 200 }

type Parse = { readonly attributes: Attributes; readonly faults: FaultCollector; nodes: number }

/** A position in the input: its path in messages and its nesting depth. */
type FilterPath = { readonly path: string; readonly depth: number }

/**
 * Parses the one filter grammar of lists, dataset queries and tiles. The input is an object from JSON or from a
 * deep-object query string, or JSON text; undefined matches every row. Anything unknown is refused, because an ignored
 * filter returns more rows than the caller asked for. All faults are reported together; `root` is the prefix of their
 * paths.
 */
export function parseFilter(input: unknown, attributes: Attributes, root = 'query/filter'): Filter {
  const place = { path: root, depth: 1 }
  const value = typeof input === 'string' && input !== '' ? parseText(input, place) : input
  if (value === undefined || value === null || value === '') return allOf([])
  const parse = { attributes, faults: new FaultCollector(), nodes: 0 }
  const filter = attempt(parse, () => parseGroup(parse, value, place))
  parse.faults.finish()
  return filter
}

/**
 * Collects a fault and continues, but stops when the filter is too large: every node beyond the limit would be another
 * fault.
 */
function attempt(parse: Parse, work: () => Filter): Filter {
  if (parse.nodes > bounds.nodes) return allOf([])
  return parse.faults.attempt(work) ?? allOf([])
}

function parseText(text: string, { path }: FilterPath): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw fault(path, 'invalid_json', `must be JSON, not ${show(text)}`)
  }
}

/** `{ name: condition, $or: […], … }`: a conjunction. */
function parseGroup(parse: Parse, value: unknown, jsonPath: FilterPath): Filter {
  return allOf(parseEntries(parse, value, jsonPath))
}

function parseEntries(parse: Parse, value: unknown, jsonPath: FilterPath): readonly Filter[] {
  const entries = objectEntries(value, jsonPath)
  // An empty object is no filter node, but a long list of them still costs time, so it counts.
  if (entries.length === 0) countNode(parse, jsonPath)
  return entries.map(([key, item]) => attempt(parse, () => parseEntry(parse, key, item, inside(jsonPath, key))))
}

function parseEntry(parse: Parse, key: string, value: unknown, jsonPath: FilterPath): Filter {
  if (key.startsWith('$')) return parseLogic(parse, key, value, jsonPath)
  const attribute = parse.attributes.get(key)
  if (!attribute) {
    throw fault(jsonPath.path, 'unknown_attribute', unknownName('an attribute', key, parse.attributes.keys()))
  }
  return parseCondition(parse, attribute, value, jsonPath)
}

function parseLogic(parse: Parse, operator: string, value: unknown, jsonPath: FilterPath): Filter {
  if (operator !== '$and' && operator !== '$or' && operator !== '$not') {
    throw fault(jsonPath.path, 'unknown_operator', isOperator(operator) ? misplaced(operator) : unknownLogic(operator))
  }
  countNode(parse, jsonPath)
  if (operator === '$not') return not(parseGroup(parse, value, deeper(jsonPath)))
  const list = asList(value)
  const filters = list
    ? list.map((item, index) => parseGroup(parse, item, deeper(inside(jsonPath, index))))
    : parseEntries(parse, value, deeper(jsonPath))
  return operator === '$and' ? allOf(filters) : anyOf(filters)
}

const misplaced = (operator: string): string =>
  `${operator} must stand below an attribute: {"attribute": {"${operator}": …}}`

const unknownLogic = (operator: string): string => unknownName('$and, $or or $not', operator, ['$and', '$or', '$not'])

/** Parses the condition on one attribute: a value, a list, null, or an object of operators. */
function parseCondition(parse: Parse, attribute: Attribute, value: unknown, jsonPath: FilterPath): Filter {
  if (asList(value)) return parseOperator(parse, '$in', attribute, value, jsonPath)
  if (!asObject(value)) return parseOperator(parse, '$eq', attribute, value, jsonPath)
  return allOf(parseOperators(parse, attribute, value, deeper(jsonPath)))
}

function parseOperators(parse: Parse, attribute: Attribute, value: unknown, jsonPath: FilterPath): readonly Filter[] {
  const entries = objectEntries(value, jsonPath)
  if (entries.length === 0) throw fault(jsonPath.path, 'invalid_value', 'must hold an operator such as $eq')
  return entries.map(([key, item]) =>
    attempt(parse, () => parseOperator(parse, key, attribute, item, inside(jsonPath, key))),
  )
}

function parseOperator(
  parse: Parse,
  operator: string,
  attribute: Attribute,
  value: unknown,
  jsonPath: FilterPath,
): Filter {
  countNode(parse, jsonPath)
  if (value === undefined) throw fault(jsonPath.path, 'invalid_value', 'must have a value')
  if (operator === '$and' || operator === '$or') {
    const list = asList(value)
    const filters = list
      ? list.map((item, index) => parseCondition(parse, attribute, item, inside(jsonPath, index)))
      : parseOperators(parse, attribute, value, deeper(jsonPath))
    return operator === '$and' ? allOf(filters) : anyOf(filters)
  }
  const use = { attribute, value, path: jsonPath.path }
  if (isNullOperand(operator, attribute, value)) return compareWithNull(operator, use)
  if (operator !== '$not') return applyOperator(operator, use)
  if (asList(value)) return applyOperator('$notIn', use)
  if (asObject(value)) return not(allOf(parseOperators(parse, attribute, value, deeper(jsonPath))))
  return applyOperator('$ne', use)
}

/** $is and $not accept null for every type. The other operators refuse null themselves. */
function compareWithNull(operator: string, use: Use): Filter {
  const isNull: Filter = { kind: 'is', attribute: use.attribute, value: null }
  if (operator === '$eq' || operator === '$is') return isNull
  return operator === '$ne' || operator === '$not' ? not(isNull) : applyOperator(operator, use)
}

/**
 * A query string can write null only as text. For $is and $not the text `null` means null; for other operators it does
 * so unless the attribute is a string.
 */
function isNullOperand(operator: string, attribute: Attribute, value: unknown): boolean {
  const isText = attribute.type === 'string' && operator !== '$is' && operator !== '$not'
  return value === null || (value === 'null' && !isText)
}

/** Entries of own keys only, so that no input key reaches a prototype. */
function objectEntries(value: unknown, { path, depth }: FilterPath): readonly (readonly [string, unknown])[] {
  if (depth > bounds.depth) throw fault(path, 'too_deep', `must not nest deeper than ${bounds.depth} levels`)
  if (!asObject(value)) throw fault(path, 'invalid_value', `must be an object, not ${show(value)}`)
  return Object.entries(value)
}

function countNode(parse: Parse, { path }: FilterPath): void {
  parse.nodes += 1
  if (parse.nodes > bounds.nodes) {
    throw fault(path, 'too_many_nodes', `must not have more than ${bounds.nodes} conditions and operators`)
  }
}

const inside = ({ path, depth }: FilterPath, key: string | number): FilterPath => ({ path: below(path, key), depth })

const deeper = ({ path, depth }: FilterPath): FilterPath => ({ path, depth: depth + 1 })
