import { ApiError } from '../../errors.ts'

export const fileTooLarge = (maxBytes: number): ApiError =>
  new ApiError(
    'too_large',
    `The file would be larger than ${maxBytes} bytes, the limit. Ask for fewer rows or columns.`,
  )
