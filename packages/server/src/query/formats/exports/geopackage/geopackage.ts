// GeoPackage 1.3 by SQLite: one table of features, or of attributes where the rows have no geometry.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { ApiError } from '../../../../kernel/errors.ts'
import { createGeometryWriter, widenExtent } from '../../../geometry/encoding/ewkb-writer.ts'
import { writeIsoWkb } from '../../../geometry/flat/flat-geometry-write.ts'
import type { AttributeType } from '../../../values/attribute.ts'
import type { Cell } from '../../cell.ts'
import type { ExportColumn, ExportOrder, ExportRows } from '../export-order.ts'
import { bytesOf, doubleOf, int64Of, isInfinite, isLongDecimal } from '../export-values.ts'
import { fileTooLarge } from '../file-too-large.ts'
import { geojsonOf, geometryReader } from '../geometry-cell.ts'
import {
  type GeometrySummary,
  type GeopackageLayer,
  layerOf,
  type OrdinateSummary,
  quoted,
  typeName,
} from './geopackage-layer.ts'
import { addNote } from './geopackage-note.ts'
import { addTriggers, createIndex, registerLayer, setUpGeoPackage } from './geopackage-tables.ts'

const pageBytes = 4096

/** Makes the file at `order.path`, and yields nothing. */
// biome-ignore lint/correctness/useYield: the file is made by SQLite itself
export async function* writeGeoPackage(rows: ExportRows, order: ExportOrder): AsyncGenerator<Uint8Array> {
  const db = new DatabaseSync(order.path ?? '')
  try {
    db.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF`)
    db.exec(`PRAGMA max_page_count = ${Math.max(16, Math.floor(order.maxBytes / pageBytes))}`)
    const layer = layerOf(order)
    db.exec('BEGIN')
    setUpGeoPackage(db, order)
    db.exec(tableSql(layer))
    const state = await insertRows(db, rows, layer)
    registerLayer(db, order, layer, state)
    addNote(db, order, layer)
    if (layer.geometry) addTriggers(db, layer.table, layer.key, layer.geometry.name)
    db.exec('COMMIT')
  } catch (error) {
    throw isFull(error) ? fileTooLarge(order.maxBytes) : isTwice(error) ? keyTwice() : error
  } finally {
    db.close()
  }
}

const isFull = (error: unknown): boolean => error instanceof Error && /database or disk is full/.test(error.message)

const isTwice = (error: unknown): boolean => error instanceof Error && /UNIQUE constraint failed/.test(error.message)

/** Tables that inherit from others may have rows with the same key. */
const keyTwice = (): ApiError =>
  new ApiError(
    'conflict',
    'Two rows have the same key, which a GeoPackage cannot hold. Select attributes without the key.',
  )

const sqlTypes: Readonly<Record<AttributeType, string>> = {
  boolean: 'BOOLEAN',
  integer: 'INTEGER',
  number: 'REAL',
  string: 'TEXT',
  time: 'TEXT',
  uuid: 'TEXT',
  json: 'TEXT',
  array: 'TEXT',
  geometry: 'TEXT',
  date: 'DATE',
  datetime: 'DATETIME',
  binary: 'BLOB',
}

const keyType = 'INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL'

function tableSql({ table, key, hasOwnKey, geometry, fields }: GeopackageLayer): string {
  const lines = [
    ...(hasOwnKey ? [] : [`${quoted(key)} ${keyType}`]),
    ...(geometry ? [`${quoted(geometry.name)} ${typeName(geometry)}`] : []),
    ...fields.map(({ column, name }) => `${quoted(name)} ${hasOwnKey && name === key ? keyType : sqlType(column)}`),
  ]
  return `CREATE TABLE ${quoted(table)} (${lines.join(', ')})`
}

/** An INTEGER has 64 bits, a MEDIUMINT 32. */
function sqlType(column: ExportColumn): string {
  if (isLongDecimal(column)) return 'TEXT'
  return column.stored === 'integer' ? 'MEDIUMINT' : sqlTypes[column.type]
}

async function insertRows(db: DatabaseSync, rows: ExportRows, layer: GeopackageLayer): Promise<GeometrySummary> {
  const { fields, geometry, srid } = layer
  const names = [...(geometry ? [geometry.name] : []), ...fields.map(({ name }) => name)]
  // A table of nothing but its key.
  const values = names.length === 0 ? 'DEFAULT VALUES' : `(${names.map(quoted)}) VALUES (${names.map(() => '?')})`
  const insert: StatementSync = db.prepare(`INSERT INTO ${quoted(layer.table)} ${values}`)
  const addBox = geometry && createIndex(db, layer.table, geometry.name)
  const seen: GeometrySummary = {
    heights: { isGiven: false, isMissing: false },
    measures: { isGiven: false, isMissing: false },
  }
  const { encode, box } = geometryEncoder(srid, seen)
  for await (const batch of rows) {
    for (const cells of batch) {
      const values = fields.map(({ column, index }) => sqlValue(column, cells[index] ?? null))
      if (!geometry) insert.run(...values)
      else {
        const shape = encode(cells[geometry.index])
        const { lastInsertRowid } = insert.run(shape, ...values)
        if (shape && isBox(box)) addBox?.(lastInsertRowid, box)
      }
    }
  }
  return seen
}

function sqlValue(column: ExportColumn, cell: Cell): SQLInputValue {
  if (cell === null) return null
  switch (column.type) {
    case 'boolean':
      return cell === 'true' ? 1 : 0
    case 'integer':
      return int64Of(cell)
    case 'number':
      return isLongDecimal(column) ? cell : doubleOf(cell)
    case 'binary':
      return bytesOf(cell)
    case 'geometry':
      return geojsonOf(cell)
    case 'date':
      return isInfinite(cell) ? null : cell
    case 'datetime':
      return isInfinite(cell) ? null : datetimeOf(cell)
    default:
      return cell
  }
}

/** With milliseconds and Z, as the standard has it: GDAL warns of finer ones. */
function datetimeOf(cell: string): string {
  const [, whole = cell, fraction = ''] = /^(.*?)(?:\.(\d+))?Z?$/.exec(cell) ?? []
  return `${whole}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

function note(seen: OrdinateSummary, isGiven: boolean): void {
  if (isGiven) seen.isGiven = true
  else seen.isMissing = true
}

const headerFlags = { littleEndian: 1, box: 2, empty: 16 } as const
const boxBytes = 32

/** A function that writes the header of GeoPackage, with the box by which readers filter, and WKB behind it. */
function geometryEncoder(srid: number, seen: GeometrySummary) {
  const read = geometryReader()
  const writer = createGeometryWriter()
  const encode = (cell: Cell | undefined): Uint8Array | null => {
    const flat = read(cell)
    if (!flat) return null
    writeIsoWkb(writer, flat, true)
    note(seen.heights, writer.hasZ)
    note(seen.measures, writer.hasM)
    seen.extent = widenExtent(seen.extent, writer.box)
    const [west = 0, south = 0, east = 0, north = 0] = writer.box
    const isEmpty = !isBox(writer.box)
    const header = Buffer.alloc(8 + (isEmpty ? 0 : boxBytes))
    header.write('GP', 'latin1')
    header.writeUInt8(headerFlags.littleEndian | (isEmpty ? headerFlags.empty : headerFlags.box), 3)
    header.writeInt32LE(srid, 4)
    if (!isEmpty) for (const [at, edge] of [west, east, south, north].entries()) header.writeDoubleLE(edge, 8 + at * 8)
    return Buffer.concat([header, writer.bytes.subarray(0, writer.length)])
  }
  return { encode, box: writer.box }
}

/** An empty geometry has none. */
const isBox = ([west = Number.NaN, , east = Number.NaN]: Float64Array): boolean => west <= east
