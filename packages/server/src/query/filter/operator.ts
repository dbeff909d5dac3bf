// The filter's operators, and the types each one applies to.
import { shortList, unknownName } from '../../kernel/nearest-name.ts'
import type { Attribute, AttributeType, ScalarAttribute, ScalarType } from '../values/attribute.ts'
import { fault, show } from '../values/fault.ts'
import { isScalarType } from '../values/value.ts'
import type { Comparison } from './expression.ts'
import { allOf, anyOf, type Filter, not } from './filter-tree.ts'
import { endsInsideEscape, escapeLike } from './like.ts'
import { checkText, jsonOperand, listOperand, rawList, scalarOperand } from './operand.ts'
import { bboxOperand, boxOperand, distanceOperand, geometryOperand, isBox } from './spatial-operand.ts'

/** One use of an operator: `attribute operator value`, found at `path`. */
export type Use = { readonly attribute: Attribute; readonly value: unknown; readonly path: string }

type Operator = { readonly types: readonly AttributeType[]; readonly build: (use: Use) => Filter }

const patternLength = 256

const ordered: readonly AttributeType[] = ['string', 'integer', 'number', 'date', 'datetime', 'time', 'uuid']
const scalar: readonly AttributeType[] = [...ordered, 'boolean']
const equatable: readonly AttributeType[] = [...scalar, 'json', 'array']

/** `$and`, `$or`, `$not` and comparison with null are in filter.ts, because they nest or apply to every type. */
const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['$eq', { types: equatable, build: equal }],
  ['$ne', { types: equatable, build: (use) => not(equal(use)) }],
  ['$gt', { types: ordered, build: (use) => compare(use, 'gt') }],
  ['$gte', { types: ordered, build: (use) => compare(use, 'gte') }],
  ['$lt', { types: ordered, build: (use) => compare(use, 'lt') }],
  ['$lte', { types: ordered, build: (use) => compare(use, 'lte') }],
  ['$in', { types: scalar, build: oneOf }],
  ['$notIn', { types: scalar, build: (use) => not(oneOf(use)) }],
  ['$between', { types: ordered, build: between }],
  ['$notBetween', { types: ordered, build: (use) => not(between(use)) }],
  ['$like', { types: ['string'], build: (use) => like(use, false) }],
  ['$notLike', { types: ['string'], build: (use) => not(like(use, false)) }],
  ['$iLike', { types: ['string'], build: (use) => like(use, true) }],
  ['$notILike', { types: ['string'], build: (use) => not(like(use, true)) }],
  ['$startsWith', { types: ['string'], build: (use) => likeText(use, '', '%') }],
  ['$endsWith', { types: ['string'], build: (use) => likeText(use, '%', '') }],
  ['$substring', { types: ['string'], build: (use) => likeText(use, '%', '%') }],
  ['$is', { types: ['boolean'], build: is }],
  ['$contains', { types: ['json', 'array'], build: contains }],
  ['$overlap', { types: ['array'], build: (use) => items(use, 'overlap') }],
  ['$bbox', { types: ['geometry'], build: bbox }],
  ['$intersects', { types: ['geometry'], build: (use) => spatial(use, 'intersects') }],
  ['$within', { types: ['geometry'], build: (use) => spatial(use, 'within') }],
  ['$dwithin', { types: ['geometry'], build: dwithin }],
])

export function applyOperator(name: string, use: Use): Filter {
  const operator = operators.get(name)
  const { type } = use.attribute
  if (!operator) {
    throw fault(use.path, 'unknown_operator', unknownName(`an operator for type ${type}`, name, operatorsOf(type)))
  }
  if (!operator.types.includes(type)) throw fault(use.path, 'operator_not_applicable', inapplicable(name, type))
  return operator.build(use)
}

export const isOperator = (name: string): boolean => operators.has(name)

/** `$is` and `$not` with null apply to every type. */
const operatorsOf = (type: AttributeType): string[] => [
  ...[...operators].flatMap(([name, { types }]) => (types.includes(type) ? [name] : [])),
  ...['$is', '$not', '$and', '$or'].filter((name) => !operators.get(name)?.types.includes(type)),
]

