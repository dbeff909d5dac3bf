import { ProviderError } from '../errors.ts'
import { nextTurn, piecesOfText, turnTimer } from './event-loop.ts'

const maxLineLength = 4 * 1024 * 1024

/** Splits a chunked text into lines, which end with \n, \r\n or \r. Empty ones are left out. */
export async function* lines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  const isOver = turnTimer()
  let rest = ''
  for await (const piece of piecesOfAll(chunks)) {
    const [first = '', ...more] = piece.split(/[\r\n]+/)
    rest += first
    for (const next of more) {
      if (rest !== '') yield rest
      rest = next
      if (isOver()) await nextTurn()
    }
    if (rest.length > maxLineLength) throw new ProviderError('The provider sent a line that is too long.')
  }
  if (rest !== '') yield rest
}

async function* piecesOfAll(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield* piecesOfText(chunk)
}
