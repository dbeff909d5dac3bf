import { type ByteWriter, copyBytes, createByteWriter, reserve } from '../../../query/geometry/encoding/byte-writer.ts'
import { putVarint, varintSize } from './varint.ts'

/**
 * The values of a layer, each written once, as the bytes the tile will hold. A value is first written behind the others;
 * when the same bytes are there already it is taken back. So one way finds equal values of every type, without garbage.
 */
export type ValueTable = {
  readonly writer: ByteWriter
  /** The column that values come from. */
  column: number
  /** For each column how often a value was looked for, and found. */
  searches: Int32Array
  finds: Int32Array
  count: number
  /** Where each value begins, and where the last ends. */
  offsets: Int32Array
  hashes: Int32Array
  /** Open addressing: the high bits of a hash beside 1 + the index of its value, or 0. */
  slots: Int32Array
  slotsTaken: number
}

const indexBits = 22
const indexMask = (1 << indexBits) - 1

const fieldValue = 0x22
const tag = { string: 0x0a, float: 0x15, double: 0x19, uint: 0x28, sint: 0x30, bool: 0x38 } as const

const leastSigned = -(2 ** 52)

/** Nobody can know it beforehand and choose values that share a place. */
const seed = Math.floor(Math.random() * 0x7fffffff)
/** After as many looks a value is written again rather than searched for longer. */
const maxProbes = 64

/** A column that after `trial` values was found to repeat hardly any is not searched for more: only one in `sample` is kept. */
const trial = 8192
const rarely = 32
const sample = 8

/** `unique` is the column that is known to repeat no value, or -1. */
export function createValueTable(columns: number, unique: number): ValueTable {
  const table = spare ?? emptyTable()
  spare = undefined
  table.searches = new Int32Array(columns)
  table.finds = new Int32Array(columns)
  if (unique >= 0) table.searches[unique] = trial
  return table
}

const emptyTable = (): ValueTable => ({
  writer: createByteWriter(4096),
  column: 0,
  searches: new Int32Array(0),
  finds: new Int32Array(0),
  count: 0,
  offsets: new Int32Array(257),
  hashes: new Int32Array(256),
  slots: new Int32Array(1024),
  slotsTaken: 0,
})

/** The table of a finished tile serves the next one: fresh memory costs more than clearing it. */
let spare: ValueTable | undefined
const largestKept = { bytes: 1 << 22, slots: 1 << 17 }

export function releaseValueTable(table: ValueTable): void {
  if (table.writer.bytes.length > largestKept.bytes || table.slots.length > largestKept.slots) return
  table.writer.length = 0
  table.count = 0
  table.slots.fill(0)
  table.slotsTaken = 0
  spare = table
}

/** UTF-8 text of these bytes. */
export function textValue(table: ValueTable, bytes: Uint8Array, start: number, end: number): number {
  const { writer } = table
  const size = end - start
  const target = reserve(writer, size + 12)
  let at = writer.length
  target[at++] = fieldValue
  at = putVarint(target, at, 1 + varintSize(size) + size)
  target[at++] = tag.string
  at = putVarint(target, at, size)
  copyBytes(bytes, start, end, target, at)
  return intern(table, at + size)
}

/** An integer of up to 53 bits. Readers lose the last bit of a very negative one, so that goes as a double, which is exact. */
export function integerValue(table: ValueTable, value: number): number {
  if (value < leastSigned) return doubleValue(table, value)
  const target = reserve(table.writer, 12)
  const lengthAt = table.writer.length + 1
  target[lengthAt - 1] = fieldValue
  target[lengthAt + 1] = value >= 0 ? tag.uint : tag.sint
  const end = putVarint(target, lengthAt + 2, value >= 0 ? value : -2 * value - 1)
  target[lengthAt] = end - lengthAt - 1
  return intern(table, end)
}

export function doubleValue(table: ValueTable, value: number): number {
  const { writer } = table
  const target = reserve(writer, 12)
  const at = writer.length
  target[at] = fieldValue
  target[at + 1] = 9
  target[at + 2] = tag.double
  writer.view.setFloat64(at + 3, value, true)
  return intern(table, at + 11)
}

export function floatValue(table: ValueTable, value: number): number {
  const { writer } = table
  const target = reserve(writer, 12)
  const at = writer.length
  target[at] = fieldValue
  target[at + 1] = 5
  target[at + 2] = tag.float
  writer.view.setFloat32(at + 3, value, true)
  return intern(table, at + 7)
}

export function booleanValue(table: ValueTable, value: boolean): number {
  const target = reserve(table.writer, 12)
  const at = table.writer.length
  target[at] = fieldValue
  target[at + 1] = 2
  target[at + 2] = tag.bool
  target[at + 3] = value ? 1 : 0
  return intern(table, at + 4)
}

/** The index of the value that lies between the end of the writer and `end`: a known one, or a new one. */
function intern(table: ValueTable, end: number): number {
  const { writer, slots, column, searches, finds } = table
  const hash = hashOf(writer, writer.length, end)
  const mask = slots.length - 1
  let slot = hash & mask
  const nth = searches[column] + 1
  searches[column] = nth
  for (let probe = 0; probe < maxProbes; probe++) {
    const entry = slots[slot]
    if (entry === 0) {
      const isRare = nth > trial && finds[column] * rarely < nth
      if (!isRare || nth % sample === 0) takeSlot(table, slot, hash)
      break
    }
    const index = (entry & indexMask) - 1
    if (((entry ^ hash) & ~indexMask) === 0 && isEqual(table, index, end)) {
      finds[column] = finds[column] + 1
      return index
    }
    slot = (slot + 1) & mask
  }
  return append(table, hash, end)
}

function takeSlot(table: ValueTable, slot: number, hash: number): void {
  if (table.count >= indexMask) return
  table.slots[slot] = (hash & ~indexMask) | (table.count + 1)
  table.slotsTaken++
}

function append(table: ValueTable, hash: number, end: number): number {
  const index = table.count++
  table.hashes[index] = hash
  table.offsets[index + 1] = end
  table.writer.length = end
  if (table.count === table.hashes.length) growLists(table)
  if (table.slotsTaken * 2 > table.slots.length) growSlots(table)
  return index
}

function isEqual({ writer, offsets }: ValueTable, index: number, end: number): boolean {
  const { bytes, length } = writer
  const start = offsets[index]
  const size = end - length
  if (offsets[index + 1] - start !== size) return false
  if (size > 256) return bytes.compare(bytes, start, start + size, length, end) === 0
  for (let offset = 0; offset < size; offset++) {
    if (bytes[start + offset] !== bytes[length + offset]) return false
  }
  return true
}

function hashOf({ bytes, view }: ByteWriter, start: number, end: number): number {
  let hash = seed
  let at = start
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1)
    hash ^= hash >>> 15
  }
  for (; at < end; at++) hash = Math.imul(hash ^ bytes[at], 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

function growLists(table: ValueTable): void {
  const { count, offsets, hashes } = table
  table.offsets = new Int32Array(count * 2 + 1)
  table.offsets.set(offsets)
  table.hashes = new Int32Array(count * 2)
  table.hashes.set(hashes)
}

function growSlots(table: ValueTable): void {
  const slots = new Int32Array(table.slots.length * 2)
  const mask = slots.length - 1
  for (const entry of table.slots) {
    if (entry === 0) continue
    let slot = table.hashes[(entry & indexMask) - 1] & mask
    for (let probe = 0; probe < maxProbes && slots[slot] !== 0; probe++) slot = (slot + 1) & mask
    slots[slot] = entry
  }
  table.slots = slots
}
