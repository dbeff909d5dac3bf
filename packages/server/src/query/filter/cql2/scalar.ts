// Scalar expressions of CQL2: names, literals, CASEI, ACCENTI and arithmetic. Constants are computed at once.

import { unknownName } from '../../../kernel/nearest-name.ts'
import type { ScalarAttribute } from '../../values/attribute.ts'
import { show } from '../../values/fault.ts'
import { type Folding, foldText } from '../../values/text-folding.ts'
import { canonicalText, isScalarType } from '../../values/value.ts'
import type { ArithmeticOperator, Expression } from '../expression.ts'
import { calculate } from '../expression-value.ts'
import { checkText } from '../operand.ts'
import { argumentsOf, attributeOf, type FilterScope, locating } from './scope.ts'
import { type FunctionCall, type JsonPath, type Node, refuse } from './syntax.ts'

const foldings: Readonly<Record<string, Folding>> = { casei: 'case', accenti: 'accent' }
const operators: ReadonlySet<string> = new Set<ArithmeticOperator>(['+', '-', '*', '/', '%', 'div', '^'])

/** Each fold brings a map of 20 kB into the query. */
const foldLimit = 20

const isOperator = (name: string): name is ArithmeticOperator => operators.has(name)

/** Calls whose value is no truth value. */
export const scalarNames: readonly string[] = [...Object.keys(foldings), ...operators]

export function resolveScalar(scope: FilterScope, node: Node): Expression {
  switch (node.kind) {
    case 'property':
      return resolveProperty(scope, node)
    case 'string':
      locating(node.jsonPath, () => checkText(node.text, node.jsonPath.path))
      return { kind: 'literal', type: 'string', value: node.text }
    case 'number':
      return numberLiteral(node.text, node.jsonPath)
    case 'boolean':
      return { kind: 'literal', type: 'boolean', value: String(node.value) }
    case 'date':
    case 'timestamp':
      return instantLiteral(node.kind, node.text, node.jsonPath)
    case 'call':
      return resolveCall(scope, node)
    default:
      throw refuse(node.jsonPath, 'invalid_value', `must be a property or a single value, not a ${nounOf(node)}`)
  }
}

const nounOf = ({ kind }: Node): string => (kind === 'bbox' ? 'box' : kind)

function resolveProperty(scope: FilterScope, node: Node & { kind: 'property' }): Expression {
  const attribute = attributeOf(scope, node)
  const { type } = attribute
  if (isScalarType(type)) return { kind: 'attribute', type, attribute: attribute as ScalarAttribute }
  const hint = { geometry: ' Use a spatial function such as S_INTERSECTS.', array: ' Use A_CONTAINS or A_OVERLAPS.' }
  const advice = type === 'geometry' || type === 'array' ? hint[type] : ' Only IS NULL applies to it.'
  throw refuse(node.jsonPath, 'operator_not_applicable', `${show(node.name)} is of type ${type}.${advice}`)
}

function numberLiteral(text: string, jsonPath: JsonPath): Expression {
  const value = canonicalText('number', text)
  if (value === undefined)
    throw refuse(jsonPath, 'invalid_value', `must be a number that fits a double, not ${show(text)}`)
  return { kind: 'literal', type: 'number', value }
}

const dayText = /^\d{4}-\d\d-\d\d$/
const utcText = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/i

export function instantLiteral(kind: 'date' | 'timestamp', text: string, jsonPath: JsonPath): Expression {
  const type = kind === 'date' ? 'date' : 'datetime'
  const value = (kind === 'date' ? dayText : utcText).test(text) ? canonicalText(type, text) : undefined
  if (value !== undefined) return { kind: 'literal', type, value }
  const wanted = kind === 'date' ? 'a date such as 2024-01-31' : 'a time in UTC such as 2024-01-31T12:00:00Z'
  throw refuse(jsonPath, 'invalid_value', `must be ${wanted}, not ${show(text)}`)
}

function resolveCall(scope: FilterScope, node: FunctionCall): Expression {
  const folding = Object.hasOwn(foldings, node.name) ? foldings[node.name] : undefined
  if (folding) return resolveFold(scope, node, folding)
  if (isOperator(node.name)) return resolveArithmetic(scope, node, node.name)
  throw refuse(
    node.jsonPath,
    'unknown_operator',
    unknownName('a function that gives a value to compare', node.name, scalarNames),
  )
}

function resolveFold(scope: FilterScope, node: FunctionCall, folding: Folding): Expression {
  const [argument] = argumentsOf(node, 'text')
  const operand = resolveScalar(scope, argument)
  if (operand.type !== 'string') {
    throw refuse(argument.jsonPath, 'operator_not_applicable', `must be text, not of type ${operand.type}`)
  }
  if (operand.kind === 'literal') return { ...operand, value: operand.value && foldText(folding, operand.value) }
  if (operand.kind === 'fold') return { ...operand, folding: operand.folding === folding ? folding : 'case and accent' }
  scope.folds += 1
  if (scope.folds > foldLimit) {
    throw refuse(
      node.jsonPath,
      'too_many_nodes',
      `must not apply CASEI and ACCENTI to more than ${foldLimit} properties`,
    )
  }
  return { kind: 'fold', type: 'string', folding, operand }
}

function resolveArithmetic(scope: FilterScope, node: FunctionCall, operator: ArithmeticOperator): Expression {
  const [left, right] = argumentsOf(node, 'number', 'number').map((argument) => resolveNumber(scope, argument)) as [
    Expression,
    Expression,
  ]
  if (left.kind !== 'literal' || right.kind !== 'literal') {
    return { kind: 'arithmetic', type: 'number', operator, left, right }
  }
  const result = calculate(operator, numberOf(left), numberOf(right))
  return { kind: 'literal', type: 'number', value: result === null ? null : String(result) }
}

function resolveNumber(scope: FilterScope, node: Node): Expression {
  const expression = resolveScalar(scope, node)
  if (expression.type === 'integer' || expression.type === 'number') return expression
  throw refuse(node.jsonPath, 'operator_not_applicable', `must be a number, not of type ${expression.type}`)
}

const numberOf = ({ value }: { readonly value: string | null }): number | null =>
  value === null ? null : Number(value)

/** The pattern of LIKE: a string, or one that CASEI or ACCENTI fold. */
export function resolvePattern(node: Node): string {
  if (node.kind === 'string') return node.pattern
  const folding = node.kind === 'call' && Object.hasOwn(foldings, node.name) ? foldings[node.name] : undefined
  if (node.kind === 'call' && folding) return foldText(folding, resolvePattern(argumentsOf(node, 'pattern')[0]))
  throw refuse(node.jsonPath, 'invalid_value', "must be a pattern in quotes, such as 'B_r%'")
}