function inapplicable(name: string, type: AttributeType): string {
  if (name === '$is') return `must be null: $is takes no other value for type ${type}`
  return `${name} does not apply to type ${type}. Allowed: ${shortList(operatorsOf(type))}.`
}

function equal(use: Use): Filter {
  const { attribute, value, path } = use
  if (attribute.type === 'json') return { kind: 'json', attribute, relation: 'eq', value: jsonOperand(value, path) }
  return attribute.type === 'array' ? items(use, 'eq') : compare(use, 'eq')
}

function compare({ attribute, value, path }: Use, comparison: Comparison): Filter {
  const known = scalarAttribute(attribute)
  return { kind: 'compare', attribute: known, comparison, value: scalarOperand(known, value, path) }
}

function oneOf({ attribute, value, path }: Use): Filter {
  const known = scalarAttribute(attribute)
  return { kind: 'in', attribute: known, values: listOperand(known, value, path) }
}

function between(use: Use): Filter {
  const bounds = rawList(use.value, use.path)
  if (bounds.length !== 2) throw fault(use.path, 'invalid_value', 'must be two values: the least and the greatest')
  return allOf([compare({ ...use, value: bounds[0] }, 'gte'), compare({ ...use, value: bounds[1] }, 'lte')])
}

function like({ attribute, value, path }: Use, ignoreCase: boolean): Filter {
  const pattern = patternOperand(value, path)
  if (endsInsideEscape(pattern)) throw fault(path, 'invalid_value', 'must not end with a single backslash')
  return { kind: 'like', attribute, pattern, ignoreCase }
}

function likeText({ attribute, value, path }: Use, before: string, after: string): Filter {
  const pattern = `${before}${escapeLike(patternOperand(value, path))}${after}`
  return { kind: 'like', attribute, pattern, ignoreCase: false }
}

function patternOperand(value: unknown, path: string): string {
  if (typeof value !== 'string') throw fault(path, 'invalid_value', `must be a string, not ${show(value)}`)
  if (value.length > patternLength) throw fault(path, 'too_long', `must not be longer than ${patternLength} characters`)
  checkText(value, path)
  return value
}

function is({ attribute, value, path }: Use): Filter {
  if (value === true || value === 'true') return { kind: 'is', attribute, value: true }
  if (value === false || value === 'false') return { kind: 'is', attribute, value: false }
  throw fault(path, 'invalid_value', `must be null, true or false, not ${show(value)}`)
}

function contains(use: Use): Filter {
  const { attribute, value, path } = use
  if (attribute.type === 'array') return items(use, 'contains')
  return { kind: 'json', attribute, relation: 'contains', value: jsonOperand(value, path) }
}

function items({ attribute, value, path }: Use, relation: 'eq' | 'contains' | 'overlap'): Filter {
  const itemType: ScalarType | undefined = scalarType(attribute.itemType ?? 'string')
  if (!itemType) {
    throw fault(path, 'operator_not_applicable', `lists of type ${attribute.itemType} can only be compared with null`)
  }
  const values = listOperand({ ...attribute, type: itemType }, value, path)
  return { kind: 'items', attribute, itemType, relation, values }
}

function bbox({ attribute, value, path }: Use): Filter {
  const parts = bboxOperand(value, path).filter((part) => part !== undefined)
  return anyOf(parts.map((geometry) => ({ kind: 'intersects', attribute, geometry })))
}

/** The operand is a geometry or a box. */
function spatial(use: Use, kind: 'intersects' | 'within'): Filter {
  const { attribute, value, path } = use
  if (!isBox(value)) return { kind, attribute, geometry: geometryOperand(value, path) }
  return kind === 'intersects' ? bbox(use) : { kind, attribute, geometry: boxOperand(value, path) }
}

function dwithin({ attribute, value, path }: Use): Filter {
  return { kind: 'dwithin', attribute, ...distanceOperand(value, path) }
}

const scalarType = (type: AttributeType): ScalarType | undefined => (isScalarType(type) ? type : undefined)

function scalarAttribute(attribute: Attribute): ScalarAttribute {
  if (!isScalarAttribute(attribute)) throw new TypeError(`The operator table lets ${attribute.type} be compared`)
  return attribute
}

const isScalarAttribute = (attribute: Attribute): attribute is ScalarAttribute => isScalarType(attribute.type)
