import type { SQLOutputValue } from 'node:sqlite'
import { beginRow, createRowWriter, type RowWriter, takeChunk, writeInt8, writeNull } from './copy-binary.ts'
import {
  createFlatGeometry,
  createGeometrySummary,
  type FlatGeometry,
  type GeometrySummary,
  geometryFindings,
  summarise,
} from './flat-geometry.ts'
import { mended } from './flat-geometry-mend.ts'
import { writeGeometry } from './flat-geometry-write.ts'
import { readPackedGeometry } from './geopackage-geometry.ts'
import { guarded, type Row, rowsOf } from './geopackage-rows.ts'
import { describeTable, type PackageColumn, type PackageTable, packageLayers } from './geopackage-tables.ts'
import { type CellHint, columnType, hintOf, kindsOfCell, writeCell } from './geopackage-values.ts'
import {
  type EncodedColumn,
  type FieldType,
  type Loaded,
  type PassOptions,
  type Reader,
  ReadFault,
  type ScannedLayer,
} from './reader.ts'
import { openSqliteFile, type SqliteFile } from './sqlite-file.ts'

const guessedRows = 2_000

/** A GeoPackage: its feature tables, then its tables without geometry. It is never written to, nor are views run. */
export async function openGeoPackage(file: string, keyName?: string): Promise<Reader> {
  const opened = guarded(() => openSqliteFile(file))
  try {
    const layers = guarded(() => packageLayers(opened))
    if (layers.length === 0) throw new ReadFault('no_features', 'The GeoPackage holds no table with data.')
    return readerOf(opened, layers, keyName)
  } catch (error) {
    opened.close()
    throw error
  }
}

function readerOf(opened: SqliteFile, layers: readonly string[], keyName: string | undefined): Reader {
  const { database } = opened
  const tables = new Map<string, PackageTable>()
  const tableOf = (name: string) => {
    if (!layers.includes(name)) throw new ReadFault('layer_not_found', `There is no layer "${name}".`)
    const table = tables.get(name) ?? guarded(() => describeTable(opened, name, keyName))
    tables.set(name, table)
    return table
  }
  const guesses = new Map<string, TableFindings>()
  return {
    format: 'gpkg',
    layers: async () => [...layers],
    async scan(name, options) {
      const table = tableOf(name)
      return layerOf(table, await lookAt(database, table, options))
    },
    encode: (name, columns, options) => encodeTable(database, tableOf(name), columns, options),
    async guess(name, options) {
      const table = tableOf(name)
      const found = await lookAt(database, table, options, guessedRows)
      guesses.set(name, found)
      return found.featureCount === 0 ? undefined : layerOf(table, found)
    },
    load(name, columns, options) {
      const guessed = guesses.get(name)
      if (!guessed) throw new Error('The layer was not guessed.')
      return loadTable(database, tableOf(name), columns, guessed, options)
    },
    close: async () => opened.close(),
  }
}

type FieldFindings = { readonly column: PackageColumn; readonly hint: CellHint; kinds: number; isNull: boolean }
type TableFindings = {
  readonly fields: readonly FieldFindings[]
  readonly summary: GeometrySummary
  readonly geometry: FlatGeometry
  featureCount: number
  /** The numbers of the rows just count them. */
  isCounting: boolean
  /** Something was seen that may change the table; whoever cares takes it back. */
  isNews: boolean
}

/** What was learned of the table before need not be learned again. */
function createTableFindings({ columns }: PackageTable, before?: TableFindings): TableFindings {
  const summary = createGeometrySummary()
  for (const type of before?.summary.types ?? []) summary.types.add(type)
  summary.hasZ = before?.summary.hasZ ?? false
  const fields = columns.map((column, index) => {
    const kinds = before?.fields[index]?.kinds ?? 0
    return { column, hint: hintOf(column.declared), kinds, isNull: false }
  })
  return {
    fields,
    summary,
    geometry: createFlatGeometry(),
    featureCount: 0,
    isCounting: before?.isCounting ?? true,
    isNews: false,
  }
}

/** Looks at the rows, all or so many. */
async function lookAt(
  database: SqliteFile['database'],
  table: PackageTable,
  options: PassOptions,
  enough = Number.POSITIVE_INFINITY,
): Promise<TableFindings> {
  const found = createTableFindings(table)
  for await (const rows of rowsOf(database, table, options)) {
    for (const row of rows) observe(found, row)
    if (found.featureCount >= enough) break
  }
  return found
}

