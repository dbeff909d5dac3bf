import { type FileHandle, open } from 'node:fs/promises'
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib'
import { release } from '../../reader-process/memory.ts'
import type { InputBytes } from '../engine/byte-window.ts'
import { ReadFault } from '../reader.ts'

/** A file in an archive: where it lies there, and what it has to come to. */
export type PackedFile = {
  readonly name: string
  readonly archive: string
  readonly start: number
  readonly packedBytes: number
  readonly bytes: number
  readonly sum: number
  readonly isDeflated: boolean
}

/** Opens a file in an archive, to be read from its start to its end. That it was whole is known when it is verified. */
export async function openPacked({ bytes: size, sum, ...file }: PackedFile): Promise<InputBytes> {
  const handle = await open(file.archive)
  const content = file.isDeflated ? inflated(handle, file) : stored(handle, file)
  const fault = (why: string) => new ReadFault('invalid_zip', `The archive's entry ${quoted(file.name)} ${why}.`)
  let at = 0
  let sumSoFar = 0

  async function readOn(room: Buffer): Promise<number> {
    const count = await content.read(room).catch(broken)
    if (at === 0 && count >= 4 && room.readUInt32LE(0) === 0x04034b50)
      throw fault('is an archive itself; unpack it first')
    at += count
    if (at > size) throw fault('is larger than the archive says')
    sumSoFar = crc32(room.subarray(0, count), sumSoFar)
    return count
  }

  return {
    size,
    async read(room, position) {
      if (position < at) throw new Error('What is in an archive is read only forward.')
      while (at < position) if ((await readOn(room.subarray(0, position - at))) === 0) return 0
      return readOn(room)
    },
    async verify() {
      const room = Buffer.allocUnsafeSlow(pieceBytes)
      while ((await readOn(room)) > 0);
      if (at !== size || sumSoFar !== sum) throw fault('is damaged')
    },
    async close() {
      content.end()
      await handle.close()
    },
  }
}

/** Whatever is wrong with an archive, and not with the machine, is its fault. */
export function broken(error: unknown): never {
  if (error instanceof ReadFault || !(error instanceof Error) || error.name === 'AbortError') throw error
  if ('code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code)) throw error
  throw new ReadFault('invalid_zip', `The archive is damaged: ${error.message}.`)
}

/** A name as it may stand in a message. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}

type ByteSpan = Pick<PackedFile, 'start' | 'packedBytes'>
type Content = { read(room: Buffer): Promise<number>; end(): void }

function stored(handle: FileHandle, { start, packedBytes }: ByteSpan): Content {
  let at = 0
  return {
    async read(room) {
      const { bytesRead } = await handle.read(room, 0, Math.min(room.length, packedBytes - at), start + at)
      at += bytesRead
      return bytesRead
    },
    end() {},
  }
}

const packedPieceBytes = 512 * 1024
const pieceBytes = 512 * 1024

/** Inflated by another thread, one piece ahead of what is read. */
function inflated(handle: FileHandle, place: ByteSpan): Content {
  const stream = createInflateRaw({ chunkSize: pieceBytes })
  // Whoever reads is told.
  stream.on('error', () => undefined)
  feed(stream, handle, place).catch((error) => stream.destroy(error))
  const pieces: AsyncIterator<Buffer<ArrayBuffer>, undefined> = stream[Symbol.asyncIterator]()
  const piece = { bytes: Buffer.alloc(0) }
  let at = 0
  return {
    async read(room) {
      if (at === piece.bytes.length) {
        piece.bytes = (await pieces.next()).value ?? Buffer.alloc(0)
        at = 0
      }
      const count = Math.min(room.length, piece.bytes.length - at)
      room.set(piece.bytes.subarray(at, at + count))
      at += count
      // Nothing more is inflated into memory that is full.
      if (at === piece.bytes.length && isAtEndOfMemory(piece.bytes)) {
        release(piece)
        at = 0
      }
      return count
    },
    end: () => void stream.destroy(),
  }
}

function isAtEndOfMemory({ byteOffset, length, buffer }: Buffer): boolean {
  return length > 0 && byteOffset + length === buffer.byteLength && buffer.byteLength === pieceBytes
}

/** While one piece is inflated the next is there already, so that the other thread need not wait for this one. */
async function feed(stream: InflateRaw, handle: FileHandle, { start, packedBytes }: ByteSpan): Promise<void> {
  const size = Math.min(packedPieceBytes, packedBytes)
  let [slot, next] = [emptySlot(size), emptySlot(size)]
  for (let at = 0; at < packedBytes && !stream.destroyed; [slot, next] = [next, slot]) {
    const { bytes } = slot
    await slot.written
    const { bytesRead } = await handle.read(bytes, 0, Math.min(size, packedBytes - at), start + at)
    if (bytesRead === 0) break
    at += bytesRead
    slot.written = new Promise((resolve, reject) => {
      stream.write(bytes.subarray(0, bytesRead), (error) => (error ? reject(error) : resolve()))
    })
    slot.written.catch(() => undefined)
  }
  stream.end()
}

function emptySlot(size: number): { readonly bytes: Buffer; written: Promise<void> } {
  return { bytes: Buffer.allocUnsafeSlow(size), written: Promise.resolve() }
}
