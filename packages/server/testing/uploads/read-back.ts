import { readNumeric } from '../../src/data/uploads/readers/engine/numeric-binary.ts'
import type {
  EncodedColumn,
  FieldType,
  PassOptions,
  Reader,
  ScannedLayer,
} from '../../src/data/uploads/readers/reader.ts'
import { geometryColumnType } from '../../src/data/uploads/readers/reader.ts'

/** A row as a database would have it, for tests to compare. */
export type ReadRow = { geometry: ReadGeometry | null; properties: Record<string, unknown> }
export type ReadGeometry = { type: string; coordinates?: unknown; geometries?: ReadGeometry[] }

export type ReadLayer = { scanned: ScannedLayer; rows: ReadRow[] }

/** Scans and encodes a layer, and reads the rows of COPY BINARY back. */
export async function readLayer(reader: Reader, name: string, pass?: Partial<PassOptions>): Promise<ReadLayer> {
  const options = { signal: new AbortController().signal, ...pass }
  const scanned = await reader.scan(name, options)
  const { isMulti } = geometryColumnType(scanned.geometryTypes)
  const columns: EncodedColumn[] = [
    { kind: 'fid' },
    ...scanned.fields.map(({ type }, field) => ({ kind: 'field' as const, field, type })),
    { kind: 'geometry', srid: scanned.srid ?? 0, hasZ: scanned.hasZ, isMulti },
  ]
  const chunks: Buffer[] = []
  for await (const chunk of reader.encode(name, columns, options)) chunks.push(Buffer.from(chunk))
  return { scanned, rows: decodeRows(Buffer.concat(chunks), scanned) }
}

function decodeRows(bytes: Buffer, { fields }: ScannedLayer): ReadRow[] {
  const rows: ReadRow[] = []
  let at = 0
  while (at < bytes.length) {
    const count = bytes.readInt16BE(at)
    if (count !== fields.length + 2) throw new Error(`A row has ${count} fields.`)
    at += 2
    const cells: (Buffer | null)[] = []
    for (let cell = 0; cell < count; cell++) {
      const size = bytes.readInt32BE(at)
      at += 4
      cells.push(size < 0 ? null : bytes.subarray(at, at + size))
      at += Math.max(size, 0)
    }
    if (at > bytes.length) throw new Error('A row ends too late.')
    if (Number(cells[0]?.readBigInt64BE()) !== rows.length + 1) throw new Error('The ordinals have a gap.')
    const properties = Object.fromEntries(
      fields.map(({ name, type }, index) => {
        const cell = cells[index + 1] ?? null
        return [name, cell && decodeCell(cell, type)]
      }),
    )
    const last = cells.at(-1)
    rows.push({ properties, geometry: last ? decodeEwkb(last) : null })
  }
  return rows
}

const epochMs = Date.UTC(2000, 0, 1)

function decodeCell(cell: Buffer, type: FieldType): unknown {
  if (type === 'boolean') return cell[0] === 1
  if (type === 'integer') return cell.readInt32BE()
  if (type === 'bigint') return cell.readBigInt64BE()
  if (type === 'number') return cell.readDoubleBE()
  if (type === 'numeric') return readNumeric(cell)
  if (type === 'date') return new Date(epochMs + cell.readInt32BE() * 86_400_000).toISOString().slice(0, 10)
  if (type === 'timestamp' || type === 'timestamptz') {
    const micros = cell.readBigInt64BE()
    return new Date(epochMs + Number(micros / 1000n)).toISOString()
  }
  if (type === 'time') return new Date(Number(cell.readBigInt64BE() / 1000n)).toISOString().slice(11, 19)
  if (type === 'binary' || type === 'uuid') return cell.toString('hex')
  if (type === 'json') return JSON.parse(cell.toString('utf8', 1))
  return new TextDecoder('utf-8', { fatal: true }).decode(cell)
}

const names = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon', 'GeometryCollection']

/** EWKB, little-endian, as GeoJSON. */
function decodeEwkb(bytes: Buffer): ReadGeometry {
  let at = 0
  let size = 2
  const count = () => {
    at += 4
    return bytes.readUInt32LE(at - 4)
  }
  const number = () => {
    at += 8
    return bytes.readDoubleLE(at - 8)
  }
  const list = <T>(read: () => T): T[] => Array.from({ length: count() }, read)
  const position = () => Array.from({ length: size }, number)
  const ring = () => list(position)
  const point = () => position().filter((value) => !Number.isNaN(value))
  const parts = () => list(geometry).map(({ coordinates }) => coordinates)
  const coordinates: Record<string, () => unknown> = { Point: point, LineString: ring, Polygon: () => list(ring) }
  function geometry(): ReadGeometry {
    if (bytes[at++] !== 1) throw new Error('The geometry is not little-endian.')
    const code = count()
    if (code & 0x20000000) at += 4
    size = code & 0x80000000 ? 3 : 2
    const type = names[(code & 0xff) - 1] ?? 'unknown'
    if (type === 'GeometryCollection') return { type, geometries: list(geometry) }
    return { type, coordinates: (coordinates[type] ?? parts)() }
  }
  const read = geometry()
  if (at !== bytes.length) throw new Error('The geometry has bytes left.')
  return read
}
