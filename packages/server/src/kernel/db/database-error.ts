import { retry } from '../concurrency/retry.ts'
import { ApiError } from '../errors.ts'
import { publicDatabaseMessage } from './public-message.ts'

const lostSocket = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED ETIMEDOUT EPIPE ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH'.split(' '),
)

// Shut down, crashed, starting, too many connections; class 08 is any other trouble with the connection.
const lostServer = /^(57P0[123]|53300|08...)$/

/** What pg says when it gives up a connection; these errors carry no code. */
const lostClient =
  /^(Connection terminated|timeout expired|timeout exceeded|Client has encountered|Client was closed|Cannot use a pool)/

/** The SQLSTATE (or the system's error code) of whatever was thrown; empty if it has none. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

/** A server that a foreign table is on cannot be reached, by the one that says so. */
const isForeignServerLost = (error: unknown): boolean =>
  codeOf(error).startsWith('08') && error instanceof Error && /^could not connect to server "/.test(error.message)

/** The connection failed, not the statement. */
export function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error)
  if (isForeignServerLost(error)) return false
  if (code !== '') return lostSocket.has(code) || lostServer.test(code)
  return error instanceof Error && lostClient.test(error.message)
}

const isInternal = (error: unknown, words: RegExp): boolean =>
  codeOf(error) === 'XX000' && error instanceof Error && words.test(error.message)

/** PostgreSQL's words, under the code of an internal error, when another session changes the same table in that moment. */
const isCatalogRace = (error: unknown): boolean => isInternal(error, /^tuple concurrently (updated|deleted)/)

/** The same when it was dropped. A tenant's SQL can say a number of which nothing is known, and is at fault then. */
export const isVanished = (error: unknown): boolean =>
  isInternal(error, /^(could not open relation with OID|cache lookup failed for)/)

/** A deadlock, a serialization failure, or a table that others changed: all was rolled back and may be retried. */
export const isRolledBackForOthers = (error: unknown): boolean =>
  /^40(001|P01)$/.test(codeOf(error)) || isCatalogRace(error) || isVanished(error) || isStaleStatement(error)

/** A value is none of the type that it is given for: nothing was run, and nothing is wrong with the statement. */
export const isUnreadable = (error: unknown): boolean => /^22(P0[235]|00[378]|021)$/.test(codeOf(error))

/** Others hold a lock or change the same table: nothing was done, and the same request succeeds when they are done. */
export const isPassing = (error: unknown): boolean => codeOf(error) === '55P03' || isRolledBackForOthers(error)

/** Of a statement of ours: the table has no such column any more, or one of another type, or is gone. */
export const isTableChanged = (error: unknown): error is Error => /^42(703|P01|883|804|846)$/.test(codeOf(error))

/** A record that the statement refers to is not there, or one that refers to it still is. */
export const isForeignKeyViolation = (error: unknown): boolean => codeOf(error) === '23503'

/** The role has as many connections as it may, over all replicas. */
export const isRoleFull = (error: unknown): boolean =>
  codeOf(error) === '53300' && error instanceof Error && error.message.includes('for role')

/** A prepared statement whose tables have changed under it, or which the session has lost. */
export function isStaleStatement(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== '0A000') return code === '26000'
  return typeof error === 'object' && error !== null && 'routine' in error && error.routine === 'RevalidateCachedQuery'
}

/**
 * The embedded PostGIS takes PROJ's note that a grid is missing (1029) for a failure, the first time that a session goes from one
 * reference system to another, such as from EPSG:21781 to 4326. The next time it goes without the grid.
 */
const isFirstTransform = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'message' in error && /\(1029\)$/.test(String(error.message))

/** One statement goes between few reference systems. */
const firstTransforms = 4

/** Runs work in a transaction, which such a failure ends, again. `mayRepeat` is called after the failure. */
export const withFirstTransforms = <T>(work: () => Promise<T>, mayRepeat: () => boolean): Promise<T> =>
  retry(work, { tries: 1 + firstTransforms, isPassing: (error) => isFirstTransform(error) && mayRepeat() })

/** Runs a statement again while that is its fault. */
export async function pastFirstTransforms<T extends { readonly fault: unknown }>(run: () => Promise<T>): Promise<T> {
  let result = await run()
  for (let tries = 0; tries < firstTransforms && isFirstTransform(result.fault); tries++) result = await run()
  return result
}

/** The server refused the user, the password or the database. */
export const isRefused = (code: string): boolean => /^(28|3D)/.test(code)

const externalFaultCode = 'FOREIGN_SERVER_FAULT'

/** A server that a tenant chose broke the protocol or a limit. The message is for the tenant to read. */
export const externalServerFault = (message: string): Error =>
  Object.assign(new Error(message), { code: externalFaultCode })

export const isExternalServerFault = (error: unknown): error is Error => codeOf(error) === externalFaultCode

/** The query itself is at fault. (PostGIS says XX000 of everything.) */
export const isAuthorsFault = (code: string): boolean => /^(22|2[0-8]|3|4|53400|54|P0|XX000)/.test(code)

export const inUse = (cause: unknown): ApiError =>
  new ApiError(
    'unavailable',
    'Others are writing or changing the same data. Nothing was done; try again in a moment.',
    {
      cause,
      headers: { 'Retry-After': '1' },
    },
  )

/** For a statement that was written from the record of a dataset, while its table was changed. */
export const tableChanged = (cause: Error): ApiError =>
  new ApiError(
    'invalid_request',
    `The table is no longer what its dataset says. The database says: ${publicDatabaseMessage(cause)}. ` +
      'Try again; if that does not help, POST /datasets/{id}/refresh reads its columns anew.',
    { cause },
  )

export function unavailable(cause: unknown): ApiError {
  return new ApiError('unavailable', 'The database cannot be reached. Try again shortly.', {
    cause,
    headers: { 'Retry-After': '2' },
  })
}

/**
 * Why work of the server itself fails: for want of room, or lastingly, because a right, a table or a setting is missing or the program
 * is at fault. Undefined if the next try may succeed.
 */
export function judgeFailure(error: unknown): 'lasting' | 'full' | undefined {
  if (/^(53100|ENOSPC|EDQUOT)$/.test(codeOf(error))) return 'full'
  if (error instanceof ApiError || isConnectionFailure(error) || isPassing(error)) return undefined
  return /^(40|53|55|57|58|ENOMEM|EMFILE|ENFILE|ABORT)/.test(codeOf(error)) ? undefined : 'lasting'
}

/** Translates errors for callers: lost connections become `unavailable`, others stay. */
export const publicError = (error: unknown): unknown => (isConnectionFailure(error) ? unavailable(error) : error)
