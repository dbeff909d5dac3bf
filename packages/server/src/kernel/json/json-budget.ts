/**
 * What JSON may hold: how many values, keys and levels. Bytes are no measure: one mebibyte of `[],[],…` becomes 350 000 lists,
 * which take fifty times as long to parse and a hundred times the memory of one text of that size.
 */
import { limits } from '../limits/limits.ts'

/** The limits of coordinates. */
export type CoordinatesLimit = 'bodyCoordinates' | 'coordinateValues'

/** What a JSON text may hold. Values are numbers, texts, true, false, null, lists and objects; keys are counted apart. */
export type JsonBudget = {
  /** The name of the limit of values. */
  readonly values: 'bodyValues' | 'documentValues' | 'rowValues' | 'rowsValues'
  readonly depth: number
  readonly keys: number
  /** Numbers and lists inside of members called `coordinates` count for this limit in place of `values`. */
  readonly coordinates?: CoordinatesLimit
}

/**
 * A body that says no other. Twenty thousand short texts are parsed in 4 ms, a hundred thousand in 20. Coordinates have a limit of their
 * own, because the boundary of a country in a filter has thousands of positions; numbers are parsed ten times as fast.
 */
export const bodyBudget: JsonBudget = {
  values: 'bodyValues',
  depth: limits.bodyDepth.value,
  keys: limits.bodyKeys.value,
  coordinates: 'bodyCoordinates',
}

/** Styles, configuration, and what workers of agents say: documents of people, which may be large. */
export const documentBudget: JsonBudget = { ...bodyBudget, values: 'documentValues' }

/** One row. */
export const rowBudget: JsonBudget = { ...bodyBudget, values: 'rowValues', coordinates: 'coordinateValues' }

/** All rows of a request, in a list or in the features of a collection. */
export const rowsBudget: JsonBudget = {
  values: 'rowsValues',
  depth: limits.bodyDepth.value + 2,
  keys: limits.rowsValues.value,
}
