/**
 * Changes of cells, and the requests that make them. Each request names the values that the cells had, so that what somebody
 * else has changed meanwhile is not overwritten (optimistic concurrency): the filter then matches fewer rows than expected.
 */
import type { JsonObject } from '@graticule/client'
import type { DatasetAttribute } from '../../dataset.ts'
import { type RowId, whereIds } from '../../table/selection.ts'
import type { JsonValue } from './inline-cell.ts'

export interface CellChange {
  id: RowId
  column: string
  before: JsonValue
  after: JsonValue
}

/** Rows that get the same values in place of the same values, in one request: all of them or none. */
export interface ChangeRequest {
  changes: readonly CellChange[]
  ids: readonly RowId[]
  before: JsonObject
  after: JsonObject
}

/** The server allows 200 conditions and 1 000 values in a filter. */
const maxRowsOfRequest = { singleKey: 200, compositeKey: 40 }

export function requestsOf(changes: readonly CellChange[], key: readonly DatasetAttribute[]): ChangeRequest[] {
  const most = key.length === 1 ? maxRowsOfRequest.singleKey : maxRowsOfRequest.compositeKey
  const rows = Map.groupBy(changes, ({ id }) => id)
  const alike = Map.groupBy(rows.values(), valuesText)
  return [...alike.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / most) }, (_, part) =>
      requestOf(group.slice(part * most, (part + 1) * most).flat()),
    ),
  )
}

const valuesText = (changes: readonly CellChange[]): string =>
  JSON.stringify(changes.map(({ column, before, after }) => [column, before, after]))

export function requestOf(changes: readonly CellChange[]): ChangeRequest {
  const side = (name: 'before' | 'after') => Object.fromEntries(changes.map((one) => [one.column, one[name]]))
  return { changes, ids: [...new Set(changes.map(({ id }) => id))], before: side('before'), after: side('after') }
}

/** The request for each row alone. */
export const rowRequests = ({ changes }: ChangeRequest): ChangeRequest[] =>
  [...Map.groupBy(changes, ({ id }) => id).values()].map(requestOf)

/** Matches the rows as they were. */
export const filterOf = ({ ids, before }: ChangeRequest, key: readonly DatasetAttribute[]): JsonObject => ({
  $and: [whereIds(ids, key), before],
})

export const undone = (changes: readonly CellChange[]): CellChange[] =>
  changes.map(({ before, after, ...cell }) => ({ ...cell, before: after, after: before })).toReversed()
