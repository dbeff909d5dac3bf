import { kind } from '../engine/type-inference.ts'
import type { TextCursor } from './cursor.ts'
import { type FeatureBuffer, idSlot } from './feature.ts'
import { kindsOfValue } from './values.ts'

/**
 * Whether the ids of features say no more than a property does: exports have the key in both. Such ids are no field. The answer is a
 * function that gives the kinds of an id, none as long as one property has been the same in all features.
 */
export function createIdKinds(cursor: TextCursor, feature: FeatureBuffer): (seen: number) => number {
  /** Places of properties that have been the same so far; undefined before the first id. */
  let twins: number[] | undefined
  let kinds: number = kind.none
  return (seen) => {
    const found = kindsOfValue(cursor, feature, idSlot, seen)
    if (found === kind.none || twins?.length === 0) return kinds | found
    kinds |= found
    twins = (twins ?? [...feature.fields.names.keys()]).filter((place) => isSame(cursor, feature, place))
    return twins.length === 0 ? kinds : kind.none
  }
}

/** By their bytes: both were written by the same program. */
function isSame({ bytes }: TextCursor, { tokens, starts, ends }: FeatureBuffer, place: number): boolean {
  const [start, end] = [starts[place] as number, ends[place] as number]
  const [idStart, idEnd] = [starts[idSlot] as number, ends[idSlot] as number]
  return (
    tokens[place] !== 0 && end - start === idEnd - idStart && bytes.compare(bytes, idStart, idEnd, start, end) === 0
  )
}
