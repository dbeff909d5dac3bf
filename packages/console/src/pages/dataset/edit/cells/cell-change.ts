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
export function filterOf({ ids, before }: ChangeRequest, attributes: readonly DatasetAttribute[]): JsonObject {
  const key = attributes.filter(({ primaryKey }) => primaryKey)
  const isReal = (name: string) => attributes.some((one) => one.name === name && one.dbType === 'real')
  const conditions = Object.entries(before).map(([name, value]) => [name, isReal(name) ? nearly(value) : value])
  return { $and: [whereIds(ids, key), Object.fromEntries(conditions)] }
}

/** A number of single precision is not equal to the digits that are shown of it. */
const singlePrecision = 1e-6

function nearly(value: JsonValue): JsonValue {
  if (typeof value !== 'number') return value
  const most = Math.abs(value) * singlePrecision
  return { $between: [value - most, value + most] }
}

export const undone = (changes: readonly CellChange[]): CellChange[] =>
  changes.map(({ before, after, ...cell }) => ({ ...cell, before: after, after: before })).toReversed()
