import type { ApiError } from '../../errors.ts'
import { overLimit } from '../../limits.ts'

export const fileTooLarge = (maxBytes: number): ApiError =>
  overLimit(
    'exportBytes',
    maxBytes,
    `The file would be larger than ${maxBytes} bytes, the limit. Ask for fewer rows or columns.`,
  )
