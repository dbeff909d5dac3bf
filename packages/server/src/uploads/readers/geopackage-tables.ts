import type { DatabaseSync } from 'node:sqlite'
import { maxFields, ReadFault } from './reader.ts'

/** Columns go by their place, because their names may be no text. Bulky ones can hold long values. */
export type PackageColumn = {
  readonly name: string
  readonly alias: string
  readonly declared: string
  readonly isBulky: boolean
}

export type PackageTable = {
  readonly name: string
  /** Of all columns, in their order. */
  readonly aliases: readonly string[]
  /** The alias of the column. */
  readonly geometry?: string
  readonly columns: readonly PackageColumn[]
  readonly srid?: number
  readonly wkt?: string
}

/** GDAL and its like make these keys; they say nothing about the feature. */
const madeKeys = new Set(['fid', 'ogc_fid', 'ogr_fid', 'gpkg_fid', 'rowid', '_rowid_'])

/** The tables with data. Views and virtual tables are left out: to read them is to run what the file says. */
export function packageTables(database: DatabaseSync): PackageTable[] {
  const contents = database
    .prepare(
      `SELECT s.name AS name, s.sql AS sql, c.data_type AS kind
         FROM gpkg_contents c JOIN sqlite_schema s ON lower(s.name) = lower(c.table_name) AND s.type = 'table'
        WHERE c.data_type IN ('features', 'attributes', 'aspatial')
        ORDER BY c.data_type = 'features' DESC, c.rowid`,
    )
    .all()
  const plain = contents.filter(({ sql }) => !/^\s*create\s+virtual/i.test(String(sql)))
  const names = [...new Set(plain.map(({ name }) => String(name)))]
  return names.map((name) => describe(database, name))
}

function describe(database: DatabaseSync, name: string): PackageTable {
  const { geometry: geometryName, ...reference } = geometryOf(database, name)
  const all = database
    .prepare('SELECT name, type, pk, hidden FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid')
    .all(name)
    .map((row, index) => ({
      ...row,
      name: String(row.name),
      declared: String(row.type).toUpperCase(),
      alias: `c${index}`,
    }))
  const geometry = all.find((column) => column.name.toLowerCase() === geometryName?.toLowerCase())
  const columns = all
    // Generated columns are left out: they run what the file says.
    .filter((column) => 'hidden' in column && column.hidden === 0 && column !== geometry)
    .filter((column) => !('pk' in column && column.pk && madeKeys.has(column.name.toLowerCase())))
    .map(({ name: label, declared, alias }) => ({ name: label, declared, alias, isBulky: isBulky(declared) }))
  if (columns.length > maxFields) throw new ReadFault('too_many_columns', `There are more than ${maxFields} columns.`)
  const aliases = all.map(({ alias }) => alias)
  return { name, columns, aliases, ...(geometry ? { geometry: geometry.alias } : {}), ...reference }
}

function isBulky(declared: string): boolean {
  return !/INT|BOOL|REAL|FLOAT|DOUBLE/.test(declared)
}

function geometryOf(database: DatabaseSync, table: string): { geometry?: string; srid?: number; wkt?: string } {
  if (!hasTable(database, 'gpkg_geometry_columns')) return {}
  const row = database
    .prepare('SELECT column_name AS name, srs_id AS srs FROM gpkg_geometry_columns WHERE lower(table_name) = lower(?)')
    .get(table)
  if (!row) return {}
  return { geometry: String(row.name), ...referenceOf(database, Number(row.srs)) }
}

/** By the code of EPSG, else by its definition; -1 and 0 stand for none. */
function referenceOf(database: DatabaseSync, srs: number): { srid?: number; wkt?: string } {
  if (!Number.isInteger(srs) || srs <= 0 || !hasTable(database, 'gpkg_spatial_ref_sys')) return {}
  const row = database
    .prepare(
      `SELECT upper(organization) AS organization, organization_coordsys_id AS code, substr(definition, 1, 100000) AS definition
         FROM gpkg_spatial_ref_sys WHERE srs_id = ?`,
    )
    .get(srs)
  if (!row) return {}
  const code = Number(row.code)
  if (row.organization === 'EPSG' && Number.isInteger(code) && code > 0 && code < 1_000_000) return { srid: code }
  const wkt = String(row.definition ?? '').trim()
  return /^[A-Z]+\[/i.test(wkt) ? { wkt } : {}
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return (
    database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND lower(name) = ?").get(name) !== undefined
  )
}
