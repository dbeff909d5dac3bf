import { ApiError, invalid } from '../errors.ts'

/** What the database refuses, in the client's words. Constraint names are chosen in the migrations. */
const constraints: Record<string, (cause: unknown) => ApiError> = {
  metadata_size: (cause) => new ApiError('too_large', 'The metadata would be larger than 64 KiB.', { cause }),
  config_size: (cause) => new ApiError('too_large', 'The configuration would be larger than 1 MiB.', { cause }),
  database_in_use: (cause) =>
    new ApiError('conflict', 'Datasets use this database: delete or move them first.', { cause }),
  known_user: (cause) => new ApiError('invalid_request', 'There is no user with this id.', { cause }),
  known_application: (cause) =>
    new ApiError('invalid_request', 'applicationId: there is no application with this id.', { cause }),
}

/** SQLSTATEs that our own triggers and functions raise; their message is meant for the client. */
const ownStates: Record<string, 'conflict' | 'invalid_request'> = { GR409: 'conflict', GR400: 'invalid_request' }

/** Rethrows: an ApiError when the database refused for a reason the client can mend. */
export function refusalOf(error: unknown): never {
  if (typeof error === 'object' && error !== null && 'code' in error && 'message' in error) {
    const own = ownStates[String(error.code)]
    if (own) throw new ApiError(own, String(error.message), { cause: error })
    const known = 'constraint' in error ? constraints[String(error.constraint)] : undefined
    if (known) throw known(error)
    if (error.code === '23505') throw new ApiError('conflict', 'A record with these values exists.', { cause: error })
  }
  throw error
}

/** The same where a record is written, not deleted: the database that it names was deleted meanwhile. */
export function writeRefusalOf(error: unknown): never {
  const isDatabaseGone =
    typeof error === 'object' && error !== null && 'constraint' in error && error.constraint === 'database_in_use'
  if (isDatabaseGone) throw invalid('body/databaseId', 'There is no database with this id.')
  refusalOf(error)
}
