// What a fault of the engine means to whoever asked.
import { queryTimeout } from '../../../kernel/db/guarded.ts'
import { ApiError, type ErrorCode } from '../../../kernel/errors.ts'
import { overLimit } from '../../../kernel/limits/limits.ts'
import type { DuckdbFault } from './package.ts'

const codes: Readonly<Record<DuckdbFault['code'], ErrorCode>> = {
  refused: 'invalid_request',
  failed: 'invalid_request',
  timeout: 'query_timeout',
  memory: 'too_large',
  busy: 'busy',
  ended: 'upstream_failed',
  folder: 'invalid_request',
}

const limitNames = { queries: 'fileQueries', applications: 'fileApplications' } as const

/** By its name: the class itself is loaded only where the engine is. */
const isFault = (error: unknown): error is DuckdbFault => error instanceof Error && error.name === 'DuckdbFault'

export function explain(error: unknown): never {
  if (!isFault(error)) throw error
  if (error.code === 'timeout') throw queryTimeout(error)
  if (error.limit) throw overLimit(limitNames[error.limit.of], error.limit.value, error.message, { cause: error })
  throw new ApiError(codes[error.code], error.message, { cause: error })
}

export async function* explained<T>(batches: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* batches
  } catch (error) {
    explain(error)
  }
}
