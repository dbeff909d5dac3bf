import { asciiEnd } from '../../../../query/geometry/encoding/character-codes.ts'

/** Different words with letters beyond ASCII, as many as are enough to tell an encoding by. */
export type WordSample = { readonly words: Set<string>; bytes: number }

const enoughBytes = 4_096
/** Below it are blanks, digits and most punctuation, which no encoding uses as part of a character. */
const firstOfWord = 0x40

export const createWordSample = (): WordSample => ({ words: new Set(), bytes: 0 })

export const isFull = ({ bytes }: WordSample): boolean => bytes >= enoughBytes

export function noteWords(sample: WordSample, bytes: Buffer, start: number, end: number): void {
  if (isFull(sample)) return
  let wordStart = start
  let hasHighByte = false
  for (let at = start; at <= end; at++) {
    const byte = at < end ? (bytes[at] as number) : 0
    if (byte >= asciiEnd) hasHighByte = true
    if (byte >= firstOfWord) continue
    if (hasHighByte) noteWord(sample, bytes.toString('latin1', wordStart, at))
    wordStart = at + 1
    hasHighByte = false
  }
}

function noteWord(sample: WordSample, word: string): void {
  if (sample.words.has(word)) return
  sample.words.add(word)
  sample.bytes += word.length + 1
}

export const sampledBytes = ({ words }: WordSample): Buffer => Buffer.from([...words].join(' '), 'latin1')
