// Temporal functions of CQL2, as comparisons of the instants at which their operands start and end.

import { show } from '../../values/fault.ts'
import type { Comparison, Expression } from '../expression.ts'
import { allOf, anyOf, type Filter } from '../filter-tree.ts'
import { compare } from './comparison.ts'
import { instantLiteral, resolveScalar } from './scalar.ts'
import { argumentsOf, type FilterScope } from './scope.ts'
import { type FunctionCall, type JsonPath, type Node, refuse } from './syntax.ts'

/** A start or an end; null is one that is open. */
type Bound = Expression | null
type Period = { readonly start: Bound; readonly end: Bound; readonly isInstant: boolean }

/** One comparison of two bounds: s1 and e1 are those of the first operand, s2 and e2 those of the second. */
type BoundName = 's1' | 'e1' | 's2' | 'e2'
type Rule = readonly [BoundName, Comparison, BoundName]
type Relation = { readonly rules: readonly Rule[]; readonly isAny?: boolean; readonly takesInstants?: boolean }

const relations: ReadonlyMap<string, Relation> = new Map<string, Relation>([
  ['t_after', { rules: [['s1', 'gt', 'e2']], takesInstants: true }],
  ['t_before', { rules: [['e1', 'lt', 's2']], takesInstants: true }],
  [
    't_disjoint',
    {
      rules: [
        ['e1', 'lt', 's2'],
        ['s1', 'gt', 'e2'],
      ],
      isAny: true,
      takesInstants: true,
    },
  ],
  [
    't_equals',
    {
      rules: [
        ['s1', 'eq', 's2'],
        ['e1', 'eq', 'e2'],
      ],
      takesInstants: true,
    },
  ],
  [
    't_intersects',
    {
      rules: [
        ['e1', 'gte', 's2'],
        ['s1', 'lte', 'e2'],
      ],
      takesInstants: true,
    },
  ],
  [
    't_contains',
    {
      rules: [
        ['s1', 'lt', 's2'],
        ['e1', 'gt', 'e2'],
      ],
    },
  ],
  [
    't_during',
    {
      rules: [
        ['s1', 'gt', 's2'],
        ['e1', 'lt', 'e2'],
      ],
    },
  ],
  [
    't_finishedby',
    {
      rules: [
        ['s1', 'lt', 's2'],
        ['e1', 'eq', 'e2'],
      ],
    },
  ],
  [
    't_finishes',
    {
      rules: [
        ['s1', 'gt', 's2'],
        ['e1', 'eq', 'e2'],
      ],
    },
  ],
  ['t_meets', { rules: [['e1', 'eq', 's2']] }],
  ['t_metby', { rules: [['s1', 'eq', 'e2']] }],
  [
    't_overlappedby',
    {
      rules: [
        ['s1', 'gt', 's2'],
        ['s1', 'lt', 'e2'],
        ['e1', 'gt', 'e2'],
      ],
    },
  ],
  [
    't_overlaps',
    {
      rules: [
        ['s1', 'lt', 's2'],
        ['e1', 'gt', 's2'],
        ['e1', 'lt', 'e2'],
      ],
    },
  ],
  [
    't_startedby',
    {
      rules: [
        ['s1', 'eq', 's2'],
        ['e1', 'gt', 'e2'],
      ],
    },
  ],
  [
    't_starts',
    {
      rules: [
        ['s1', 'eq', 's2'],
        ['e1', 'lt', 'e2'],
      ],
    },
  ],
])

export const temporalNames: readonly string[] = [...relations.keys()]

export function resolveTemporal(scope: FilterScope, node: FunctionCall): Filter {
  const relation = relations.get(node.name)
  const [first, second] = argumentsOf(node, 'time', 'time').map((argument) => {
    const period = resolvePeriod(scope, argument)
    if (period.isInstant && !relation?.takesInstants) {
      throw refuse(argument.jsonPath, 'operator_not_applicable', `${node.name} takes intervals: INTERVAL(start, end)`)
    }
    return period
  }) as [Period, Period]
  const bounds = { s1: first.start, e1: first.end, s2: second.start, e2: second.end }
  const filters = (relation?.rules ?? []).map(([one, how, other]) =>
    compareBounds(how, one, other, bounds, node.jsonPath),
  )
  return relation?.isAny ? anyOf(filters) : allOf(filters)
}

/** Open bounds lie before, or behind, all instants. */
function compareBounds(
  comparison: Comparison,
  one: BoundName,
  other: BoundName,
  bounds: Readonly<Record<BoundName, Bound>>,
  jsonPath: JsonPath,
): Filter {
  const [left, right] = [bounds[one], bounds[other]]
  if (left && right) return compare(comparison, left, right, jsonPath)
  const difference = rankOf(one, left) - rankOf(other, right)
  const holds = holdsFor(comparison, difference)
  const operand = left ?? right
  if (!operand) return holds ? allOf([]) : anyOf([])
  // The same for each instant, but unknown if it is null.
  return compare(holds ? 'eq' : 'lt', operand, operand, jsonPath)
}

const rankOf = (name: BoundName, bound: Bound): number => (bound ? 0 : name.startsWith('s') ? -1 : 1)

function holdsFor(comparison: Comparison, difference: number): boolean {
  if (difference === 0) return comparison === 'eq' || comparison === 'lte' || comparison === 'gte'
  return difference < 0 ? comparison.startsWith('lt') : comparison.startsWith('gt')
}

function resolvePeriod(scope: FilterScope, node: Node): Period {
  if (node.kind !== 'interval') {
    const instant = resolveInstant(scope, node)
    return { start: instant, end: instant, isInstant: true }
  }
  const [first, second, ...more] = node.args
  if (!first || !second || more.length > 0) {
    throw refuse(
      node.jsonPath,
      'invalid_value',
      "an interval has a start and an end, such as INTERVAL('2024-01-01', '..')",
    )
  }
  const [start, end] = [resolveBound(scope, first), resolveBound(scope, second)]
  checkOrder(start, end, node.jsonPath)
  return { start, end, isInstant: false }
}

/** The bounds of an interval that are expressions. */
export function intervalBounds(scope: FilterScope, node: Node): readonly Expression[] {
  const { start, end } = resolvePeriod(scope, node)
  return [start, end].filter((bound) => bound !== null)
}

const open = '..'

function resolveBound(scope: FilterScope, node: Node): Bound {
  return node.kind === 'string' && node.text === open ? null : resolveInstant(scope, node)
}

function resolveInstant(scope: FilterScope, node: Node): Expression {
  if (node.kind === 'string') {
    return instantLiteral(/^\d{4}-\d\d-\d\d$/.test(node.text) ? 'date' : 'timestamp', node.text, node.jsonPath)
  }
  const expression = resolveScalar(scope, node)
  if (expression.type === 'date' || expression.type === 'datetime') return expression
  throw refuse(
    node.jsonPath,
    'operator_not_applicable',
    `must be a date or a time stamp, not of type ${expression.type}`,
  )
}

function checkOrder(start: Bound, end: Bound, jsonPath: JsonPath): void {
  if (start?.kind !== 'literal' || end?.kind !== 'literal') return
  const length = Math.min(start.value?.length ?? 0, end.value?.length ?? 0)
  const [first = '', last = ''] = [start.value?.slice(0, length), end.value?.slice(0, length)]
  if (first > last) throw refuse(jsonPath, 'invalid_value', `the interval ends (${show(last)}) before it starts`)
}
