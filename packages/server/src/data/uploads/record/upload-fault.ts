// Classifies errors of uploads: permanent, transient, or caused by the file.
import { codeOf, isExternalServerFault, isPassing } from '../../../kernel/db/database-error.ts'
import { publicDatabaseMessage } from '../../../kernel/db/public-message.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { type FilePosition, ReadFault, type UploadErrorCode } from '../readers/reader.ts'

export type FaultCode =
  | UploadErrorCode
  | 'layer_required'
  | 'dataset_gone'
  | 'dataset_changed'
  | 'dataset_in_use'
  | 'not_replaceable'
  | 'invalid_coordinates'
  | 'work_timeout'
  | 'storage_quota'

/** The upload's `error` field. */
export type FaultDto = { code: FaultCode; message: string } & FilePosition

/** A permanent fault: another attempt would fail too. */
export class UploadFault extends Error {
  override name = 'UploadFault'
  readonly code: FaultCode
  readonly position: FilePosition

  constructor(code: FaultCode, message: string, position: FilePosition = {}, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.position = position
  }
}

/** The data exceed the application's storage quota. */
export const storageExceeded = (bytes: number): UploadFault =>
  new UploadFault(
    'storage_quota',
    `With this data the application would store more than ${bytes} bytes, its limit. Delete datasets first, or ask the operator for more.`,
  )

/** The lease was lost: another worker has the upload, or it was cancelled. */
export class UploadLost extends Error {
  override name = 'UploadLost'
}

const sqlState = /^[0-9A-Z]{5}$/

/** Transient SQLSTATE classes: lost connection, lock, lack of resources, shutdown. */
const passing = /^(08|40|53|55|57)/

/** SQLSTATE classes caused by the file's data, with messages that reveal nothing about the server. */
const blamable = /^(21|22|23|42|54|XX000)/

/** The fault to show to the client; undefined if another attempt is worthwhile. */
export function faultOf(error: unknown): FaultDto | undefined {
  if (error instanceof ReadFault || error instanceof UploadFault) {
    return { code: error.code, message: error.message, ...error.position }
  }
  if (error instanceof ApiError && error.status < 500) return { code: 'database_error', message: error.message }
  const code = codeOf(error)
  if (isExternalServerFault(error)) return { code: 'database_error', message: error.message }
  const fault = sqlState.test(code) ? databaseFaults[code] : undefined
  if (fault) return { ...fault, ...positionOf(error) }
  if (!sqlState.test(code) || passing.test(code) || isPassing(error)) return undefined
  const words =
    blamable.test(code) && error instanceof Error ? ` ${publicDatabaseMessage({ message: error.message, code })}` : ''
  return { code: 'database_error', message: `The database refused the data.${words}` }
}

/** SQLSTATEs for data too large for the database or its disk. Another attempt would not help. */
const databaseFaults: Readonly<Record<string, { code: FaultCode; message: string }>> = {
  '53100': { code: 'storage_full', message: 'The disk of the database is full. Try again when there is space.' },
  '54000': {
    code: 'row_too_large',
    message:
      'A row or an index entry is larger than PostgreSQL allows (8 kB for a row without its long texts): leave columns out.',
  },
  '54001': { code: 'row_too_large', message: 'A value is nested deeper than the database allows.' },
  '54011': { code: 'too_many_columns', message: 'The table has more columns than the database allows.' },
}

/** PostgreSQL reports the row where it stopped, counted from 1 like features. */
function positionOf(error: unknown): FilePosition {
  const where = error instanceof Error && 'where' in error ? String(error.where) : ''
  const line = /^COPY \S+, line (\d+)/.exec(where)?.[1]
  return line === undefined ? {} : { feature: Number(line) }
}
