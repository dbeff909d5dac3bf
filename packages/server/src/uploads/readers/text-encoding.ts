import { isUtf8 } from 'node:buffer'
import { createReadStream, createWriteStream, readSync } from 'node:fs'
import { mkdtemp, open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type OpenOptions, ReadFault, type Warning } from './reader.ts'

type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** The same text in UTF-8: the file itself, or a copy in the directory when it was in another encoding. */
export async function inUtf8(
  file: string,
  { directory, signal, onAdvance }: Pick<OpenOptions, 'directory' | 'signal' | 'onAdvance'>,
): Promise<{ file: string; warnings: Warning[] }> {
  const encoding = await encodingOf(file, signal)
  if (encoding === 'utf-8') return { file, warnings: [] }
  const copy = join(await mkdtemp(join(directory, 'utf-8-')), 'text')
  await pipeline(createReadStream(file), (bytes) => decoded(bytes, encoding, onAdvance), createWriteStream(copy), {
    signal,
  })
  return { file: copy, warnings: [{ code: 'transcoded', message: `The text was read as ${encoding}.` }] }
}

async function* decoded(
  bytes: AsyncIterable<Buffer>,
  encoding: TextEncoding,
  onAdvance: OpenOptions['onAdvance'],
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  try {
    for await (const chunk of bytes) {
      onAdvance?.(chunk.length)
      yield decoder.decode(chunk, { stream: true })
    }
    yield decoder.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ReadFault('unsupported_encoding', `The text is not valid ${encoding}.`, {}, error)
  }
}

/** By its mark, else UTF-8 when all of it is, else the encoding of Western Windows, which takes any bytes. */
async function encodingOf(file: string, signal: AbortSignal): Promise<TextEncoding> {
  const handle = await open(file)
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    const mark = buffer.toString('hex')
    if (mark === 'fffe') return 'utf-16le'
    if (mark === 'feff') return 'utf-16be'
    return isAllUtf8(handle.fd, signal) ? 'utf-8' : 'windows-1252'
  } finally {
    await handle.close()
  }
}

/** Through one piece of memory, over and over. */
function isAllUtf8(file: number, signal: AbortSignal): boolean {
  const bytes = Buffer.allocUnsafeSlow(256 * 1024)
  let position = 0
  let rest = 0
  for (;;) {
    signal.throwIfAborted()
    // The process does nothing else: to wait for a read is cheaper than to have it done elsewhere.
    const bytesRead = readSync(file, bytes, rest, bytes.length - rest, position)
    if (bytesRead === 0) return rest === 0
    position += bytesRead
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
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return at + size > bytes.length ? at : bytes.length
    }
  }
  return bytes.length
}
