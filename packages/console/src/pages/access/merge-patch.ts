/** JSON Merge Patch (RFC 7396): the smallest one that makes one value of another. */

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Members that are missing afterwards are null, which removes them. */
export function mergePatchOf(before: Json, after: Json): Record<string, unknown> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...names].filter((name) => !isSame(before[name], after[name]))
  return Object.fromEntries(changed.map((name) => [name, changeOf(before[name], after[name])]))
}

function changeOf(before: unknown, after: unknown): unknown {
  if (isObject(before) && isObject(after)) return mergePatchOf(before, after)
  return after ?? null
}
