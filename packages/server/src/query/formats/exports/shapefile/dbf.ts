// The table of a Shapefile: names of at most ten bytes, texts of at most 254, everything of a fixed width.
import { invalid } from '../../../../kernel/errors.ts'
import type { AttributeType } from '../../../values/attribute.ts'
import type { Cell } from '../../cell.ts'
import type { ExportColumn } from '../export-order.ts'
import { isLongDecimal } from '../export-values.ts'
import { geojsonOf } from '../geometry-cell.ts'

const maxFields = 255
const maxNameBytes = 10
const maxTextBytes = 254
/** Readers take longer integers for doubles. */
const maxIntegerDigits = 18

export type DbfExportField = {
  readonly column: ExportColumn
  readonly name: string
  readonly kind: 'text' | 'integer' | 'number' | 'date' | 'logical'
  /** The widest value so far. */
  width: number
  /** The most digits behind the point. */
  decimals: number
  /** How many texts were cut. */
  cut: number
}

const kinds: { readonly [type in AttributeType]?: DbfExportField['kind'] } = {
  integer: 'integer',
  number: 'number',
  date: 'date',
  boolean: 'logical',
}

export function dbfFields(columns: readonly ExportColumn[]): DbfExportField[] {
  if (columns.length > maxFields) {
    throw invalid('query/attributes', `must select at most ${maxFields} attributes: a Shapefile has no more`)
  }
  const names = shortNames(columns.map(({ name }) => name))
  return columns.map((column, index) => {
    const kind = isLongDecimal(column) ? 'text' : (kinds[column.type] ?? 'text')
    return { column, name: names[index] ?? '', kind, width: 1, decimals: 0, cut: 0 }
  })
}

/** Cut to ten bytes, and numbered where two would be equal but for their case. */
function shortNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    const plain = name.replaceAll(/\p{Cc}/gu, '_') || '_'
    let short = cutTo(plain, maxNameBytes)
    for (let number = 1; taken.has(short.toLowerCase()); number++) {
      short = `${cutTo(plain, maxNameBytes - String(number).length - 1)}_${number}`
    }
    taken.add(short.toLowerCase())
    return short
  })
}

/** The longest beginning of so many bytes, without half a character. */
function cutTo(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  let end = bytes
  const encoded = Buffer.from(text)
  while (((encoded[end] ?? 0) & 0xc0) === 0x80) end--
  return encoded.toString('utf8', 0, end)
}

/** The value as the table has it, and null where it has none; the field learns how wide it must be. */
export function dbfValue(field: DbfExportField, cell: Cell): string | null {
  if (cell === null) return null
  const value = textOf(field, cell)
  if (value === null) return null
  field.width = Math.max(field.width, Buffer.byteLength(value))
  field.decimals = Math.max(field.decimals, /\.(\d+)/.exec(value)?.[1]?.length ?? 0)
  return value
}

function textOf(field: DbfExportField, cell: string): string | null {
  switch (field.kind) {
    case 'integer':
      return cell
    case 'number':
      return Number.isFinite(Number(cell)) ? (cell.length > maxNumberWidth ? String(Number(cell)) : cell) : null
    case 'logical':
      return cell === 'true' ? 'T' : 'F'
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(cell) ? cell.replaceAll('-', '') : null
    default: {
      const text = field.column.type === 'geometry' ? geojsonOf(cell) : cell
      const cut = cutTo(text, maxTextBytes)
      if (cut.length < text.length) field.cut++
      return cut
    }
  }
}

const maxNumberWidth = 24

/** Type, width and decimals, once all values were seen. */
function layoutOf({ kind, width, decimals }: DbfExportField): { type: string; width: number; decimals: number } {
  if (kind === 'date') return { type: 'D', width: 8, decimals: 0 }
  if (kind === 'logical') return { type: 'L', width: 1, decimals: 0 }
  if (kind === 'integer') {
    // Beside integers that readers would round there is only text.
    return width <= maxIntegerDigits
      ? { type: 'N', width: maxIntegerDigits, decimals: 0 }
      : { type: 'C', width, decimals: 0 }
  }
  // One decimal at least tells numbers from integers.
  if (kind === 'number') return { type: 'N', width: maxNumberWidth, decimals: Math.min(Math.max(decimals, 1), 15) }
  return { type: 'C', width, decimals: 0 }
}

/** The whole file: `rows` are the values that `dbfValue` gave. */
export async function* dbfBytes(
  fields: readonly DbfExportField[],
  count: number,
  rows: AsyncIterable<readonly (string | null)[]>,
): AsyncGenerator<Uint8Array> {
  const layouts = fields.map(layoutOf)
  const recordBytes = 1 + layouts.reduce((sum, { width }) => sum + width, 0)
  yield headerOf(fields, layouts, count, recordBytes)
  // Records joined: a stream costs more for each piece than a record takes to write.
  const perPiece = Math.max(1, Math.floor(pieceBytes / recordBytes))
  let records: Buffer[] = []
  for await (const row of rows) {
    records.push(recordOf(layouts, recordBytes, row))
    if (records.length < perPiece) continue
    yield Buffer.concat(records)
    records = []
  }
  yield Buffer.concat(records)
  yield Buffer.of(0x1a)
}

const pieceBytes = 64 * 1024

type Layout = ReturnType<typeof layoutOf>

function recordOf(layouts: readonly Layout[], bytes: number, row: readonly (string | null)[]): Buffer {
  const record = Buffer.alloc(bytes, ' ')
  let at = 1
  for (const [index, { type, width }] of layouts.entries()) {
    const value = row[index] ?? (type === 'L' ? '?' : '')
    record.write(type === 'N' ? value.padStart(width) : value, at)
    at += width
  }
  return record
}

function headerOf(
  fields: readonly DbfExportField[],
  layouts: readonly Layout[],
  count: number,
  recordBytes: number,
): Buffer {
  const header = Buffer.alloc(32 + fields.length * 32 + 1)
  header.writeUInt8(3, 0)
  const now = new Date()
  header.set([now.getUTCFullYear() - 1900, now.getUTCMonth() + 1, now.getUTCDate()], 1)
  header.writeUInt32LE(count, 4)
  header.writeUInt16LE(header.length, 8)
  header.writeUInt16LE(recordBytes, 10)
  fields.forEach(({ name }, index) => {
    const at = 32 + index * 32
    const { type, width, decimals } = layouts[index] as Layout
    header.write(name, at)
    header.write(type, at + 11)
    header.writeUInt8(width, at + 16)
    header.writeUInt8(decimals, at + 17)
  })
  header.writeUInt8(0x0d, header.length - 1)
  return header
}
