// The row pipe of a reader process.
import type { Readable } from 'node:stream'
import type { TupleBytes } from '../../../kernel/db/db.ts'
import { free, ownsBuffer } from './memory.ts'
import type { StallWatchdog } from './stall-watchdog.ts'

/** The rows of one layer, until the end mark; fails if `done` does. */
export async function* rowsUntil(done: Promise<unknown>, pipe: RowPipe): AsyncGenerator<TupleBytes> {
  // A failure of the reader also ends the wait for rows.
  const failed = new Promise<never>((_, reject) => done.catch(reject))
  failed.catch(() => undefined)
  const end = { failed, done }
  for (;;) {
    let missing = await pipe.readLength(end)
    if (missing === 0) break
    while (missing > 0) {
      const bytes = await pipe.read(missing, end)
      missing -= bytes.length
      yield { bytes, isEnd: missing === 0 }
    }
  }
  await done
}

/** Length-prefixed chunks from a reader. */
export type RowPipe = {
  readLength(end: End): Promise<number>
  /** Up to this many bytes, at least one, without a copy; valid until the next read. */
  read(most: number, end: End): Promise<Buffer>
}

/** How the reader ends: `failed` rejects like `done`, but never resolves. */
type End = { readonly failed: Promise<never>; readonly done: Promise<unknown> }

export function createRowPipe(stream: Readable, watchdog: StallWatchdog): RowPipe {
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let piece: Buffer = Buffer.alloc(0)
  let rest = piece

  async function read(most: number, { failed, done }: End): Promise<Buffer> {
    if (rest.length === 0) {
      if (ownsBuffer(piece)) free(piece.buffer)
      const { value, done: isOver } = await watchdog.await(Promise.race([pieces.next(), failed]))
      // The pipe closes a moment before the reason is known.
      if (isOver) throw await done.then(() => new Error('The reader answered before it had sent all rows.'))
      piece = value
      rest = piece
    }
    const bytes = rest.subarray(0, most)
    rest = rest.subarray(bytes.length)
    return bytes
  }

  return {
    read,
    async readLength(end) {
      let length = 0
      for (let missing = 4; missing > 0; ) {
        const bytes = await read(missing, end)
        for (const byte of bytes) length = length * 256 + byte
        missing -= bytes.length
      }
      return length
    },
  }
}
