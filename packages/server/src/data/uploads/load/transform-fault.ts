import { codeOf } from '../../../kernel/db/database-error.ts'
import { UploadFault } from '../record/upload-fault.ts'

/** What PostGIS says of coordinates that it cannot transform, as a fault of the upload; any other error as it is. */
export function transformFault(error: unknown, target: number, position: { readonly layer?: string } = {}): unknown {
  if (codeOf(error) !== 'XX000' && codeOf(error) !== '22023') return error
  const message = error instanceof Error ? error.message : String(error)
  const isUnknown = /proj|srid|could not (parse|form)/i.test(message)
  return new UploadFault(
    isUnknown ? 'srid_unknown' : 'invalid_coordinates',
    `The coordinates cannot be transformed into the reference system ${target}: ${message}`,
    position,
    error,
  )
}
