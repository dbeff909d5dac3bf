import { ReadFault } from '../reader.ts'

/** A table of a FlatBuffer, which lies in the view from `start` to `end`. Nothing outside is ever read. */
export type FlatbufferTable = {
  readonly view: DataView
  readonly at: number
  readonly start: number
  readonly end: number
  readonly budget: Budget
}

/** What may still be read of a buffer, in bytes. Offsets may lead to the same place again and again, even in circles. */
type Budget = { left: number }

/** An honest buffer is read once; so much is forgiven. */
const budgetFactor = 4

/** A vector: where its first element is and how many it has. */
export type FlatbufferVector = { readonly at: number; readonly length: number }

const none: FlatbufferVector = { at: 0, length: 0 }

export function damagedBuffer(): ReadFault {
  return new ReadFault('invalid_file', 'The FlatGeobuf file is damaged.')
}

/** The root of a buffer, of which the size in front is left out. */
export function rootTable(view: DataView, start: number, end: number): FlatbufferTable {
  if (end - start < 8) throw damagedBuffer()
  return tableAt(view, start + view.getUint32(start, true), start, end, { left: (end - start) * budgetFactor })
}

function tableAt(view: DataView, at: number, start: number, end: number, budget: Budget): FlatbufferTable {
  if (at < start || at + 4 > end) throw damagedBuffer()
  return { view, at, start, end, budget }
}

/** Where a field of the table is; 0 when it is left out. */
export function fieldAt({ view, at, start, end }: FlatbufferTable, index: number, size: number): number {
  const layout = at - view.getInt32(at, true)
  if (layout < start || layout + 4 > end) throw damagedBuffer()
  const slot = 4 + index * 2
  if (slot + 2 > view.getUint16(layout, true)) return 0
  if (layout + slot + 2 > end) throw damagedBuffer()
  const offset = view.getUint16(layout + slot, true)
  if (offset === 0) return 0
  if (at + offset + size > end) throw damagedBuffer()
  return at + offset
}

export function byteField(table: FlatbufferTable, index: number): number {
  const at = fieldAt(table, index, 1)
  return at === 0 ? 0 : table.view.getUint8(at)
}

/** Where the thing is that the field leads to; 0 when it is left out. */
function target(table: FlatbufferTable, index: number): number {
  const at = fieldAt(table, index, 4)
  if (at === 0) return 0
  const place = at + table.view.getUint32(at, true)
  if (place + 4 > table.end) throw damagedBuffer()
  return place
}

export function vectorField(table: FlatbufferTable, index: number, elementSize: number): FlatbufferVector {
  const at = target(table, index)
  if (at === 0) return none
  const length = table.view.getUint32(at, true)
  if (length * elementSize > table.end - at - 4) throw damagedBuffer()
  return { at: at + 4, length }
}

export function tableField(table: FlatbufferTable, index: number): FlatbufferTable | undefined {
  const at = target(table, index)
  return at === 0 ? undefined : tableAt(table.view, at, table.start, table.end, table.budget)
}

/** So many bytes of the buffer are about to be read. */
export function spend({ budget }: FlatbufferTable, bytes: number): void {
  budget.left -= bytes
  if (budget.left < 0) throw damagedBuffer()
}

/** A table out of a vector of tables. */
export function tableOfVector(table: FlatbufferTable, { at }: FlatbufferVector, element: number): FlatbufferTable {
  const place = at + element * 4
  spend(table, 4)
  return tableAt(table.view, place + table.view.getUint32(place, true), table.start, table.end, table.budget)
}

export function stringField(table: FlatbufferTable, index: number): string | undefined {
  const { at, length } = vectorField(table, index, 1)
  if (at === 0) return undefined
  return new TextDecoder().decode(new Uint8Array(table.view.buffer, table.view.byteOffset + at, length))
}
