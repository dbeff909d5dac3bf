/** The first rows of a layer as values of JSON, for a preview: decoded from the rows that an upload would copy, so that they are what it would store. */

import { readNumeric } from '../readers/engine/numeric-binary.ts'
import type { EncodedColumn, FieldType, PassOptions, Reader } from '../readers/reader.ts'
import type { RowsRequest, SampleRow } from './reader-messages.ts'

/** Long values are cut: a preview is small, whatever the file holds. */
const longest = { text: 500, geometryBytes: 64 * 1024 }

/** Reads no further than the chunk that holds the last of the rows. */
export async function sampleRows(
  reader: Reader,
  { layer, columns, count }: Pick<RowsRequest, 'layer' | 'columns'> & { readonly count: number },
  pass: PassOptions,
): Promise<SampleRow[]> {
  const rows: SampleRow[] = []
  for await (const chunk of reader.encode(layer, columns, pass)) {
    for (let at = 0; at < chunk.length && rows.length < count; ) at = decodeRow(chunk, at, columns, rows)
    if (rows.length >= count) break
  }
  return rows
}

/** Answers where the next row begins. */
function decodeRow(chunk: Buffer, start: number, columns: readonly EncodedColumn[], rows: SampleRow[]): number {
  const row: SampleRow = { values: [], geometry: null, shortened: [] }
  let at = start + 2
  for (const [index, column] of columns.entries()) {
    const size = chunk.readInt32BE(at)
    const bytes = size < 0 ? null : chunk.subarray(at + 4, at + 4 + size)
    at += 4 + Math.max(0, size)
    if (column.kind === 'geometry') takeGeometry(row, bytes, index)
    else row.values.push(bytes && takeValue(row, column.kind === 'fid' ? 'bigint' : column.type, bytes, index))
  }
  rows.push(row)
  return at
}

function takeGeometry(row: SampleRow, bytes: Buffer | null, index: number): void {
  if (bytes && bytes.length > longest.geometryBytes) row.shortened.push(index)
  else if (bytes) row.geometry = bytes.toString('hex')
}

function takeValue(row: SampleRow, type: FieldType, bytes: Buffer, index: number): unknown {
  const value = decoders[type](bytes)
  const isLong = typeof value === 'string' ? value.length > longest.text : bytes.length > longest.text * 4
  if (!isLong) return value
  row.shortened.push(index)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `${text.slice(0, longest.text).toWellFormed()}…`
}

const epochMs = Date.UTC(2000, 0, 1)
const dayMs = 86_400_000

const momentOf = (micros: bigint): string => {
  const millis = Number(micros / 1000n)
  const fraction = Number(micros % 1000n)
  const iso = new Date(epochMs + millis).toISOString().replace('Z', '')
  return fraction > 0 ? `${iso}${String(fraction).padStart(3, '0')}` : iso.replace(/\.000$/, '')
}

const decoders: Readonly<Record<FieldType, (bytes: Buffer) => unknown>> = {
  boolean: (bytes) => bytes[0] === 1,
  integer: (bytes) => bytes.readInt32BE(),
  // As queries answer it: a number while it is exact.
  bigint: (bytes) => {
    const value = bytes.readBigInt64BE()
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  },
  number: (bytes) => {
    const value = bytes.readDoubleBE()
    return Number.isFinite(value) ? value : String(value)
  },
  numeric: readNumeric,
  date: (bytes) => new Date(epochMs + bytes.readInt32BE() * dayMs).toISOString().slice(0, 10),
  time: (bytes) => momentOf(bytes.readBigInt64BE()).slice(11),
  timestamp: (bytes) => momentOf(bytes.readBigInt64BE()),
  timestamptz: (bytes) => `${momentOf(bytes.readBigInt64BE())}Z`,
  json: (bytes) => JSON.parse(bytes.toString('utf8', 1)) as unknown,
  text: (bytes) => bytes.toString('utf8', 0, longest.text * 4 + 4),
  binary: (bytes) => bytes.subarray(0, longest.text).toString('base64'),
  uuid: (bytes) => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
}
