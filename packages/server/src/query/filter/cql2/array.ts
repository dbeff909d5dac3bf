// Array functions of CQL2, which compare arrays as sets.
import type { ScalarAttribute } from '../../values/attribute.ts'
import { show } from '../../values/fault.ts'
import { canonicalText, isScalarType } from '../../values/value.ts'
import type { SetOperand } from '../expression.ts'
import { allOf, type Filter } from '../filter-tree.ts'
import { jsonOperand } from '../operand.ts'
import { resolveScalar } from './scalar.ts'
import { argumentsOf, attributeOf, type FilterScope, locating } from './scope.ts'
import { readLiteral } from './spatial.ts'
import { type FunctionCall, type Node, refuse } from './syntax.ts'

type Relation = 'contains' | 'contained' | 'overlaps'

const relations: ReadonlyMap<string, readonly Relation[]> = new Map<string, readonly Relation[]>([
  ['a_contains', ['contains']],
  ['a_containedby', ['contained']],
  ['a_equals', ['contains', 'contained']],
  ['a_overlaps', ['overlaps']],
])

export const arrayNames: readonly string[] = [...relations.keys()]

const mirrored = { contains: 'contained', contained: 'contains', overlaps: 'overlaps' } as const

const itemLimit = 1000

export function resolveArray(scope: FilterScope, node: FunctionCall): Filter {
  const [first, second] = argumentsOf(node, 'array', 'array')
  const filters = (relations.get(node.name) ?? []).map((relation) => {
    const isTurned = first.kind !== 'property' && second.kind === 'property'
    return isTurned ? relate(scope, mirrored[relation], second, first) : relate(scope, relation, first, second)
  })
  return allOf(filters)
}

function relate(scope: FilterScope, relation: Relation, first: Node, second: Node): Filter {
  return relateItems(scope, relation, first, second) ?? relateSets(scope, relation, first, second)
}

/** An array column compared with scalars, which its index serves. Undefined if it is not that. */
function relateItems(scope: FilterScope, relation: Relation, first: Node, second: Node): Filter | undefined {
  if (first.kind !== 'property' || second.kind === 'property') return undefined
  const attribute = attributeOf(scope, first)
  const itemType = attribute.itemType ?? 'string'
  if (attribute.type !== 'array' || !isScalarType(itemType)) return undefined
  const values = itemsOf(second).map((item) => itemText(scope, { ...attribute, type: itemType }, item))
  return { kind: 'items', attribute, itemType, relation: relation === 'overlaps' ? 'overlap' : relation, values }
}

function itemText(scope: FilterScope, { type, isNative }: ScalarAttribute, node: Node): string {
  const item = resolveScalar(scope, node)
  if (isNative && item.kind === 'literal' && item.value !== null) return item.value
  const text = item.kind === 'literal' && item.value !== null ? canonicalText(type, item.value) : undefined
  const isOfType = item.type === type || item.type === 'string' || (item.type === 'number' && type === 'integer')
  if (text !== undefined && isOfType && (item.type === 'string' || type !== 'string')) return text
  throw refuse(node.jsonPath, 'invalid_value', `must be a value of type ${type}, like the items of the property`)
}

function relateSets(scope: FilterScope, relation: Relation, first: Node, second: Node): Filter {
  const [left, right] = [resolveSet(scope, first), resolveSet(scope, second)]
  const test = { kind: 'expression', test: 'sets' } as const
  if (relation === 'contained') return { ...test, relation: 'contains', left: right, right: left }
  return { ...test, relation, left, right }
}

function resolveSet(scope: FilterScope, node: Node): SetOperand {
  if (node.kind !== 'property') {
    const items = itemsOf(node).map((item) => jsonOf(scope, item))
    return { json: locating(node.jsonPath, () => jsonOperand(items, node.jsonPath.path)) }
  }
  const attribute = attributeOf(scope, node)
  if (attribute.type === 'array' || attribute.type === 'json') return { attribute }
  throw refuse(
    node.jsonPath,
    'operator_not_applicable',
    `${show(node.name)} is of type ${attribute.type}, not an array`,
  )
}

/** A single value is an array of one. */
function itemsOf(node: Node): readonly Node[] {
  if (node.brackets) return [{ ...node, brackets: node.brackets - 1 }]
  if (node.kind !== 'array') return [node]
  if (node.items.length <= itemLimit) return node.items
  throw refuse(node.jsonPath, 'too_many_values', `must not have more than ${itemLimit} values`)
}

/** An item as JSON has it: instants are strings there. */
function jsonOf(scope: FilterScope, node: Node): unknown {
  if (node.kind === 'array' || node.brackets) return itemsOf(node).map((item) => jsonOf(scope, item))
  if (node.kind === 'geometry') return readLiteral(scope, node.value, node.jsonPath)
  const item = resolveScalar(scope, node)
  if (item.kind !== 'literal' || item.value === null) {
    throw refuse(
      node.jsonPath,
      'invalid_value',
      'must be a value: properties and expressions cannot be items of an array',
    )
  }
  if (item.type === 'number') return Number(item.value)
  // Most programs write no fraction of seconds where there is none.
  if (item.type === 'datetime') return item.value.replace(/\.?0*Z$/, 'Z')
  return item.type === 'boolean' ? item.value === 'true' : item.value
}
