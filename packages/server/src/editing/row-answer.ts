// The answer with one row.
import type { Answer } from '../http/operation.ts'
import type { ShownRow } from './row-shape.ts'

export type RowAnswerOptions = {
  readonly isFeature: boolean
  readonly status?: number
  /** The path of the rows; the key follows. */
  readonly location?: string
}

export function rowAnswer(
  { text, etag, key }: ShownRow,
  { isFeature, status = 200, location }: RowAnswerOptions,
): Answer {
  const headers = { etag, ...(location !== undefined && key !== '' && { location: location + key }) }
  if (!isFeature) return { status, headers, json: text }
  return {
    status,
    headers: { ...headers, 'content-type': 'application/geo+json; charset=utf-8' },
    body: Buffer.from(text),
  }
}
