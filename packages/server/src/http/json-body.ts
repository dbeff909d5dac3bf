import { ApiError, invalid } from '../errors.ts'
import { limits, overLimit } from '../limits.ts'

const maxDepth = limits.bodyDepth.value
const maxKeys = limits.bodyKeys.value
const pollutingKeys = new Set(['__proto__', 'constructor', 'prototype'])

export const isPollutingKey = (key: string): boolean => pollutingKeys.has(key)

/**
 * Parses a JSON body and refuses what would hurt later: deep nesting, too many keys, keys that reach a prototype, NUL.
 * Inside the property `columnsIn` keys are columns, which may be called `constructor`; an object with such a key has no
 * prototype. `repairsText` takes out of texts what would be refused.
 */
export function parseJsonBody(text: string, columnsIn?: string, repairsText = false): unknown {
  let value: unknown
  try {
    // Only escapes can hold what needs repair, so other bodies skip the reviver.
    value = JSON.parse(text, repairsText && text.includes('\\u') ? (_, part) => repaired(part) : undefined)
  } catch (error) {
    throw new ApiError('invalid_json', `The body is not valid JSON: ${positionOf(error)}.`, { cause: error })
  }
  inspect(value, columnsIn)
  return value
}

/** Without NUL and halves of surrogate pairs. */
const repaired = (part: unknown): unknown => (typeof part === 'string' ? part.replace(/[\0\p{Cs}]/gu, '') : part)

/** V8 quotes the body in its message; only the place is passed on. */
function positionOf(error: unknown): string {
  const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(String(error))
  return place ? `fault ${place[0]}` : 'it ends too early'
}

/** The same checks for a part of a body that somebody else parsed, whose keys are columns. */
export const inspectColumns = (value: unknown, path: string): void => inspect(value, undefined, path, true)

type Part = { value: object; path: string; depth: number; areColumns: boolean }

/** Iterative, because the sender chooses the depth. */
function inspect(root: unknown, columnsIn: string | undefined, path = 'body', areColumns = false): void {
  checkScalar(root, path)
  if (!isObject(root)) return
  let keys = 0
  const pending: Part[] = [{ value: root, path, depth: 0, areColumns }]
  for (let part = pending.pop(); part; part = pending.pop()) {
    if (part.depth >= maxDepth)
      throw overLimit('bodyDepth', maxDepth, `must not nest deeper than ${maxDepth} levels`, { path })
    if (!Array.isArray(part.value)) keys += checkKeys(part.value, part)
    if (keys > maxKeys) throw overLimit('bodyKeys', maxKeys, `must not have more than ${maxKeys} keys`, { path })
    inspectWithin(part, columnsIn, pending)
  }
}

function inspectWithin({ value, path, depth, areColumns }: Part, columnsIn: string | undefined, pending: Part[]): void {
  for (const [key, child] of Object.entries(value)) {
    const at = `${path}/${key}`
    if (!isObject(child)) checkScalar(child, at)
    else {
      const isOfColumns = areColumns || (depth === 0 && key === columnsIn)
      pending.push({ value: child, path: at, depth: depth + 1, areColumns: isOfColumns })
    }
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

function checkKeys(value: object, { path, areColumns }: Part): number {
  const keys = Object.keys(value)
  for (const key of keys) {
    if (isPollutingKey(key)) {
      if (!areColumns || key === '__proto__')
        throw invalid(`${path}/${key}`, 'is not allowed as a key: __proto__, constructor and prototype are reserved')
      Object.setPrototypeOf(value, null)
    }
    checkText(key, path)
  }
  return keys.length
}

function checkScalar(value: unknown, path: string): void {
  if (typeof value === 'string') checkText(value, path)
  if (isTooLarge(value)) throw invalid(path, 'must be a number that fits a double')
}

/** `1e309` is JSON, but there is no such number here, and null would be stored in its place. */
const isTooLarge = (value: unknown): boolean => value === Infinity || value === -Infinity

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
function checkText(text: string, path: string): void {
  if (text.includes('\0')) throw invalid(path, 'must not contain NUL')
  if (!text.isWellFormed()) throw invalid(path, 'must be valid Unicode: it contains half a surrogate pair')
}
