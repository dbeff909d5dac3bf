// From the syntax tree of CQL2 to the filter tree: names become attributes, and every comparison gets its types.
import { unknownName } from '../../../kernel/nearest-name.ts'
import type { ScalarAttribute } from '../../values/attribute.ts'
import { show } from '../../values/fault.ts'
import { foldText } from '../../values/text-folding.ts'
import { type Comparison, type Expression, isNative } from '../expression.ts'
import { allOf, anyOf, type Filter, not } from '../filter-tree.ts'
import { endsInsideEscape, likeMatcher } from '../like.ts'
import { checkText } from '../operand.ts'
import { arrayNames, resolveArray } from './array.ts'
import { compare } from './comparison.ts'
import { resolvePattern, resolveScalar, scalarNames } from './scalar.ts'
import { argumentsOf, attempt, attributeOf, type FilterScope, locating } from './scope.ts'
import { resolveSpatial, spatialNames } from './spatial.ts'
import { type FunctionCall, type Node, refuse } from './syntax.ts'
import { intervalBounds, resolveTemporal, temporalNames } from './temporal.ts'

type Resolve = (scope: FilterScope, node: FunctionCall) => Filter

const named = (names: readonly string[], resolve: Resolve): [string, Resolve][] => names.map((name) => [name, resolve])

const comparing = (name: string, comparison: Comparison): [string, Resolve] => [
  name,
  (scope, node) => resolveComparison(scope, node, comparison),
]

const predicates: ReadonlyMap<string, Resolve> = new Map<string, Resolve>([
  ['and', (scope, node) => allOf(resolveAll(scope, node))],
  ['or', (scope, node) => anyOf(resolveAll(scope, node))],
  ['not', (scope, node) => not(resolveFilter(scope, argumentsOf(node, 'condition')[0]))],
  comparing('=', 'eq'),
  comparing('<', 'lt'),
  comparing('<=', 'lte'),
  comparing('>', 'gt'),
  comparing('>=', 'gte'),
  ['<>', (scope, node) => not(resolveComparison(scope, node, 'eq'))],
  ['like', (scope, node) => resolveLike(scope, node, false)],
  ['ilike', (scope, node) => resolveLike(scope, node, true)],
  ['between', resolveBetween],
  ['in', resolveIn],
  ['isnull', resolveIsNull],
  ...named(spatialNames, resolveSpatial),
  ...named(temporalNames, resolveTemporal),
  ...named(arrayNames, resolveArray),
])

/** The filter that a node says. */
export function resolveFilter(scope: FilterScope, node: Node): Filter {
  if (node.kind === 'boolean') return node.value ? allOf([]) : anyOf([])
  if (node.kind === 'call') return resolveCall(scope, node)
  if (node.kind === 'property') {
    const attribute = attributeOf(scope, node)
    if (attribute.type === 'boolean') {
      return { kind: 'compare', attribute: attribute as ScalarAttribute, comparison: 'eq', value: 'true' }
    }
    throw refuse(
      node.jsonPath,
      'invalid_value',
      `${show(node.name)} must be compared with something, because it is no boolean`,
    )
  }
  throw refuse(node.jsonPath, 'invalid_value', "must be a condition such as name = 'Oslo', not a value")
}

function resolveCall(scope: FilterScope, node: FunctionCall): Filter {
  const resolve = predicates.get(node.name)
  if (resolve) return resolve(scope, node)
  if (scalarNames.includes(node.name)) {
    throw refuse(node.jsonPath, 'invalid_value', `${node.name} gives a value, which must be compared with something`)
  }
  const names = [...predicates.keys(), ...scalarNames]
  throw refuse(node.jsonPath, 'unknown_operator', unknownName('an operator or function of CQL2 here', node.name, names))
}

const resolveAll = (scope: FilterScope, { args }: FunctionCall): Filter[] =>
  args.map((argument) => attempt(scope, () => resolveFilter(scope, argument)))

function resolveComparison(scope: FilterScope, node: FunctionCall, comparison: Comparison): Filter {
  const [left, right] = argumentsOf(node, 'value', 'value')
  return compare(comparison, resolveScalar(scope, left), resolveScalar(scope, right), node.jsonPath)
}

const patternLength = 256

