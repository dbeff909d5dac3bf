// An incremental parser for the items of a JSON array.
import { ApiError } from './api-error.ts'

/** Yields the items while the text arrives, in constant memory. Rejects if the text ends before the array does. */
export async function* readRows<Row>(pieces: AsyncIterable<string>): AsyncGenerator<Row, void> {
  const splitter = createArraySplitter()
  for await (const piece of pieces) {
    for (const item of splitter.push(piece)) yield parseRow<Row>(item)
  }
  if (splitter.isOver()) return
  throw new ApiError({ status: 0, code: 'truncated', message: 'The answer was cut off: rows are missing at its end.' })
}

function parseRow<Row>(text: string): Row {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ApiError({ status: 0, code: 'invalid_answer', message: 'A row of the answer is not JSON.', cause })
  }
}

/** Splits the text of an array into its items. Chunks may end anywhere; only the unfinished item is buffered. */
function createArraySplitter() {
  const structural = /["\\{}[\],]/g
  let item = ''
  let depth = 0
  let isInString = false
  let isOver = false
  /** The last chunk ended with a backslash, so the first character of the next one is escaped. */
  let isEscaped = false

  /** Whether the character is before, between or after items. */
  function isBoundary(character: string): boolean {
    if (character === '"') isInString = !isInString
    if (isInString || character === '"') return false
    if (character === ',') return depth === 1
    const isOpening = character === '[' || character === '{'
    depth += isOpening ? 1 : -1
    isOver = depth === 0
    return isOver || (isOpening && depth === 1)
  }

  /** The offsets in a chunk at which items begin or end. */
  function* boundariesIn(piece: string): Generator<number, void> {
    structural.lastIndex = isEscaped ? 1 : 0
    isEscaped = false
    for (let match = structural.exec(piece); match && !isOver; match = structural.exec(piece)) {
      const { index } = match
      if (match[0] === '\\') {
        isEscaped = index + 1 === piece.length
        structural.lastIndex = index + 2
      } else if (isBoundary(match[0])) yield index
    }
  }

  return {
    isOver: () => isOver,
    *push(piece: string): Generator<string, void> {
      if (piece === '') return
      let start = 0
      for (const index of boundariesIn(piece)) {
        const text = item + piece.slice(start, index)
        item = ''
        start = index + 1
        if (text.trim() !== '') yield text
      }
      item += piece.slice(start)
    },
  }
}
