// Operands of filter operators: scalars, lists and JSON, from JSON bodies or query strings.
import type { Attribute, ScalarType } from '../values/attribute.ts'
import { below, fault, show } from '../values/fault.ts'
import { canonicalText } from '../values/value.ts'

const bounds = { listValues: 1000, stringLength: 10_000, jsonDepth: 32 }

const nouns: { readonly [type in ScalarType]: string } = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  date: 'a date (YYYY-MM-DD)',
  datetime: 'a date and time (ISO 8601)',
  time: 'a time (HH:MM:SS)',
  uuid: 'a UUID',
}

/** Reads a list: an array, or the object with keys 0, 1, … of an indexed query string. */
export function asList(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (!asObject(value)) return undefined
  const keys = Object.keys(value)
  const isIndexed = keys.length > 0 && keys.every((key, index) => key === String(index))
  return isIndexed ? Object.values(value) : undefined
}

export function asObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What says how an operand is read. */
type Compared = { readonly type: ScalarType } & Pick<Attribute, 'isNative'>

/** The canonical text of a scalar operand. */
export function scalarOperand({ type, isNative }: Compared, value: unknown, path: string): string {
  if (value === null)
    throw fault(path, 'invalid_value', 'must not be null; compare with {"$is": null} or {"$not": null}')
  if (isNative && typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value === 'string') checkText(value, path)
  if (isNative && typeof value === 'string') return value
  if (type === 'integer' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw fault(path, 'invalid_value', `must be sent as a string: ${show(value)} is not exact as a JSON number`)
  }
  const text = canonicalText(type, value)
  if (text !== undefined) return text
  const isLarge = type === 'integer' && typeof value === 'string' && /^[+-]?\d+$/.test(value)
  const noun = isLarge ? 'an integer of 64 bits' : nouns[type]
  throw fault(path, 'invalid_value', `must be ${noun}, not ${show(value)}`)
}

/** A list operand: a list, a single value, or comma-separated text. Items that contain a comma need a real list. */
export function listOperand(compared: Compared, value: unknown, path: string): readonly string[] {
  const isList = asList(value) !== undefined
  return rawList(value, path).map((item, index) => scalarOperand(compared, item, isList ? below(path, index) : path))
}

export function rawList(value: unknown, path: string): readonly unknown[] {
  const list = asList(value) ?? (typeof value === 'string' ? splitCommas(value) : [value])
  if (list.length > bounds.listValues) {
    throw fault(path, 'too_many_values', `must not have more than ${bounds.listValues} values`)
  }
  return list
}

/** The text of a JSON operand. Text that parses as JSON is JSON; other text is a JSON string. */
export function jsonOperand(value: unknown, path: string): string {
  const json = typeof value === 'string' ? readJsonText(value) : value
  checkJson(json, path, 1)
  const text = JSON.stringify(json)
  if (text.length > bounds.stringLength) {
    throw fault(path, 'too_long', `must not be longer than ${bounds.stringLength} characters`)
  }
  return text
}

/** Refuses text that PostgreSQL can neither store nor compare: NUL and lone surrogates. */
export function checkText(text: string, path: string): void {
  if (text.length > bounds.stringLength) {
    throw fault(path, 'too_long', `must not be longer than ${bounds.stringLength} characters`)
  }
  if (text.includes('\0') || !text.isWellFormed()) {
    throw fault(path, 'invalid_value', 'must not contain NUL or half a surrogate pair')
  }
}

const splitCommas = (text: string): readonly string[] => (text === '' ? [] : text.split(',', bounds.listValues + 1))

function readJsonText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function checkJson(value: unknown, path: string, depth: number): void {
  if (depth > bounds.jsonDepth) throw fault(path, 'too_deep', `must not nest deeper than ${bounds.jsonDepth} levels`)
  if (typeof value === 'string') checkText(value, path)
  else if (typeof value === 'number' && !Number.isFinite(value)) {
    throw fault(path, 'invalid_value', 'must hold only numbers that fit a double')
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      checkText(key, path)
      checkJson(item, path, depth + 1)
    }
  }
}
