import { ProviderError } from '../errors.ts'

const maxLineLength = 4 * 1024 * 1024

/** Splits a chunked text into lines, which end with \n, \r\n or \r. */
export async function* lines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  let endedWithReturn = false
  for await (const chunk of chunks) {
    if (chunk === '') continue
    const text = endedWithReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk
    endedWithReturn = chunk.endsWith('\r')
    const [first = '', ...more] = text.split(/\r\n|\n|\r/)
    rest += first
    for (const next of more) {
      yield rest
      rest = next
    }
    if (rest.length > maxLineLength) throw new ProviderError('The provider sent a line that is too long.')
  }
  if (rest !== '') yield rest
}
