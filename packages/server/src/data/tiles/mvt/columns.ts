import { type ByteWriter, createByteWriter, reserve } from '../../../query/geometry/encoding/byte-writer.ts'
import { putVarint } from './varint.ts'

/**
 * What a column holds. `geometry`: WKB or EWKB. `decimal`: numeric and int8 as text, which becomes a number when a double
 * holds it exactly and stays text otherwise. The key is the feature's id when it is an integer from 0 to 2^53-1; it is a
 * property as well unless it is hidden.
 */
export type TileColumn = {
  readonly name: string
  readonly kind: 'geometry' | 'integer' | 'number' | 'boolean' | 'text' | 'decimal'
  readonly isKey?: boolean
  readonly isHidden?: boolean
  /** The number of rows that the row stands for, a whole number of four bytes; the tile says their sum. */
  readonly isCount?: boolean
}

export type TileAttribute = {
  readonly column: number
  readonly name: string
  readonly kind: TileColumn['kind']
  /** Its number among the keys of the layer, or -1 as long as no feature has it. */
  key: number
}

/** The columns as the encoder uses them; an index is -1 when there is no such column. */
export type ColumnPlan = {
  readonly count: number
  readonly geometry: number
  readonly key: number
  /** The key, if it can be the id of a feature. */
  readonly id: number
  readonly idKind: TileColumn['kind']
  readonly rows: number
  readonly attributes: readonly TileAttribute[]
  readonly keys: ByteWriter
  keyCount: number
}

export function planColumns(columns: readonly TileColumn[]): ColumnPlan {
  const id = columns.findIndex(({ isKey, kind }) => isKey && (kind === 'integer' || kind === 'decimal'))
  return {
    count: columns.length,
    geometry: columns.findIndex(({ kind }) => kind === 'geometry'),
    key: columns.findIndex(({ isKey }) => isKey),
    id,
    idKind: columns[id]?.kind ?? 'text',
    rows: columns.findIndex(({ isCount }) => isCount),
    attributes: columns
      .map(({ name, kind, isHidden }, column) => ({ column, name, kind, isHidden, key: -1 }))
      .filter(({ kind, isHidden }) => kind !== 'geometry' && !isHidden),
    keys: createByteWriter(256),
    keyCount: 0,
  }
}

const fieldKey = 0x1a

/** Writes the name of an attribute that a feature has for the first time; answers the bytes it took. */
export function addKey(plan: ColumnPlan, attribute: TileAttribute): number {
  const name = Buffer.from(attribute.name)
  const bytes = reserve(plan.keys, name.length + 8)
  const start = plan.keys.length
  bytes[start] = fieldKey
  const at = putVarint(bytes, start + 1, name.length)
  bytes.set(name, at)
  plan.keys.length = at + name.length
  attribute.key = plan.keyCount++
  return plan.keys.length - start
}
