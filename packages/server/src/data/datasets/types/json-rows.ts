// JSON and GeoJSON answers as rows.
import { ApiError } from '../../../kernel/errors.ts'

export type SourceRow = Record<string, unknown>

/** Parses JSON; integers that a double cannot hold become text. */
export function parseExactJson(text: string): unknown {
  try {
    // Use the reviver only when needed: it costs several times the parsing.
    return /\d{16}/.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
  } catch (error) {
    throw new ApiError('upstream_failed', 'The answer of the source is not valid JSON.', { cause: error })
  }
}

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const isInexact = typeof value === 'number' && !Number.isSafeInteger(value)
  return isInexact && context?.source && /^-?\d+$/.test(context.source) ? context.source : value
}

/** A list gives its items, a FeatureCollection its features; any other object is one row. */
export function jsonRows(value: unknown): SourceRow[] {
  if (Array.isArray(value)) return value.map(toRow)
  if (!isObject(value))
    throw new ApiError(
      'upstream_failed',
      'The answer of the source holds no rows: it must be a list, a FeatureCollection or an object.',
    )
  return value.type === 'FeatureCollection' && Array.isArray(value.features)
    ? value.features.map(toRow)
    : [toRow(value)]
}

function toRow(item: unknown): SourceRow {
  if (!isObject(item)) return { value: item }
  if (item.type !== 'Feature' || !Object.hasOwn(item, 'geometry')) return item
  // A property called id is data and takes precedence over the feature's id.
  const identity = item.id === undefined ? {} : { id: item.id }
  return { ...identity, ...(isObject(item.properties) ? item.properties : {}), geometry: item.geometry }
}

/** The value at a path such as `data.items.0`; the error names the first step that does not exist. */
export function valueAt(value: unknown, path: string): unknown {
  let inner = value
  for (const step of path.split('.').filter((name) => name !== '')) {
    const isThere = typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step)
    if (!isThere) throw new ApiError('upstream_failed', `The answer of the source has no "${step.slice(0, 60)}".`)
    inner = (inner as SourceRow)[step]
  }
  return inner
}

/** Guesses where the rows are in an answer that is one object: its only list of objects, at most two levels deep. */
export function likelyPath(answer: unknown, depth = 2): string | undefined {
  if (!isObject(answer) || answer.type === 'FeatureCollection') return undefined
  const lists = Object.entries(answer).flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.length > 0 && value.every(isObject) ? [name] : []
    const inner = depth > 1 ? likelyPath(value, depth - 1) : undefined
    return inner === undefined ? [] : [`${name}.${inner}`]
  })
  return lists.length === 1 ? lists[0] : undefined
}

export function isObject(value: unknown): value is SourceRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
