/** Byte ranges of RFC 9110, section 14: which part of a file a request asks for. */
import { ApiError } from '../../../kernel/errors.ts'

export type ByteRange = { readonly first: number; readonly last: number }

/** The range that `header` asks of so many bytes; undefined where all are to be sent. 416 where none of them is there. */
export function byteRangeOf(header: string | undefined, size: number): ByteRange | undefined {
  const [, from = '', to = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '') ?? []
  // Also for several ranges, which a server may answer with the whole.
  if (from === '' && to === '') return undefined
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < first) return undefined
  if (first > last) throw outside(size)
  return { first, last }
}

const outside = (size: number): ApiError =>
  new ApiError('range_not_satisfiable', `The file has ${size} bytes; Range begins behind them.`, {
    headers: { 'Content-Range': `bytes */${size}` },
  })
