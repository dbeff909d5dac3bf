// The note of a table's columns among the metadata of a GeoPackage, for uploads: SQLite has neither decimals nor UUIDs nor JSON.
import type { DatabaseSync } from 'node:sqlite'
import { noteName } from '../../table-note.ts'
import type { ExportOrder } from '../export-order.ts'
import { noteText } from '../note-of-export.ts'
import type { GeopackageLayer } from './geopackage-layer.ts'

const registers = `
  CREATE TABLE gpkg_metadata (
    id INTEGER CONSTRAINT m_pk PRIMARY KEY ASC NOT NULL, md_scope TEXT NOT NULL DEFAULT 'dataset',
    md_standard_uri TEXT NOT NULL, mime_type TEXT NOT NULL DEFAULT 'text/xml', metadata TEXT NOT NULL DEFAULT '');
  CREATE TABLE gpkg_metadata_reference (
    reference_scope TEXT NOT NULL, table_name TEXT, column_name TEXT, row_id_value INTEGER,
    timestamp DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), md_file_id INTEGER NOT NULL,
    md_parent_id INTEGER, CONSTRAINT crmr_mfi_fk FOREIGN KEY (md_file_id) REFERENCES gpkg_metadata(id),
    CONSTRAINT crmr_mpi_fk FOREIGN KEY (md_parent_id) REFERENCES gpkg_metadata(id))`

const extension = 'http://www.geopackage.org/spec120/#extension_metadata'

/** The columns are called as they are in the file. */
export function addNote(db: DatabaseSync, order: ExportOrder, { table, fields }: GeopackageLayer): void {
  const names = new Map(fields.map(({ index, name }) => [index, name]))
  const columns = order.columns.map((column, index) => ({ ...column, name: names.get(index) ?? column.name }))
  db.exec(registers)
  db.prepare("INSERT INTO gpkg_metadata VALUES (1, 'attributeType', ?, 'application/json', ?)").run(
    ...([noteName, noteText({ columns, srid: order.srid })] as const),
  )
  db.prepare(
    "INSERT INTO gpkg_metadata_reference (reference_scope, table_name, md_file_id) VALUES ('table', ?, 1)",
  ).run(table)
  const extend = db.prepare("INSERT INTO gpkg_extensions VALUES (?, NULL, 'gpkg_metadata', ?, 'read-write')")
  for (const register of ['gpkg_metadata', 'gpkg_metadata_reference']) extend.run(register, extension)
}
