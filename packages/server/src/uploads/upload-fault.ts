import { ApiError } from '../errors.ts'
import { type FaultPlace, ReadFault, type UploadErrorCode } from './readers/reader.ts'

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

/** What the upload's `error` says. */
export type FaultDto = { code: FaultCode; message: string } & FaultPlace

/** The upload cannot succeed, whoever tries it again. */
export class UploadFault extends Error {
  override name = 'UploadFault'
  readonly code: FaultCode
  readonly place: FaultPlace

  constructor(code: FaultCode, message: string, place: FaultPlace = {}, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.place = place
  }
}

/** The data take more than the application may keep. */
export const storageExceeded = (bytes: number): UploadFault =>
  new UploadFault(
    'storage_quota',
    `With these data the application would keep more than ${bytes} bytes, its limit. Delete datasets first, or ask for more.`,
  )

/** The upload belongs to another worker by now, or to nobody. */
export class UploadLost extends Error {
  override name = 'UploadLost'
}

/** A connection lost, a lock not had, a server that is full or stopping: another time it may work. */
const passing = /^(08|40|53|55|57)/

/** What a file or a column can be blamed for, in words that name nothing of the server's. */
const blamable = /^(21|22|23|42|54|XX000)/

/** What to tell the client; undefined when it is worth another try. */
export function faultOf(error: unknown): FaultDto | undefined {
  if (error instanceof ReadFault || error instanceof UploadFault) {
    return { code: error.code, message: error.message, ...error.place }
  }
  if (error instanceof ApiError && error.status < 500) return { code: 'database_error', message: error.message }
  const code = codeOf(error)
  if (code === undefined || passing.test(code)) return undefined
  const words = blamable.test(code) && error instanceof Error ? ` ${error.message}` : ''
  return { code: 'database_error', message: `The database refused the data.${words}` }
}

/** The SQLSTATE of whatever was thrown. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined
}
