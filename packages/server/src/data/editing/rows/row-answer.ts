// The answer with one row.

import type { Answer } from '../../../api/http/operation.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import { type EditContext, mayQuery } from '../editing.ts'
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

/** The header for a caller that may read the row; nothing for others, to whom a new tag would tell that a column has changed. */
export const tagHeader = (context: EditContext, dataset: Dataset, etag: string): { etag?: string } =>
  mayQuery(context, dataset) ? { etag } : {}
