import { readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { release } from '../../memory.ts'
import { type Cursor, makeRoom, slack } from '../geojson/cursor.ts'

const byteOrderMark = 0xefbbbf

/** Fills the cursor with one window of a file after the other, behind what was not read yet. Yields how far it is. */
export async function* windowsOf(file: string, cursor: Cursor, signal: AbortSignal): AsyncGenerator<number, void> {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    let position = 0
    while (!cursor.isLast) {
      signal.throwIfAborted()
      makeRoom(cursor)
      // The process does nothing else: to wait for a read is cheaper than to have it done elsewhere.
      const { bytes, end } = cursor
      const bytesRead = readSync(handle.fd, bytes, end, bytes.length - slack - end, position)
      if (position === 0 && bytesRead >= 3 && bytes.readUIntBE(0, 3) === byteOrderMark) cursor.at = 3
      position += bytesRead
      cursor.end += bytesRead
      bytes[cursor.end] = 0
      cursor.isLast = bytesRead === 0 || position >= size
      yield Math.min(1, position / (size || 1))
    }
  } finally {
    // A large value may have made it large.
    release(cursor)
    await handle.close()
  }
}
