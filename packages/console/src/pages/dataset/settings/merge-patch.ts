/** Computes the JSON merge patch (RFC 7396) between two objects: null removes a member. */
import type { JsonObject } from '@graticule/client'

export function mergePatchOf(before: JsonObject, after: JsonObject): JsonObject {
  const gone = Object.keys(before).filter((name) => !(name in after))
  const changed = Object.entries(after).flatMap(([name, value]): [string, unknown][] => {
    const last = before[name]
    if (isObject(last) && isObject(value)) {
      const inner = mergePatchOf(last, value)
      return Object.keys(inner).length > 0 ? [[name, inner]] : []
    }
    return isEqual(last, value) ? [] : [[name, value]]
  })
  return Object.fromEntries([...gone.map((name): [string, unknown] => [name, null]), ...changed])
}

/** Deep equality, regardless of the order of names. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index]))
  }
  if (!(isObject(one) && isObject(other))) return one === other
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => isEqual(one[name], other[name]))
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
