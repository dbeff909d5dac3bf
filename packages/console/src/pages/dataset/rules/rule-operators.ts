/** The operators of a rule's conditions: those of the filter builder, and some that compare with a value of the caller only. */
import type { ColumnType } from '../attribute.ts'
import { type OperatorName, operatorNames, operators } from '../operators.ts'

/** A box is what a map shows, and a rule has none. */
export type FilterOperator = Exclude<OperatorName, 'inBox'>
export type RuleOperator = FilterOperator | 'holds' | 'sharesOne' | 'isWithin' | 'touches'

interface Operator {
  /** In the list of operators, and in sentences. */
  label: string
  key: `$${string}`
  /** The number of fixed values; `caller`: only a value of the caller. */
  takes: 'none' | 'one' | 'two' | 'list' | 'caller'
  takesCaller: boolean
  types: readonly ColumnType[]
}

const withCaller: ReadonlySet<OperatorName> = new Set([
  ...(['is', 'isNot', 'atLeast', 'above', 'atMost', 'below'] as const),
  ...(['oneOf', 'noneOf', 'startsWith', 'endsWith'] as const),
])

const ruleOnly = (label: string, key: `$${string}`, ...types: ColumnType[]): Operator => ({
  label,
  key,
  takes: 'caller',
  takesCaller: true,
  types,
})

const isUsed = (name: OperatorName): name is FilterOperator => name !== 'inBox'

const ofFilter = Object.fromEntries(
  operatorNames.filter(isUsed).map((name): [FilterOperator, Operator] => {
    const { label, key, takes, types } = operators[name]
    return [name, { label, key, takes: takes === 'box' ? 'caller' : takes, takesCaller: withCaller.has(name), types }]
  }),
) as Record<FilterOperator, Operator>

export const ruleOperators: Readonly<Record<RuleOperator, Operator>> = {
  ...ofFilter,
  matches: { ...ofFilter.matches, label: 'is like' },
  holds: ruleOnly('contains', '$contains', 'array'),
  sharesOne: ruleOnly('has one of', '$overlap', 'array'),
  isWithin: ruleOnly('is inside', '$within', 'geometry'),
  touches: ruleOnly('touches', '$intersects', 'geometry'),
}

export const ruleOperatorNames = Object.keys(ruleOperators) as RuleOperator[]

export const isFilterOperator = (name: RuleOperator): name is FilterOperator => ruleOperators[name].takes !== 'caller'

export const ruleOperatorsOf = (type: ColumnType): RuleOperator[] =>
  ruleOperatorNames.filter((name) => ruleOperators[name].types.includes(type))

/** Rules compare for equality more often than filters do. */
export const firstRuleOperator = (type: ColumnType): RuleOperator => {
  const offered = ruleOperatorsOf(type)
  const usual: readonly RuleOperator[] = ['is', 'holds', 'isWithin']
  return usual.find((name) => offered.includes(name)) ?? offered[0] ?? 'isNotNull'
}
