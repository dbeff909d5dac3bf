import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { PassThrough, pipeline as pipe, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { StartError } from '../../kernel/errors.ts'
import { createOpener, createSealer, damaged, headerLength } from './sealed-stream.ts'

/**
 * The archive of a backup: entries, each a record in JSON and optionally content, as frames in a compressed and sealed stream.
 * The last entry says that it is the last, beside what the seal says.
 */
export type Record = { readonly kind: string; readonly [field: string]: unknown }
export type ArchiveEntry = { readonly record: Record; readonly content: AsyncIterable<Buffer> }

const recordFrame = 1
const dataFrame = 2
const endFrame = 3
const frameHeaderLength = 5
/** What a frame may claim to have. */
const maxRecordLength = 32 * 1024 * 1024
const maxDataLength = 1024 * 1024

export type ArchiveWriter = {
  add(record: Record, content?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>
  /** Settles when all is on the disk. */
  finish(): Promise<void>
  /** After a failure. */
  abandon(): void
}

/** The file must not exist. `cost` is that of the passphrase. */
export async function createArchive(path: string, passphrase: string, cost?: number): Promise<ArchiveWriter> {
  const seal = await createSealer(passphrase, cost)
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true })
  const input = new PassThrough()
  const written = pipeline(input, createZstdCompress(), seal, file)
  // Awaited by whoever writes.
  written.catch(() => undefined)

  async function write(tag: number, payload: Uint8Array): Promise<void> {
    const header = Buffer.alloc(frameHeaderLength)
    header.writeUInt8(tag)
    header.writeUInt32BE(payload.length, 1)
    if (input.destroyed) await written
    input.write(header)
    if (input.write(payload)) return
    await Promise.race([once(input, 'drain').catch(() => written), written])
  }

  return {
    async add(record, content = []) {
      const text = Buffer.from(JSON.stringify(record))
      if (text.length > maxRecordLength) throw new StartError(`A part of the backup is too large: ${record.kind}.`)
      await write(recordFrame, text)
      for await (const piece of content) {
        for (let start = 0; start < piece.length; start += maxDataLength) {
          await write(dataFrame, piece.subarray(start, start + maxDataLength))
        }
      }
      await write(endFrame, noBytes)
    },
    async finish() {
      await write(recordFrame, Buffer.from('{"kind":"end"}'))
      await write(endFrame, noBytes)
      input.end()
      await written
    },
    abandon: () => void input.destroy(),
  }
}

const noBytes = new Uint8Array(0)

type Frame = { readonly tag: number; readonly payload: Buffer }

/** The entries one after the other. The content of one can be read until the next is asked for. */
export async function* readArchive(path: string, passphrase: string): AsyncGenerator<ArchiveEntry, void, undefined> {
  const frames = framesOf(await openStream(path, passphrase))
  try {
    for (;;) {
      const frame = await nextFrame(frames, recordFrame)
      const record = parseRecord(frame.payload)
      const content = contentOf(frames)
      if (record.kind !== 'end') yield { record, content }
      for await (const _ of content);
      if (record.kind !== 'end') continue
      if (!(await frames.next()).done) throw damaged()
      return
    }
  } finally {
    await frames.return()
  }
}

async function openStream(path: string, passphrase: string): Promise<Readable> {
  const open = await createOpener(passphrase, await readHeader(path))
  const unpacked = createZstdDecompress()
  const opened = Readable.from(open(createReadStream(path, { start: headerLength })), { objectMode: false })
  // A failure of either ends the other and reaches whoever reads.
  return pipe(opened, unpacked, () => undefined)
}

async function readHeader(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headerLength), 0, headerLength, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function* contentOf(frames: AsyncGenerator<Frame>): AsyncGenerator<Buffer, void, undefined> {
  for (;;) {
    const { tag, payload } = await nextFrame(frames)
    if (tag === endFrame) return
    if (tag !== dataFrame) throw damaged()
    yield payload
  }
}

async function nextFrame(frames: AsyncGenerator<Frame>, wanted?: number): Promise<Frame> {
  const { value, done } = await frames.next()
  if (done || (wanted !== undefined && value.tag !== wanted)) throw damaged()
  return value
}

function parseRecord(text: Buffer): Record {
  try {
    const record: unknown = JSON.parse(text.toString('utf8'))
    if (typeof record === 'object' && record !== null && 'kind' in record && typeof record.kind === 'string') {
      return record as Record
    }
  } catch {
    // The same words as for other damage.
  }
  throw damaged()
}

async function* framesOf(source: Readable): AsyncGenerator<Frame, void, undefined> {
  const take = createTaker(source)
  for (;;) {
    const header = await take(frameHeaderLength)
    if (!header) return
    const tag = header.readUInt8()
    const length = header.readUInt32BE(1)
    if (length > (tag === recordFrame ? maxRecordLength : maxDataLength)) throw damaged()
    const payload = await take(length)
    if (!payload) throw damaged()
    yield { tag, payload }
  }
}

/** Takes so many bytes from a stream; undefined at its end. */
function createTaker(source: Readable): (length: number) => Promise<Buffer | undefined> {
  const chunks = source[Symbol.asyncIterator]()
  let left: Buffer = Buffer.alloc(0)
  return async (length) => {
    const parts = [left]
    let collected = left.length
    while (collected < length) {
      const { value, done } = await chunks.next()
      if (done) {
        if (collected > 0) throw damaged()
        return undefined
      }
      parts.push(value)
      collected += value.length
    }
    const all = parts.length === 1 ? left : Buffer.concat(parts, collected)
    left = all.subarray(length)
    return all.subarray(0, length)
  }
}
