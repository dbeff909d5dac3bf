// Errors of refused filters and queries.
import { type ApiError, faulty } from '../../kernel/errors.ts'

/** A 400 for a filter: the path, a code for programs and a message for people. */
export function fault(path: string, code: string, message: string): ApiError {
  return faulty([{ path, code, message }], 'invalid_filter')
}

const shownLength = 60

/** A value as messages quote it: shortened, so that a large operand is never echoed. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`
}

/** Appends a key to a path. The key is client input, so it is shortened before it is echoed. */
export function below(path: string, key: string | number): string {
  const text = String(key)
  return `${path}/${text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`}`
}
