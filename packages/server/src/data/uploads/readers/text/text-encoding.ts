import { isUtf8 } from 'node:buffer'
import { createReadStream, createWriteStream, readSync } from 'node:fs'
import { mkdtemp, open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { asciiEnd } from '../../../../query/geometry/encoding/character-codes.ts'
import { readStart } from '../file-start.ts'
import { type ReaderOptions, ReadFault, sampleBytes, type Warning } from '../reader.ts'
import { decoderOf, encodingNamed, publicEncoding } from './code-pages.ts'
import { detectEncoding } from './detect-encoding.ts'
import { detectUtf16, markedUtf16 } from './utf16.ts'
import { createWordSample, isFull, noteWords, sampledBytes } from './word-sample.ts'

/** The same text in UTF-8: the file itself, or a copy in the directory when it was in another encoding. */
export async function inUtf8(
  file: string,
  {
    directory,
    signal,
    onAdvance,
    encoding: label,
    isSample = false,
  }: Pick<ReaderOptions, 'directory' | 'signal' | 'onAdvance' | 'encoding' | 'isSample'>,
): Promise<{ file: string; warnings: Warning[] }> {
  const chosen = label === undefined ? undefined : encodingNamed(label)
  const most = isSample ? sampleBytes : Number.POSITIVE_INFINITY
  const encoding = await encodingOf(file, signal, chosen, most)
  if (encoding === 'utf-8') return { file, warnings: [] }
  const copy = join(await mkdtemp(join(directory, 'utf-8-')), 'text')
  await pipeline(
    createReadStream(file, isSample ? { end: most - 1 } : {}),
    (bytes) => decoded(bytes, encoding, onAdvance),
    createWriteStream(copy),
    {
      signal,
    },
  )
  if (chosen === encoding) return { file: copy, warnings: [] }
  const message = `The text was read as ${publicEncoding(encoding)}. If that is wrong, send it again with the field encoding.`
  return { file: copy, warnings: [{ code: 'transcoded', message }] }
}

async function* decoded(
  bytes: AsyncIterable<Buffer>,
  encoding: string,
  onAdvance: ReaderOptions['onAdvance'],
): AsyncGenerator<string> {
  const decode = streamDecoderOf(encoding)
  try {
    for await (const chunk of bytes) {
      onAdvance?.(chunk.length)
      yield decode(chunk)
    }
    yield decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ReadFault('unsupported_encoding', `The text is not valid ${publicEncoding(encoding)}.`, {}, error)
  }
}

function streamDecoderOf(encoding: string): (chunk?: Buffer) => string {
  if (!/^\d+$/.test(encoding)) {
    const decoder = new TextDecoder(encoding, { fatal: isStrict(encoding) })
    return (chunk) => (chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode())
  }
  // The code pages of DOS have one byte a character.
  const decode = decoderOf(encoding)
  return (chunk) => (chunk ? decode(chunk) : '')
}

/** In the others a few bytes that stand for nothing are no reason to refuse the file. */
const isStrict = (encoding: string): boolean => encoding.startsWith('utf-')

/** So much tells UTF-16. */
const headBytes = 64 * 1024

/** By its mark, else as the client says, else UTF-16 by its bytes, else UTF-8 when all of it is, else by the language of its words. */
async function encodingOf(
  file: string,
  signal: AbortSignal,
  chosen: string | undefined,
  most: number,
): Promise<string> {
  const handle = await open(file)
  try {
    const head = await readStart(file, headBytes)
    const isSettled = chosen !== undefined && chosen !== 'utf-8'
    const utf16 = isSettled ? markedUtf16(head) : detectUtf16(head)
    if (utf16) return utf16
    if (isSettled) return chosen
    if (isAllUtf8(handle.fd, signal, most)) return 'utf-8'
    if (chosen)
      throw new ReadFault(
        'unsupported_encoding',
        'The text is not valid UTF-8. Name its encoding in the field encoding.',
      )
    return detectEncoding(wordsIn(handle.fd, signal))
  } finally {
    await handle.close()
  }
}

function wordsIn(file: number, signal: AbortSignal): Buffer {
  const sample = createWordSample()
  const bytes = Buffer.allocUnsafeSlow(256 * 1024)
  for (let position = 0; !isFull(sample); position += bytes.length) {
    signal.throwIfAborted()
    const bytesRead = readSync(file, bytes, 0, bytes.length, position)
    if (bytesRead === 0) break
    noteWords(sample, bytes, 0, bytesRead)
  }
  return sampledBytes(sample)
}

/** Through one piece of memory, over and over. */
function isAllUtf8(file: number, signal: AbortSignal, most: number): boolean {
  const bytes = Buffer.allocUnsafeSlow(256 * 1024)
  let position = 0
  let rest = 0
  for (;;) {
    signal.throwIfAborted()
    // The process does nothing else: to wait for a read is cheaper than to have it done elsewhere.
    const bytesRead = readSync(file, bytes, rest, bytes.length - rest, position)
    if (bytesRead === 0) return rest === 0
    position += bytesRead
    if (position > most) return true
    const found = bytes.subarray(0, rest + bytesRead)
    const end = wholeCharacters(found)
    if (!isUtf8(found.subarray(0, end))) return false
    rest = found.length - end
    found.copyWithin(0, end)
  }
}

/** Where the last whole character of UTF-8 ends. */
export function wholeCharacters(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 4); at--) {
    const byte = bytes[at] as number
    if (byte < asciiEnd) return bytes.length
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return at + size > bytes.length ? at : bytes.length
    }
  }
  return bytes.length
}