function resolveLike(scope: FilterScope, node: FunctionCall, ignoreCase: boolean): Filter {
  const [left, right] = argumentsOf(node, 'text', 'pattern')
  const operand = resolveScalar(scope, left)
  if (operand.type !== 'string') {
    throw refuse(left.jsonPath, 'operator_not_applicable', `LIKE takes text, not a value of type ${operand.type}`)
  }
  const pattern = resolvePattern(right)
  locating(right.jsonPath, () => checkText(pattern, right.jsonPath.path))
  if (pattern.length > patternLength) {
    throw refuse(right.jsonPath, 'too_long', `must not be longer than ${patternLength} characters`)
  }
  if (endsInsideEscape(pattern)) throw refuse(right.jsonPath, 'invalid_value', 'must not end with a single backslash')
  return likeFilter(operand, pattern, ignoreCase)
}

/** A property is matched as in our own grammar; ILIKE of CASEI or ACCENTI folds case on both sides. */
function likeFilter(operand: Expression, pattern: string, ignoreCase: boolean): Filter {
  if (operand.kind === 'attribute') return { kind: 'like', attribute: operand.attribute, pattern, ignoreCase }
  if (operand.kind === 'literal' && operand.value !== null) {
    return likeMatcher(pattern, ignoreCase)(operand.value) ? allOf([]) : anyOf([])
  }
  if (!ignoreCase || operand.kind !== 'fold') return { kind: 'expression', test: 'like', operand, pattern }
  const folding = operand.folding === 'accent' ? 'case and accent' : operand.folding
  return { kind: 'expression', test: 'like', operand: { ...operand, folding }, pattern: foldText('case', pattern) }
}

function resolveBetween(scope: FilterScope, node: FunctionCall): Filter {
  const [value, least, greatest] = argumentsOf(node, 'value', 'least', 'greatest')
  const operand = resolveScalar(scope, value)
  return allOf([
    compare('gte', operand, resolveScalar(scope, least), least.jsonPath),
    compare('lte', operand, resolveScalar(scope, greatest), greatest.jsonPath),
  ])
}

const itemLimit = 1000

function resolveIn(scope: FilterScope, node: FunctionCall): Filter {
  const [value, list] = argumentsOf(node, 'value', 'list')
  if (list.kind !== 'array') throw refuse(list.jsonPath, 'invalid_value', 'must be a list')
  if (list.items.length > itemLimit) {
    throw refuse(list.jsonPath, 'too_many_values', `must not have more than ${itemLimit} values`)
  }
  const operand = resolveScalar(scope, value)
  const items = list.items.map((item) => ({ expression: resolveScalar(scope, item), jsonPath: item.jsonPath }))
  const filters = items.map(({ expression, jsonPath }) => compare('eq', operand, expression, jsonPath))
  return mergedIn(filters) ?? anyOf(filters)
}

/** One test of a list instead of one for each item, which would compute the operand as often. */
function mergedIn(filters: readonly Filter[]): Filter | undefined {
  const [first] = filters
  if (first?.kind === 'compare') {
    const values = filters.flatMap((filter) => (isEqual(filter) ? [filter.value] : []))
    return values.length === filters.length ? { kind: 'in', attribute: first.attribute, values } : undefined
  }
  if (first?.kind !== 'expression' || first.test !== 'compare') return undefined
  const items = filters.flatMap((filter) => (filter.kind === 'expression' && filter.test === 'compare' ? [filter] : []))
  const isSame = items.length === filters.length && items.every(({ left }) => left === first.left && !isNative(left))
  return isSame
    ? { kind: 'expression', test: 'in', operand: first.left, items: items.map(({ right }) => right) }
    : undefined
}

const isEqual = (filter: Filter): filter is Filter & { kind: 'compare' } =>
  filter.kind === 'compare' && filter.comparison === 'eq'

function resolveIsNull(scope: FilterScope, node: FunctionCall): Filter {
  const [argument] = argumentsOf(node, 'value')
  switch (argument.kind) {
    case 'property':
      return { kind: 'is', attribute: attributeOf(scope, argument), value: null }
    case 'interval':
      return anyOf(intervalBounds(scope, argument).map(isNull))
    case 'array':
    case 'geometry':
    case 'bbox':
      return anyOf([])
    case 'call':
      if (!scalarNames.includes(argument.name)) {
        return { kind: 'isUnknown', inner: resolveFilter(scope, argument) }
      }
  }
  return isNull(resolveScalar(scope, argument))
}

const isNull = (operand: Expression): Filter => ({ kind: 'expression', test: 'isNull', operand })
