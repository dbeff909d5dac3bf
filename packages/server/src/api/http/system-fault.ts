import { inUse, isForeignKeyViolation, isPassing } from '../../kernel/db/database-error.ts'
import { ApiError } from '../../kernel/errors.ts'

const maxCauses = 5
const outOfStorage = /^(ENOSPC|EDQUOT|53100)$/
const outOfMemory = /^(ENOMEM|53200)$/
/** Limits of PostgreSQL: too complex, too many columns or arguments, too long for a type or for an index. */
const beyondLimits = /^(54...|22001)$/
/** PostgreSQL reports values beyond a gigabyte with the code of an internal error. */
const beyondMemory = /invalid memory alloc request size|out of memory|string too long|total size of jsonb/i

/** Translates resource errors (storage, memory, size limits, lock conflicts) for clients; undefined for other errors. */
export function systemFault(error: unknown): ApiError | undefined {
  if (isForeignKeyViolation(error)) {
    return new ApiError('conflict', 'A record that this request needs was deleted meanwhile. Read it again.', {
      cause: error,
    })
  }
  if (isPassing(error)) return inUse(error)
  for (const { code, message } of chainOf(error)) {
    if (outOfStorage.test(code)) return storageFull(error)
    if (outOfMemory.test(code)) {
      return new ApiError('unavailable', 'The server has no memory left for this request. Try again shortly.', {
        cause: error,
        headers: { 'Retry-After': '5' },
      })
    }
    if (beyondLimits.test(code) || (code === 'XX000' && beyondMemory.test(message))) {
      return new ApiError('invalid_request', 'A value in the request is larger than the database can store.', {
        cause: error,
      })
    }
  }
  return undefined
}

export const storageFull = (cause?: unknown): ApiError =>
  new ApiError(
    'storage_full',
    'The storage of this server is full, so nothing can be stored. Its operator must make room.',
    {
      cause,
      headers: { 'Retry-After': '30' },
    },
  )

/** This machine's own storage is full. An external database may claim any code, but has no `errno` and no `syscall`. */
export const isPlatformStorageFull = (error: unknown): boolean =>
  [...chainOf(error)].some(({ code, isSystem }) => isSystem && (code === 'ENOSPC' || code === 'EDQUOT'))

function* chainOf(error: unknown) {
  let current = error
  for (let depth = 0; depth < maxCauses && current instanceof Error; depth++) {
    const { code, errno, syscall } = current as NodeJS.ErrnoException
    const isSystem = typeof errno === 'number' && typeof syscall === 'string'
    yield { code: String(code ?? ''), message: current.message, isSystem }
    current = current.cause
  }
}
