/** The rank of a row: a filter for all rows before it, whose count is its position in the table. */
import type { JsonObject } from '@graticule/client'
import type { SortKey } from './sort.ts'

/** `order` must end with the whole key. Nulls are last in both directions. */
export function whereBefore(row: JsonObject, order: readonly SortKey[]): JsonObject {
  const alternatives = order.flatMap(({ attribute, isDescending }, place) => {
    const value = row[attribute]
    const isBefore = value === null ? { $ne: null } : { [isDescending ? '$gt' : '$lt']: value }
    const alike = order.slice(0, place).map(({ attribute: name }) => ({ [name]: { $eq: row[name] ?? null } }))
    return [{ $and: [...alike, { [attribute]: isBefore }] }]
  })
  return { $or: alternatives } as JsonObject
}

/** Appends the key to the sort order, which makes it a total order. */
export const completeOrder = (sort: readonly SortKey[], key: readonly { name: string }[]): SortKey[] => [
  ...sort,
  ...key
    .filter(({ name }) => !sort.some(({ attribute }) => attribute === name))
    .map(({ name }) => ({ attribute: name, isDescending: false })),
]

export const reversed = (order: readonly SortKey[]): SortKey[] =>
  order.map(({ attribute, isDescending }) => ({ attribute, isDescending: !isDescending }))
