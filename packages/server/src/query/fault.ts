import { type ApiError, faulty } from '../errors.ts'

/** A refused filter: where, what (for programs), and what (for people). */
export function fault(path: string, code: string, message: string): ApiError {
  return faulty([{ path, code, message }], 'invalid_filter')
}

const shownLength = 60

/** A value as a message shows it: short, and never the inside of a large operand. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`
}

/** The path of a key inside `path`. A key is the client's own text, so that it is cut before it is sent back. */
export function below(path: string, key: string | number): string {
  const text = String(key)
  return `${path}/${text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`}`
}
