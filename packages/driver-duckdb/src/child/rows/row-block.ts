import { DuckDBBlobValue, type DuckDBDataChunk, type DuckDBType, DuckDBTypeId } from '@duckdb/node-api'
import { type Conversion, conversionOf } from './canonical-text.ts'
import { type Batch, type BatchForm, checkLength, maxBatchLength } from './run-select.ts'

/**
 * Row blocks: cells one after the other, each its length as a big-endian int32, -1 for null, and its bytes, as in PostgreSQL's
 * DataRow. Whoever passes them on to another thread reads and copies no value.
 */
export const asBlocks: BatchForm = { conversionOf: blockConversion, batchesOf: blocksOf }

/** Geometry is WKB, a boolean one byte; anything else is its canonical text in UTF-8. */
function blockConversion(type: DuckDBType): Conversion {
  if (type.typeId === DuckDBTypeId.GEOMETRY) return { sql: (value) => `ST_AsWKB(${value})` }
  if (type.typeId === DuckDBTypeId.BOOLEAN) return { text: (value) => (value ? '\u0001' : '\u0000') }
  return conversionOf(type)
}

const lengthBytes = 4
/** The most bytes that one UTF-16 code unit takes in UTF-8. */
const bytesPerUnit = 3

function* blocksOf(
  chunk: DuckDBDataChunk,
  conversions: readonly Conversion[],
  rowCount: number,
): Generator<Batch, void> {
  const vectors = conversions.map((_, index) => chunk.getColumnVector(index))
  let block: Buffer = Buffer.allocUnsafe(maxBatchLength * 2)
  let length = 0
  for (let row = 0; row < rowCount; row++) {
    for (let index = 0; index < vectors.length; index++) {
      const value = vectors[index]?.getItem(row) ?? null
      const content = value === null ? null : contentOf(value, conversions[index])
      block = withRoom(block, length, content)
      length = put(block, length, content)
    }
    if (length < maxBatchLength) continue
    yield { kind: 'block', block: block.toString('base64', 0, length) }
    length = 0
  }
  if (length > 0) yield { kind: 'block', block: block.toString('base64', 0, length) }
}

type Content = string | Uint8Array | null

function contentOf(value: unknown, conversion: Conversion | undefined): Content {
  const content =
    value instanceof DuckDBBlobValue ? value.bytes : conversion?.text ? conversion.text(value) : (value as string)
  checkLength(content.length)
  return content
}

function withRoom(block: Buffer, length: number, content: Content): Buffer {
  const needed = length + lengthBytes + (content?.length ?? 0) * bytesPerUnit
  if (needed <= block.length) return block
  const larger = Buffer.allocUnsafe(needed * 2)
  block.copy(larger, 0, 0, length)
  return larger
}

function put(block: Buffer, at: number, content: Content): number {
  const start = at + lengthBytes
  if (content === null) return block.writeInt32BE(-1, at)
  let size = content.length
  if (typeof content === 'string') size = block.write(content, start)
  else block.set(content, start)
  block.writeInt32BE(size, at)
  return start + size
}
