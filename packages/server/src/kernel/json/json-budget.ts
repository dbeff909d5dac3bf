/**
 * What JSON may hold: how many values, keys and levels. Bytes are no measure: one mebibyte of `[],[],…` becomes 350 000 lists,
 * which take fifty times as long to parse and a hundred times the memory of one text of that size.
 */
import { limits } from '../limits/limits.ts'

/** What a JSON text may hold. Values are numbers, texts, true, false, null, lists and objects; keys are counted apart. */
export type JsonBudget = {
  /** The name of the limit of values. */
  readonly values: 'bodyValues' | 'rowValues' | 'rowsValues'
  readonly depth: number
  readonly keys: number
  /** Values inside of members called `coordinates` count for this limit in place of `values`. */
  readonly coordinates?: 'coordinateValues'
}

export const bodyBudget: JsonBudget = {
  values: 'bodyValues',
  depth: limits.bodyDepth.value,
  keys: limits.bodyKeys.value,
}

/** One row. Its coordinates have a limit of their own, because a boundary of a country has thousands of positions. */
export const rowBudget: JsonBudget = { ...bodyBudget, values: 'rowValues', coordinates: 'coordinateValues' }

/** All rows of a request, in a list or in the features of a collection. */
export const rowsBudget: JsonBudget = {
  values: 'rowsValues',
  depth: limits.bodyDepth.value + 2,
  keys: limits.rowsValues.value,
}
