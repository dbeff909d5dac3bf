import { type ByteWriter, createByteWriter, reserve } from '../../../query/geometry/encoding/byte-writer.ts'
import { addKey, type ColumnPlan } from './columns.ts'
import { geometryRoom, putGeometry, putLength } from './geometry-writer.ts'
import type { TileShape } from './shape.ts'
import { createValueTable, releaseValueTable, type ValueTable } from './value-table.ts'
import { putVarint, varintSize } from './varint.ts'

/** A layer that is being written. */
export type LayerBuffer = {
  readonly plan: ColumnPlan
  readonly features: ByteWriter
  readonly values: ValueTable
  readonly maxBytes: number
  /** What the layer takes besides features, keys and values. */
  readonly frame: Buffer
  readonly bytesPerColumn: Float64Array
  /** For each attribute the index of the value of the row at hand, or -1, and how many bytes it added. */
  readonly row: Int32Array
  readonly added: Int32Array
  /** Where the values ended before this row. */
  valuesBefore: number
}

const field = { layer: 0x1a, feature: 0x12, id: 0x08, tags: 0x12, type: 0x18, geometry: 0x22 } as const

/** What tag and length of the layer take at most. */
const lengthRoom = 6

export function createLayer(plan: ColumnPlan, name: string, extent: number, maxBytes: number): LayerBuffer {
  const features = spare ?? createByteWriter(16_384)
  spare = undefined
  return {
    plan,
    features,
    values: createValueTable(plan.count, plan.key),
    maxBytes,
    frame: layerFrame(name, extent),
    bytesPerColumn: new Float64Array(plan.count),
    row: new Int32Array(plan.attributes.length),
    added: new Int32Array(plan.attributes.length),
    valuesBefore: 0,
  }
}

/** Version, name and extent. */
function layerFrame(name: string, extent: number): Buffer {
  const text = Buffer.from(name)
  const bytes = Buffer.alloc(text.length + 24)
  let at = bytes.writeUInt8(0x78, 0)
  at = bytes.writeUInt8(2, at)
  at = bytes.writeUInt8(0x0a, at)
  at = putVarint(bytes, at, text.length)
  at += text.copy(bytes, at)
  at = bytes.writeUInt8(0x28, at)
  return bytes.subarray(0, putVarint(bytes, at, extent))
}

/**
 * Adds a feature with the values in `layer.row`. False, and nothing is added, when the layer would become too large; then it
 * takes no other feature, as its tables may know values that are not written.
 */
export function addFeature(layer: LayerBuffer, shape: TileShape, id: number): boolean {
  const { features, plan } = layer
  const bytes = reserve(features, geometryRoom(shape) + plan.attributes.length * 10 + 40)
  const start = features.length
  const keysBefore = plan.keys.length
  const points = shape.length
  bytes[start] = field.feature
  // A guess of how long the lengths are; putLength moves what follows when it was wrong.
  const body = start + (points > 100 ? 3 : 2)
  let at = body
  if (id >= 0) {
    bytes[at] = field.id
    at = putVarint(bytes, at + 1, id)
  }
  const idBytes = at - body
  at = putTags(layer, bytes, at)
  bytes[at++] = field.type
  bytes[at++] = shape.kind
  bytes[at++] = field.geometry
  const geometryAt = at + (points > 110 ? 2 : 1)
  const geometryEnd = putGeometry(bytes, geometryAt, shape)
  const end = putLength(bytes, start + 1, body, putLength(bytes, at, geometryAt, geometryEnd))
  const size = end + layer.values.writer.length + plan.keys.length + layer.frame.length + lengthRoom
  if (size > layer.maxBytes) {
    plan.keys.length = keysBefore
    layer.values.writer.length = layer.valuesBefore
    return false
  }
  features.length = end
  countBytes(layer, idBytes, geometryEnd - geometryAt)
  return true
}

function putTags({ plan, row, added }: LayerBuffer, bytes: Buffer, start: number): number {
  const { attributes } = plan
  let at = start + 2
  for (let index = 0; index < attributes.length; index++) {
    const value = row[index]
    if (value < 0) continue
    const attribute = attributes[index]
    const from = at
    if (attribute.key < 0) added[index] = added[index] + addKey(plan, attribute)
    at = putVarint(bytes, at, attribute.key)
    at = putVarint(bytes, at, value)
    added[index] = added[index] + at - from
  }
  if (at === start + 2) return start
  bytes[start] = field.tags
  return putLength(bytes, start + 1, start + 2, at)
}

function countBytes({ plan, bytesPerColumn, row, added }: LayerBuffer, idBytes: number, geometryBytes: number): void {
  const { attributes, geometry, id } = plan
  bytesPerColumn[geometry] = bytesPerColumn[geometry] + geometryBytes
  if (id >= 0) bytesPerColumn[id] = bytesPerColumn[id] + idBytes
  for (let index = 0; index < attributes.length; index++) {
    const { column } = attributes[index]
    if (row[index] >= 0) bytesPerColumn[column] = bytesPerColumn[column] + added[index]
  }
}

/** The tile of this one layer. */
export function layerBytes({ features, plan, values, frame }: LayerBuffer): Buffer {
  const parts = [frame, contentOf(features), contentOf(plan.keys), contentOf(values.writer)]
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  // Memory of its own, which can go to another thread.
  const bytes = Buffer.allocUnsafeSlow(1 + varintSize(size) + size)
  bytes[0] = field.layer
  let at = putVarint(bytes, 1, size)
  for (const part of parts) at += part.copy(bytes, at)
  return bytes
}

/** The buffers of a finished tile serve the next one. */
let spare: ByteWriter | undefined
const largestKept = 1 << 22

export function releaseLayer({ features, values }: LayerBuffer): void {
  releaseValueTable(values)
  if (features.bytes.length > largestKept) return
  features.length = 0
  spare = features
}

const contentOf = ({ bytes, length }: ByteWriter): Buffer => bytes.subarray(0, length)
