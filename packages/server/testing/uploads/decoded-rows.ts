import { readNumeric } from '../../src/data/uploads/readers/engine/numeric-binary.ts'
import type { EncodedColumn, FieldType, Reader, ScannedLayer } from '../../src/data/uploads/readers/reader.ts'
import { geometryColumnType } from '../../src/data/uploads/readers/reader.ts'
import { parseWkb } from '../../src/query/geometry/encoding/wkb-geojson.ts'

/** A row read back from COPY BINARY, for tests: its values by name, and its geometry as GeoJSON has it. */
export type DecodedRow = { fid: number; values: Record<string, unknown>; geometry: unknown; srid: number | undefined }

const { signal } = new AbortController()

/** Scans and encodes a layer of a reader, and decodes what it wrote. */
export async function rowsOfReader(
  reader: Reader,
  layer?: string,
): Promise<{ layer: ScannedLayer; rows: DecodedRow[] }> {
  const name = layer ?? (await reader.layers())[0] ?? ''
  const scanned = await reader.scan(name, { signal })
  const columns: EncodedColumn[] = [
    { kind: 'fid' },
    ...scanned.fields.map(({ type }, field): EncodedColumn => ({ kind: 'field', field, type })),
    { kind: 'geometry', srid: 4326, hasZ: scanned.hasZ, isMulti: geometryColumnType(scanned.geometryTypes).isMulti },
  ]
  const rows: DecodedRow[] = []
  for await (const chunk of reader.encode(name, columns, { signal })) {
    for (let at = 0; at < chunk.length; ) {
      const { fields, end } = readTuple(chunk, at)
      rows.push(rowOf(fields, scanned))
      at = end
    }
  }
  return { layer: scanned, rows }
}

function readTuple(chunk: Buffer, start: number): { fields: (Buffer | null)[]; end: number } {
  const fields: (Buffer | null)[] = []
  let at = start + 2
  for (let index = chunk.readInt16BE(start); index > 0; index--) {
    const size = chunk.readInt32BE(at)
    fields.push(size < 0 ? null : chunk.subarray(at + 4, at + 4 + size))
    at += 4 + Math.max(0, size)
  }
  return { fields, end: at }
}

function rowOf(fields: readonly (Buffer | null)[], { fields: scanned }: ScannedLayer): DecodedRow {
  const wkb = fields.at(-1) ?? null
  const parsed = wkb ? parseWkb(wkb) : undefined
  return {
    fid: Number(fields[0]?.readBigInt64BE()),
    values: Object.fromEntries(
      scanned.map(({ name, type }, index) => [name, valueOfField(type, fields[index + 1] ?? null)]),
    ),
    geometry: parsed?.geometry ?? null,
    srid: parsed?.srid,
  }
}

const epochMs = Date.UTC(2000, 0, 1)

const decoders: Record<FieldType, (bytes: Buffer) => unknown> = {
  boolean: (bytes) => bytes[0] === 1,
  integer: (bytes) => bytes.readInt32BE(),
  bigint: (bytes) => bytes.readBigInt64BE(),
  number: (bytes) => bytes.readDoubleBE(),
  numeric: readNumeric,
  date: (bytes) => new Date(epochMs + bytes.readInt32BE() * 86_400_000).toISOString().slice(0, 10),
  timestamp: (bytes) => momentOf(bytes).replace('Z', ''),
  timestamptz: momentOf,
  time: (bytes) => momentOf(bytes).slice(11, -1),
  json: (bytes) => JSON.parse(bytes.toString('utf8', 1)),
  text: (bytes) => bytes.toString(),
  binary: (bytes) => bytes.toString('hex'),
  uuid: (bytes) => bytes.toString('hex'),
}

function momentOf(bytes: Buffer): string {
  return new Date(epochMs + Number(bytes.readBigInt64BE()) / 1000).toISOString()
}

function valueOfField(type: FieldType, bytes: Buffer | null): unknown {
  return bytes === null ? null : decoders[type](bytes)
}
