import { ApiError, faulty, invalid } from '../../kernel/errors.ts'
import { limits, overLimit } from '../../kernel/limits/limits.ts'

/** Messages for constraint violations, by the names that the migrations give to constraints. */
const constraints: Record<string, (table: unknown) => ApiError> = {
  metadata_size: () =>
    overLimit('metadataBytes', limits.metadataBytes.value, 'The metadata would be larger than 64 KiB, its limit.'),
  config_size: () => configTooLarge(),
  picture_size: () =>
    overLimit(
      'stylePictureBytes',
      limits.stylePictureBytes.value,
      'The picture would be larger than 256 KiB, its limit.',
    ),
  database_in_use: () =>
    new ApiError('conflict', 'Datasets use this database. Delete them or give them another first.'),
  known_user: (table) =>
    invalid(table === 'datasets' ? 'body/ownerId' : 'body/userId', 'must be the id of a user of this application'),
  known_application: () => invalid('body/applicationId', 'must be the id of an application'),
  users_application_id_email_key_key: () => duplicate('body/email', 'belongs to another user of this application'),
  one_role_of_a_name: () => duplicate('body/name', 'is the name of another role of this application'),
  one_default_database: () => duplicate('body/default', 'was given to another database at the same time; try again'),
}

export const configTooLarge = (): ApiError =>
  overLimit('configBytes', limits.configBytes.value, 'The configuration would be larger than 1 MiB, its limit.')

const duplicate = (path: string, message: string): ApiError =>
  faulty([{ path, code: 'duplicate', message }], 'conflict')

/** SQLSTATEs that our own triggers and functions raise; their message is meant for the client. */
const raisedStates: Record<string, 'conflict' | 'invalid_request'> = { GR409: 'conflict', GR400: 'invalid_request' }

/** Rethrows, as an ApiError if the client can correct what the database refused. */
export function rethrowRefusal(error: unknown): never {
  if (typeof error === 'object' && error !== null && 'code' in error && 'message' in error) {
    const own = raisedStates[String(error.code)]
    if (own) throw new ApiError(own, String(error.message), { cause: error })
    const constraint = 'constraint' in error ? constraints[String(error.constraint)] : undefined
    if (constraint) throw Object.assign(constraint('table' in error ? error.table : undefined), { cause: error })
    if (error.code === '23505')
      throw new ApiError('conflict', 'Another record has the same values already.', { cause: error })
  }
  throw error
}

/** For writes, where `database_in_use` means that the database of the record was deleted meanwhile. */
export function rethrowWriteRefusal(error: unknown): never {
  const isDatabaseGone =
    typeof error === 'object' && error !== null && 'constraint' in error && error.constraint === 'database_in_use'
  if (isDatabaseGone) throw invalid('body/databaseId', 'There is no database with this id.')
  rethrowRefusal(error)
}
