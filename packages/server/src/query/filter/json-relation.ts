// jsonb's equality and containment (`@>`) for JSON values in memory.

/** jsonb equality: the order of an object's keys does not matter. */
export function jsonEquals(a: unknown, b: unknown): boolean {
  if (!isContainer(a) || !isContainer(b)) return a === b
  const [keysOfA, keysOfB] = [Object.keys(a), Object.keys(b)]
  if (Array.isArray(a) !== Array.isArray(b) || keysOfA.length !== keysOfB.length) return false
  return keysOfA.every((key) => Object.hasOwn(b, key) && jsonEquals(a[key], b[key]))
}

/** jsonb's `@>`: an array contains a scalar that is one of its items, but only at the top level. */
export function jsonContains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(whole) && !isContainer(part)) return whole.some((item) => item === part)
  return containsDeep(whole, part)
}

function containsDeep(whole: unknown, part: unknown): boolean {
  if (!isContainer(whole) || !isContainer(part)) return whole === part
  if (Array.isArray(whole) !== Array.isArray(part)) return false
  if (Array.isArray(whole)) {
    return Object.values(part).every((wanted) => whole.some((item) => containsDeep(item, wanted)))
  }
  return Object.keys(part).every((key) => Object.hasOwn(whole, key) && containsDeep(whole[key], part[key]))
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
