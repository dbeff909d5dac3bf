import {
  maxNoteLength,
  type NotedColumn,
  noteName,
  parseNote,
  type TableNote,
} from '../../../../query/formats/table-note.ts'
import { featureIdName } from '../engine/feature-ids.ts'
import { maxFields, ReadFault } from '../reader.ts'
import type { SqliteFile } from '../sqlite/sqlite-file.ts'

/** Columns go by their place, because their names may be no text. */
export type PackageColumn = {
  readonly name: string
  readonly alias: string
  readonly declared: string
  readonly noted?: NotedColumn | undefined
}

export type PackageTable = {
  readonly name: string
  /** What the number of a row is called: a name that no column has. */
  readonly number: string
  /** Of all columns, in their order. */
  readonly aliases: readonly string[]
  /** The alias of the column. */
  readonly geometry?: string
  /** All geometries are said to be points. */
  readonly isOfPoints: boolean
  readonly columns: readonly PackageColumn[]
  /** What the column is called that has the row's number, should it say more than the order of the rows. */
  readonly key?: string
  readonly srid?: number
  readonly wkt?: string
  readonly note?: TableNote | undefined
}

/** GDAL and its like make these keys; mostly they just count the features. */
const madeKeys = new Set(['fid', 'ogc_fid', 'ogr_fid', 'gpkg_fid', 'rowid', '_rowid_'])

/** Registers of a GeoPackage are not read further. */
const maxRegistered = 10_000

/** The tables with data. Views and virtual tables are left out: to read them is to run what the file says. */
export function packageLayers(file: SqliteFile): string[] {
  if (!hasRegister(file, 'gpkg_contents'))
    throw new ReadFault('invalid_file', 'The GeoPackage has no table gpkg_contents.')
  const contents = file.database
    .prepare(
      `SELECT lower(substr(table_name, 1, 1000)) AS name, data_type = 'features' AS "hasGeometry"
         FROM gpkg_contents NOT INDEXED WHERE data_type IN ('features', 'attributes', 'aspatial') LIMIT ?`,
    )
    .all(maxRegistered + 1)
  if (contents.length > maxRegistered) {
    throw new ReadFault('invalid_file', `The GeoPackage lists more than ${maxRegistered} tables.`)
  }
  const ordered = [1, 0].flatMap((has) => contents.filter(({ hasGeometry }) => hasGeometry === has))
  const plain = ordered.flatMap(({ name }) => {
    const entry = file.entries.get(String(name))
    return entry?.isPlainTable ? [entry.name] : []
  })
  return [...new Set(plain)]
}

export function describeTable(file: SqliteFile, name: string, keyName?: string): PackageTable {
  const { geometry: geometryName, ...reference } = geometryOf(file, name)
  const all = file.database
    .prepare('SELECT name, type, pk, hidden FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid')
    .all(name)
    .map((row, index) => ({
      ...row,
      name: String(row.name),
      declared: String(row.type).toUpperCase(),
      alias: `c${index}`,
    }))
  const geometry = all.find((column) => column.name.toLowerCase() === geometryName?.toLowerCase())
  const note = noteOf(file, name)
  const noted = new Map(note?.columns.map((column) => [column.name, column]))
  const isMadeKey = (column: { name: string }): boolean => {
    const isKey = 'pk' in column && column.pk === 1
    return isKey && (note ? !noted.has(column.name) : madeKeys.has(column.name.toLowerCase()))
  }
  const columns = all
    // Generated columns are left out: they run what the file says.
    .filter((column) => 'hidden' in column && column.hidden === 0 && column !== geometry)
    .filter((column) => !isMadeKey(column))
    .map(({ name: label, declared, alias }) => ({ name: label, declared, alias, noted: noted.get(label) }))
  if (columns.length > maxFields)
    throw new ReadFault('too_many_columns', `The table has more than ${maxFields} columns, the limit.`)
  const aliases = all.map(({ alias }) => alias)
  const number = numberOf(all.map((column) => column.name.toLowerCase()))
  const key =
    !note && all.some(isMadeKey) ? { key: keyName ?? featureIdName(columns.map((column) => column.name)) } : {}
  const shape = geometry ? { geometry: geometry.alias } : {}
  return { name, number, columns, aliases, ...key, ...shape, ...reference, note }
}

/** What one of our own exports says of its columns. */
function noteOf(file: SqliteFile, table: string): TableNote | undefined {
  if (!['gpkg_metadata', 'gpkg_metadata_reference'].every((one) => file.entries.get(one)?.isPlainTable))
    return undefined
  const row = file.database
    .prepare(
      `SELECT substr(metadata, 1, ?) AS text FROM gpkg_metadata NOT INDEXED WHERE md_standard_uri = ? AND id IN
         (SELECT md_file_id FROM gpkg_metadata_reference NOT INDEXED WHERE lower(substr(table_name, 1, 1000)) = lower(?) LIMIT ?)
       LIMIT 1`,
    )
    .get(maxNoteLength + 1, noteName, table, maxRegistered)
  return parseNote(row && String(row.text))
}

/** A column that takes the name of the row number would be sorted anew for each batch of rows. */
function numberOf(names: readonly string[]): string {
  const free = ['rowid', '_rowid_', 'oid'].find((name) => !names.includes(name))
  if (free === undefined)
    throw new ReadFault(
      'invalid_file',
      'A table has columns called rowid, _rowid_ and oid, so its rows cannot be numbered. Rename one of them.',
    )
  return free
}

type Geometry = Pick<PackageTable, 'geometry' | 'isOfPoints' | 'srid' | 'wkt'>

function geometryOf(file: SqliteFile, table: string): Geometry {
  const none = { isOfPoints: false }
  if (!hasRegister(file, 'gpkg_geometry_columns')) return none
  const row = file.database
    .prepare(
      `SELECT substr(column_name, 1, 1000) AS name, srs_id AS srs, upper(substr(geometry_type_name, 1, 10)) = 'POINT' AS "isOfPoints"
        FROM gpkg_geometry_columns WHERE lower(substr(table_name, 1, 1000)) = lower(?) LIMIT 1`,
    )
    .get(table)
  if (!row) return none
  return { geometry: String(row.name), isOfPoints: row.isOfPoints === 1, ...referenceOf(file, Number(row.srs)) }
}

/** By the code of EPSG, else by its definition; -1 and 0 stand for none. */
function referenceOf(file: SqliteFile, srs: number): { srid?: number; wkt?: string } {
  if (!Number.isInteger(srs) || srs <= 0 || !hasRegister(file, 'gpkg_spatial_ref_sys')) return {}
  const row = file.database
    .prepare(
      `SELECT upper(substr(organization, 1, 100)) AS organization, organization_coordsys_id AS code,
              substr(definition, 1, 100000) AS definition
         FROM gpkg_spatial_ref_sys WHERE srs_id = ? LIMIT 1`,
    )
    .get(srs)
  if (!row) return {}
  const code = Number(row.code)
  if (row.organization === 'EPSG' && Number.isInteger(code) && code > 0 && code < 1_000_000) return { srid: code }
  const wkt = String(row.definition ?? '').trim()
  return /^[A-Z]+\[/i.test(wkt) ? { wkt } : {}
}

/** Whether the register is there; one that is no plain table could run anything. */
function hasRegister({ entries }: SqliteFile, name: string): boolean {
  const entry = entries.get(name)
  if (entry && !entry.isPlainTable)
    throw new ReadFault('invalid_file', `${name} must be a plain table in the GeoPackage.`)
  return entry !== undefined
}
