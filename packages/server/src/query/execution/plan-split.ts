// Push-down of plans: splits a plan into the part an engine runs and the rest, which runs in memory on its rows.
import type { Sql } from '../../kernel/db/sql.ts'
import { attributesOfTest } from '../filter/expression.ts'
import type { Filter } from '../filter/filter-tree.ts'
import type { Plan, PlanColumn, SortOrder } from '../plan/plan.ts'
import type { Attribute } from '../values/attribute.ts'
import type { SqlDialect } from './dialect.ts'

export type SplitPlan = {
  /** The engine's part, with its part of the filter. */
  readonly pushed: Plan
  readonly condition: Sql
  /** The rest, on the rows of `pushed`, whose columns are named like the attributes. Undefined if nothing is left. */
  readonly rest?: {
    readonly plan: Plan
    /** The rows arrive in order: only filter, offset and limit are left, so they can be streamed. */
    readonly isStream: boolean
  }
}

export function splitPlan(plan: Plan, dialect: SqlDialect): SplitPlan {
  const { condition, rest } = dialect.where(plan.where)
  if (!rest && canCarryOut(plan, dialect)) return { pushed: plan, condition }
  const isStream = !plan.group && plan.distinct.length === 0 && plan.order.every(({ by }) => canCompute(by, dialect))
  const remaining: Plan = { ...plan, where: rest ?? { kind: 'and', filters: [] }, sample: undefined }
  return {
    condition,
    pushed: {
      columns: attributesOf(remaining).map((attribute) => ({ name: attribute.name, attribute, type: attribute.type })),
      where: plan.where,
      order: isStream ? plan.order : [],
      group: undefined,
      distinct: [],
      sample: plan.sample,
      limit: undefined,
      offset: 0,
    },
    rest: { plan: remaining, isStream },
  }
}

function canCarryOut({ columns, order, group = [], distinct }: Plan, dialect: SqlDialect): boolean {
  const compared = [...group, ...distinct]
  return (
    columns.every((column) => canCompute(column, dialect)) &&
    order.every(({ by }) => canCompute(by, dialect)) &&
    compared.every(dialect.canGroup)
  )
}

function canCompute(column: PlanColumn, dialect: SqlDialect): boolean {
  const { attribute, aggregate, distanceTo } = column
  if (!attribute) return true
  if (distanceTo) return dialect.distance(attribute, column) !== undefined
  return !aggregate || dialect.aggregate({ ...column, attribute }) !== undefined
}

/** Every attribute the plan needs, once. */
function attributesOf({ columns, where, order, group = [], distinct }: Plan): Attribute[] {
  const named = [...columns, ...order.map(({ by }: SortOrder) => by)].flatMap(({ attribute }) => attribute ?? [])
  const all = [...named, ...group, ...distinct, ...testedAttributes(where)]
  return [...new Map(all.map((attribute) => [attribute.name, attribute])).values()]
}

export function testedAttributes(filter: Filter): Attribute[] {
  if ('filters' in filter) return filter.filters.flatMap(testedAttributes)
  if ('filter' in filter) return testedAttributes(filter.filter)
  if (filter.kind === 'isUnknown') return testedAttributes(filter.inner)
  return filter.kind === 'expression' ? attributesOfTest(filter) : [filter.attribute]
}
