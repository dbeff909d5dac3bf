import type { TextCursor } from './cursor.ts'

const wordBytes = 8

/**
 * Bytes to be recognised, eight at once: as doubles, which are equal only where their bytes are, but for 0. The last word may
 * overlap those before.
 */
export type FixedText = { length: number; words: Float64Array; lastWord: number; short: Buffer }

/** Steps over exactly these bytes, if they are here. None of them is the 0 that ends the window. */
export function stepOver(cursor: TextCursor, text: FixedText): boolean {
  const { at } = cursor
  if (!(text.length < wordBytes ? isShortHere(cursor, text) : isHere(cursor, text))) return false
  cursor.at = at + text.length
  return true
}

function isHere({ view, at }: TextCursor, { words, lastWord, length }: FixedText): boolean {
  for (let index = 0; index < words.length; index++)
    if (view.getFloat64(at + index * wordBytes, true) !== words[index]) return false
  return view.getFloat64(at + length - wordBytes, true) === lastWord
}

function isShortHere({ bytes, at }: TextCursor, { short, length }: FixedText): boolean {
  let index = 0
  while (index < length && bytes[at + index] === short[index]) index++
  return index === length
}

export function fixedText(text: Buffer): FixedText {
  const isLong = text.length >= wordBytes
  return {
    length: text.length,
    words: Float64Array.from({ length: isLong ? Math.ceil(text.length / wordBytes) - 1 : 0 }, (_, index) =>
      text.readDoubleLE(index * wordBytes),
    ),
    lastWord: isLong ? text.readDoubleLE(text.length - wordBytes) : 0,
    short: Buffer.from(isLong ? [] : text),
  }
}
