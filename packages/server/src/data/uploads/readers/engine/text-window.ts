import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { allocate } from '../../../../query/geometry/encoding/byte-writer.ts'
import type { NumberCursor } from '../../../../query/geometry/encoding/plain-number.ts'
import { enlarged, release } from '../../reader-process/memory.ts'

/**
 * A sliding window of a text file in UTF-8, which is read from its start to its end; a byte order mark is passed over.
 * `bytes[end]` is always 0, which no text holds, so that loops need not look at `end`, and `slack` bytes from there on can be
 * read. `view` covers the same memory.
 */
export type TextWindow = NumberCursor & {
  bytes: Buffer
  view: DataView
  /** Where reading is. */
  at: number
  end: number
  /** Whether the window holds the end of the file. */
  isLast: boolean
  /** Where it ends in the file. */
  position: number
  readonly file: number
  readonly fileSize: number
}

const slack = 8
const byteOrderMark = 0xefbbbf

/** An empty window in front of a file. */
export function openTextWindow(path: string, size: number): TextWindow {
  const file = openSync(path, 'r')
  const fileSize = fstatSync(file).size
  const place = { at: 0, hasPoint: false, end: 0, isLast: false, position: 0 }
  return { ...allocate(size + slack), ...place, file, fileSize }
}

/** Moves the window on behind what was read, and makes it larger where little was; false at the end of the file. */
export function fillTextWindow(window: TextWindow): boolean {
  if (window.isLast) return false
  moveOn(window)
  const { bytes, end, position } = window
  // The process does nothing else: to wait for a read is cheaper than to have it done elsewhere.
  const bytesRead = readSync(window.file, bytes, end, bytes.length - slack - end, position)
  if (position === 0 && bytesRead >= 3 && bytes.readUIntBE(0, 3) === byteOrderMark) window.at = 3
  window.position += bytesRead
  window.end += bytesRead
  bytes[window.end] = 0
  window.isLast = bytesRead === 0 || window.position >= window.fileSize
  return true
}

function moveOn(window: TextWindow): void {
  const rest = window.end - window.at
  window.bytes.copyWithin(0, window.at, window.end)
  if (rest > (window.bytes.length - slack) / 2) {
    // Moved rather than copied: the old memory is free at once.
    window.bytes = enlarged(window.bytes, window.bytes.length * 2)
    window.view = new DataView(window.bytes.buffer)
  }
  window.at = 0
  window.end = rest
}

/** How much of the file was read, from 0 to 1. */
export const shareRead = ({ position, fileSize }: TextWindow): number => position / (fileSize || 1)

/** Frees its memory, which a large value may have made large. */
export function closeTextWindow(window: TextWindow): void {
  release(window)
  closeSync(window.file)
}
