import { open } from 'node:fs/promises'
import { allocate } from '../../../../query/geometry/encoding/byte-writer.ts'
import { ReadFault } from '../reader.ts'

/** Where bytes come from: a file, or one in an archive, which can be read only forward. */
export type InputBytes = {
  readonly size: number
  /** Reads what there is from this position on, at most as much as there is room for. 0 at the end. */
  read(room: Buffer, position: number): Promise<number>
  /** Reads to the end where only then it is known whether what was read is right; throws a fault when not. */
  verify?(): Promise<void>
  close(): Promise<void>
}

/** A part of a file in memory, which moves forward. `view` and `bytes` cover the same memory. */
export type ByteWindow = {
  readonly source: InputBytes
  readonly fileSize: number
  bytes: Buffer
  view: DataView
  /** Where in the file the window starts, and how much of it is filled. */
  start: number
  filled: number
}

const windowBytes = 1024 * 1024

/** A window on a file by its path, or on whatever is opened. */
export async function openWindow(file: string | (() => Promise<InputBytes>)): Promise<ByteWindow> {
  const source = await (typeof file === 'string' ? openFile(file) : file())
  const { size } = source
  return { source, fileSize: size, ...allocate(Math.min(windowBytes, Math.max(size, 64))), start: 0, filled: 0 }
}

async function openFile(file: string): Promise<InputBytes> {
  const handle = await open(file)
  const { size } = await handle.stat()
  return {
    size,
    read: async (room, position) => (await handle.read(room, 0, room.length, position)).bytesRead,
    close: () => handle.close(),
  }
}

/** Whether these bytes of the file are in memory already; if so `offset - window.start` is where. */
export function holds(window: ByteWindow, offset: number, size: number): boolean {
  return offset >= window.start && offset + size <= window.start + window.filled
}

/** Moves the window so that it holds these bytes of the file. Throws a fault when the file ends before. */
export async function moveTo(window: ByteWindow, offset: number, size: number): Promise<void> {
  if (offset + size > window.fileSize) throw new ReadFault('truncated', 'The file ends too early.')
  const kept = bytesFrom(window, offset)
  if (size > window.bytes.length) Object.assign(window, allocate(size))
  // A feature that was large is no reason to keep so much memory.
  else if (window.bytes.length > windowBytes && size <= windowBytes && kept.length <= windowBytes)
    Object.assign(window, allocate(windowBytes))
  window.bytes.set(kept)
  window.start = offset
  window.filled = kept.length
  while (window.filled < size) {
    const room = window.bytes.subarray(window.filled, window.fileSize - offset)
    const read = await window.source.read(room, offset + window.filled)
    if (read === 0) throw new ReadFault('truncated', 'The file ends too early.')
    window.filled += read
  }
}

/** What the window holds from there on. */
function bytesFrom({ bytes, start, filled }: ByteWindow, offset: number): Buffer {
  return offset < start ? bytes.subarray(0, 0) : bytes.subarray(offset - start, filled)
}
