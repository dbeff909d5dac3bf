import type { ApiError } from '../../../kernel/errors.ts'
import { overLimit } from '../../../kernel/limits/limits.ts'

export const fileTooLarge = (maxBytes: number): ApiError =>
  overLimit(
    'exportBytes',
    maxBytes,
    `The file would be larger than ${maxBytes} bytes, the limit. Ask for fewer rows or columns.`,
  )
