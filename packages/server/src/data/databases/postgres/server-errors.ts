// What an error of a PostgreSQL server means to whoever asked: the author's fault, the server's, or ours.
import { PoolFull } from '../../../kernel/db/connection-pool.ts'
import {
  codeOf,
  inUse,
  isAuthorsFault,
  isExternalServerFault,
  isPassing,
  isRefused,
  isTableChanged,
  isVanished,
  tableChanged,
} from '../../../kernel/db/database-error.ts'
import type { Batches } from '../../../kernel/db/guarded.ts'
import { boundNames, type Sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { overLimit } from '../../../kernel/limits/limits.ts'
import { isStated, isStateOfTable, reasonOf } from './server-reason.ts'
import { isBrokenTls, tlsFault } from './tls.ts'
import { unreadValue } from './unread-value.ts'

/** All connections that an application may have are in use. */
export function whenFull(full: PoolFull): ApiError {
  const { held, total } = full
  const options = { cause: full, headers: { 'Retry-After': '1' } }
  if (held === 0) {
    const detail = 'The server has no database connection left. Try again in a moment.'
    return overLimit('allQueryConnections', total, detail, options)
  }
  const detail = `This application already runs ${held} queries, its limit. Try again in a moment.`
  return overLimit('queryConnections', held, detail, options)
}

/** Whatever somebody else's server does is no fault of this one. */
export function blameExternalServer(error: unknown): never {
  if (error instanceof ApiError && (error.code !== 'unavailable' || isForLater(error.cause))) throw error
  if (isExternalServerFault(error)) throw new ApiError('upstream_failed', error.message, { cause: error })
  if (!(error instanceof Error)) throw error
  if (error instanceof ApiError) {
    throw new ApiError('upstream_failed', 'The database cannot be reached.', { cause: error.cause ?? error })
  }
  const detail = isStated(error) ? `The database says: ${reasonOf(error, true)}` : 'The database server failed.'
  throw new ApiError('upstream_failed', detail, { cause: error })
}

const isForLater = (cause: unknown): boolean => cause instanceof PoolFull || isPassing(cause)

export const explained = (batches: Batches, isExternal: boolean): Batches =>
  Array.isArray(batches) ? batches : explainedStream(batches, isExternal)

async function* explainedStream<T>(batches: AsyncIterable<T>, isExternal: boolean): AsyncGenerator<T> {
  try {
    yield* batches
  } catch (error) {
    explain(error, isExternal)
  }
}

/** The server turned us away. Its own words may name addresses, so they are for the log only. */
export const isRefusal = (error: unknown): boolean => isRefused(codeOf(error))

/** What is wrong with a query is for its author to know, in the server's own words. (PostGIS says XX000 of everything.) */
export function explain(error: unknown, isExternal = false): never {
  if (!(error instanceof Error) || error instanceof ApiError) throw error
  const fault = tlsFault(error)
  if (fault || isBrokenTls(error)) {
    throw new ApiError('upstream_failed', fault ?? 'The server could not be reached.', { cause: error })
  }
  if (isRefusal(error)) {
    throw new ApiError('upstream_failed', 'The server refused the user, password or database.', { cause: error })
  }
  if (isPassing(error) && !isVanished(error)) throw inUse(error)
  if (isAuthorsFault(codeOf(error))) {
    throw new ApiError('invalid_request', `The database says: ${reasonOf(error, isExternal)}`, { cause: error })
  }
  if (isStateOfTable(codeOf(error))) {
    throw new ApiError('upstream_failed', `The database says: ${reasonOf(error, isExternal)}`, { cause: error })
  }
  throw error
}

/** The same for a statement that no tenant has written a part of: what it names was there when its dataset was stored. */
function explainTrusted(error: unknown, isExternal: boolean): never {
  if (isVanished(error)) throw inUse(error)
  if (isTableChanged(error)) throw tableChanged(error)
  explain(error, isExternal)
}

/** A handler for `catch`, of a statement whose values may not fit the columns that they are compared with. */
export const explainStatement =
  (statement: Sql, { isTrusted, isExternal }: { readonly isTrusted: boolean; readonly isExternal: boolean }) =>
  (error: unknown): never => {
    const unread = error instanceof Error && unreadValue(error, boundNames(statement))
    if (unread) throw unread
    return (isTrusted ? explainTrusted : explain)(error, isExternal)
  }
