// Reads row blocks into the tile encoder.
import type { TileEncoder } from '../mvt/tile-encoder.ts'

const lengthBytes = 4

/** Adds the rows of blocks (see query/execution/connection.ts). Returns how many were left out because the tile was full. */
export function addBlocks(encoder: TileEncoder, blocks: readonly Uint8Array[], columnCount: number): number {
  const at = new Int32Array(2 * columnCount)
  let refused = 0
  for (const block of blocks) {
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength)
    for (let start = 0; start < bytes.length; ) {
      start = findCells(bytes, start, at)
      if (!encoder.addRow(bytes, at)) refused++
    }
  }
  return refused
}

/** Finds the cells of a row in the encoder's format. Returns the start of the next row. */
function findCells(bytes: Buffer, start: number, at: Int32Array): number {
  let end = start
  for (let index = 0; index < at.length; index += 2) {
    const length = bytes.readInt32BE(end)
    const from = end + lengthBytes
    end = from + Math.max(0, length)
    at[index] = length < 0 ? -1 : from
    at[index + 1] = end
  }
  return end
}
