// A spool of rows in a file, for formats whose beginning depends on all rows.
import { type FileHandle, open } from 'node:fs/promises'
import { deserialize, serialize } from 'node:v8'
import type { Cell } from '../cell.ts'
import type { ExportRows } from './export-order.ts'
import { fileTooLarge } from './file-too-large.ts'

/** The length in front of every batch. */
const lengthBytes = 4

type SpoolOptions = {
  /** The cells that are hexadecimal, which take half of the room as bytes. */
  readonly hexIndex: number
  readonly maxBytes: number
  /** Called for every row on its way to the file. */
  onRow(cells: readonly Cell[]): void
}

/** Writes all rows to a new file at `path`, and answers them from there. Closing it is up to the caller, as is removing it. */
export async function spoolRows(rows: ExportRows, path: string, options: SpoolOptions) {
  const { hexIndex, maxBytes, onRow } = options
  const file = await open(path, 'wx+', 0o600)
  try {
    let size = 0
    for await (const batch of rows) {
      for (const cells of batch) onRow(cells)
      const body = serialize(batch.map((cells) => withCell(cells, hexIndex, bytesText)))
      size += lengthBytes + body.byteLength
      if (size > maxBytes) throw fileTooLarge(maxBytes)
      const length = Buffer.alloc(lengthBytes)
      length.writeUInt32LE(body.byteLength)
      await file.appendFile(Buffer.concat([length, body]))
    }
  } catch (error) {
    await file.close()
    throw error
  }
  return { rows: readRows(file, hexIndex), close: () => file.close() }
}

async function* readRows(file: FileHandle, hexIndex: number): AsyncGenerator<Cell[][]> {
  const length = Buffer.alloc(lengthBytes)
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(length, 0, lengthBytes, at)
    if (bytesRead < lengthBytes) return
    const body = Buffer.alloc(length.readUInt32LE())
    await file.read(body, 0, body.byteLength, at + lengthBytes)
    at += lengthBytes + body.byteLength
    yield (deserialize(body) as Cell[][]).map((cells) => withCell(cells, hexIndex, hexText))
  }
}

/** A character for each byte. */
const bytesText = (hex: string): string => Buffer.from(hex, 'hex').toString('latin1')
const hexText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('hex')

function withCell(cells: readonly Cell[], index: number, change: (text: string) => string): Cell[] {
  const cell = cells[index] ?? null
  return cell === null ? [...cells] : cells.with(index, change(cell))
}