/** Answers the geometry of the row, where there is one that can be loaded. */
function observe(found: TableFindings, row: Row): FlatGeometry | undefined {
  const { summary, geometry, fields } = found
  found.featureCount++
  noteNumber(found, row[0])
  const isThere = readPackedGeometry(row[1], geometry, found.featureCount)
  const sound = isThere ? mended(geometry, summary) : undefined
  if (sound) {
    const before = summary.types.size + (summary.hasZ ? 100 : 0)
    summarise(summary, sound)
    if (before !== summary.types.size + (summary.hasZ ? 100 : 0)) found.isNews = true
  }
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]
    if (field && noteValue(field, row[index + 2] ?? null)) found.isNews = true
  }
  return sound
}

function noteNumber(found: TableFindings, number: SQLOutputValue | undefined): void {
  if (!found.isCounting || number === BigInt(found.featureCount)) return
  found.isCounting = false
  found.isNews = true
}

/** Answers whether it is the first of its kind. */
function noteValue(field: FieldFindings, value: SQLOutputValue): boolean {
  if (value === null) {
    field.isNull = true
    return false
  }
  const kinds = field.kinds | kindsOfCell(value, field.hint)
  if (kinds === field.kinds) return false
  field.kinds = kinds
  return true
}

const typeOfField = ({ kinds, column }: FieldFindings): FieldType => columnType(kinds, column.declared)

function layerOf({ name, key, srid, wkt }: PackageTable, found: TableFindings): ScannedLayer {
  const { fields, summary, featureCount, isCounting } = found
  const ids = key === undefined || isCounting ? [] : [{ name: key, type: 'bigint' as const, nullable: false }]
  const scanned = fields.map((field) => {
    const type = typeOfField(field)
    const nullable = field.isNull || !['text', 'binary', 'integer', 'bigint'].includes(type)
    return { name: field.column.name, type, nullable }
  })
  return {
    name,
    fields: [...scanned, ...ids],
    featureCount,
    ...geometryFindings(summary, featureCount),
    ...(srid === undefined ? {} : { srid }),
    ...(wkt === undefined ? {} : { wkt }),
  }
}

/** Whether rows for what was known before are right for what is known now. */
function isStill(before: TableFindings, now: TableFindings): boolean {
  if (!now.isNews) return true
  now.isNews = false
  if (before.isCounting !== now.isCounting) return false
  if (before.summary.types.size !== now.summary.types.size || before.summary.hasZ !== now.summary.hasZ) return false
  return now.fields.every((field, index) => {
    const known = before.fields[index]
    return known !== undefined && typeOfField(known) === typeOfField(field)
  })
}

async function* loadTable(
  database: SqliteFile['database'],
  table: PackageTable,
  columns: readonly EncodedColumn[],
  guessed: TableFindings,
  options: PassOptions,
): AsyncGenerator<Buffer, Loaded> {
  const writer = createRowWriter()
  const found = createTableFindings(table, guessed)
  let isAsGuessed = true
  for await (const rows of rowsOf(database, table, options)) {
    for (const row of rows) {
      const geometry = observe(found, row)
      isAsGuessed &&= isStill(guessed, found)
      if (!isAsGuessed) continue
      writeRow(writer, columns, row, found.featureCount, geometry)
      const chunk = takeChunk(writer)
      if (chunk) yield chunk
    }
  }
  const rest = takeChunk(writer, true)
  if (rest) yield rest
  return { layer: layerOf(table, found), isAsGuessed }
}

async function* encodeTable(
  database: SqliteFile['database'],
  table: PackageTable,
  columns: readonly EncodedColumn[],
  options: PassOptions,
): AsyncIterable<Buffer> {
  const writer = createRowWriter()
  const geometry = createFlatGeometry()
  const counts = { dropped: 0, closed: 0 }
  let ordinal = 0
  for await (const rows of rowsOf(database, table, options)) {
    for (const row of rows) {
      ordinal++
      const sound = readPackedGeometry(row[1], geometry, ordinal) ? mended(geometry, counts) : undefined
      writeRow(writer, columns, row, ordinal, sound)
      const chunk = takeChunk(writer)
      if (chunk) yield chunk
    }
  }
  const rest = takeChunk(writer, true)
  if (rest) yield rest
}

function writeRow(
  writer: RowWriter,
  columns: readonly EncodedColumn[],
  row: Row,
  ordinal: number,
  geometry: FlatGeometry | undefined,
): void {
  beginRow(writer, columns.length)
  for (const column of columns) {
    if (column.kind === 'fid') writeInt8(writer, ordinal)
    else if (column.kind === 'field') writeCell(writer, column.type, cellOf(row, column.field))
    else if (geometry) writeGeometry(writer, geometry, column)
    else writeNull(writer)
  }
}

/** The value of a field; behind the last one is the number of the row. */
const cellOf = (row: Row, field: number): SQLOutputValue => row[field + 2 < row.length ? field + 2 : 0] ?? null
