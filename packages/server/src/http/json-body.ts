import { ApiError, invalid } from '../errors.ts'

const maxDepth = 64
const maxKeys = 10_000
const pollutingKeys = new Set(['__proto__', 'constructor', 'prototype'])

export const isPollutingKey = (key: string): boolean => pollutingKeys.has(key)

/** Parses a JSON body and refuses what would hurt later: deep nesting, too many keys, keys that reach a prototype, NUL. */
export function parseJsonBody(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ApiError('invalid_json', `The body is not valid JSON: ${positionOf(error)}.`, { cause: error })
  }
  inspect(value)
  return value
}

/** V8 quotes the body in its message; only the place is passed on. */
function positionOf(error: unknown): string {
  const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(String(error))
  return place ? `fault ${place[0]}` : 'it ends too early'
}

function inspect(root: unknown): void {
  let keys = 0
  const pending: { value: unknown; path: string; depth: number }[] = [{ value: root, path: '', depth: 0 }]
  for (let item = pending.pop(); item; item = pending.pop()) {
    const { value, path, depth } = item
    if (typeof value === 'string') checkText(value, path)
    if (typeof value !== 'object' || value === null) continue
    if (depth >= maxDepth) throw invalid('', `The body nests deeper than ${maxDepth} levels.`)
    if (Array.isArray(value)) {
      // Numbers make up most of a large array and need no look.
      value.forEach((child, index) => {
        if (typeof child === 'object' || typeof child === 'string') {
          pending.push({ value: child, path: `${path}/${index}`, depth: depth + 1 })
        }
      })
      continue
    }
    for (const [key, child] of Object.entries(value)) {
      if (++keys > maxKeys) throw invalid('', `The body has more than ${maxKeys} keys.`)
      if (isPollutingKey(key)) throw invalid(`${path}/${key}`, 'This key is not allowed.')
      checkText(key, path)
      pending.push({ value: child, path: `${path}/${key}`, depth: depth + 1 })
    }
  }
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
function checkText(text: string, path: string): void {
  if (text.includes('\0')) throw invalid(path, 'The text contains NUL.')
  if (!text.isWellFormed()) throw invalid(path, 'The text is not valid Unicode.')
}
