import { ApiError } from '../errors.ts'

/** The storage does not answer, or refuses the server's own credentials. The cause goes to the log only. */
export const storageUnavailable = (cause?: unknown): ApiError =>
  new ApiError('storage_unavailable', 'The file storage does not answer. Try again in a moment.', {
    cause,
    headers: { 'Retry-After': '5' },
  })

export const isStorageUnavailable = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'storage_unavailable'
