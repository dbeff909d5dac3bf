// Keyset paging: a page starts behind the last row of the previous page, identified by its sort values. An index finds
// that place at once, while OFFSET reads and drops all rows before it. Rows added or deleted meanwhile do not shift
// other rows to another page.
import type { Attribute } from '../values/attribute.ts'
import { isScalarType } from '../values/value.ts'
import type { Plan, SortOrder } from './plan.ts'

/**
 * Appends tie-breakers (the key, or the group) to the order, so that pages neither overlap nor skip rows. Terms after
 * the whole key are dropped because they decide nothing. A plan for all rows without an order stays unsorted, because
 * sorting costs.
 */
export function completeOrder(plan: Plan, key: readonly Attribute[]): readonly SortOrder[] {
  const { order, group, limit, offset } = plan
  if (order.length === 0 && limit === undefined && offset === 0) return order
  const rest = (group ?? key).filter(({ name }) => !order.some(isBy(name)))
  if (rest.length === 0 && isByRow(plan)) return upToKey(order, key)
  return [
    ...order,
    ...rest.map((attribute) => ({
      by: { name: '', attribute, type: attribute.type, isTieBreaker: group === undefined },
      isDescending: false,
    })),
  ]
}

const isBy =
  (name: string) =>
  ({ by }: SortOrder): boolean =>
    !by.aggregate && by.attribute?.name === name

/** Whether a term sorts by a key column, which is never null. */
export const isByKey = (term: SortOrder, key: readonly Attribute[]): boolean => key.some(({ name }) => isBy(name)(term))

const isByRow = ({ group, distinct }: Plan): boolean => group === undefined && distinct.length === 0

function upToKey(order: readonly SortOrder[], key: readonly Attribute[]): readonly SortOrder[] {
  const places = key.map(({ name }) => order.findIndex(isBy(name)))
  return key.length === 0 ? order : order.slice(0, Math.max(...places) + 1)
}

/** Why a plan cannot be paged by key, as a phrase after "is not possible: "; undefined if it can. */
export function whyNotByKey(plan: Plan, key: readonly Attribute[]): string | undefined {
  if (!isByRow(plan) || plan.sample) return 'queries with group, aggregates, distinct or sample have no pages by key'
  if (key.length === 0) return 'the dataset has no primary key'
  const odd = key.find(({ type }) => !isScalarType(type))
  return odd && `the primary key "${odd.name}" is of type ${odd.type}`
}
