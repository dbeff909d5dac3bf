// The registers that every GeoPackage has, and its spatial index.
import type { DatabaseSync } from 'node:sqlite'
import type { ExportColumn, ExportOrder } from '../export-order.ts'
import {
  anyType,
  type GeometrySummary,
  type GeopackageLayer,
  type OrdinateSummary,
  quoted,
  typeName,
} from './geopackage-layer.ts'

/** `GPKG`, and the version: 1.4 makes GDAL 3.6 warn. */
const identity = { application: 0x47504b47, version: 10300 }

const registers = `
  CREATE TABLE gpkg_spatial_ref_sys (
    srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
    organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
  CREATE TABLE gpkg_contents (
    table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '',
    last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), min_x DOUBLE, min_y DOUBLE, max_x DOUBLE,
    max_y DOUBLE, srs_id INTEGER, CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id));
  CREATE TABLE gpkg_geometry_columns (
    table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL,
    z TINYINT NOT NULL, m TINYINT NOT NULL, CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
    CONSTRAINT uk_gc_table_name UNIQUE (table_name),
    CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
    CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
  CREATE TABLE gpkg_extensions (
    table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL,
    CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name))`

const wgs84 =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],' +
  'PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]]'

export function setUpGeoPackage(db: DatabaseSync, { srid, wkt }: ExportOrder): void {
  db.exec(`PRAGMA application_id = ${identity.application}; PRAGMA user_version = ${identity.version}`)
  db.exec(registers)
  const add = db.prepare('INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)')
  add.run('Undefined cartesian SRS', -1, 'NONE', -1, 'undefined')
  add.run('Undefined geographic SRS', 0, 'NONE', 0, 'undefined')
  add.run('WGS 84 geodetic', 4326, 'EPSG', 4326, wgs84)
  if (srid === 4326) return
  const [, name = `EPSG:${srid}`] = /^\w+\["([^"]*)"/.exec(wkt ?? '') ?? []
  add.run(name, srid, 'EPSG', srid, wkt ?? 'undefined')
}

/** The values of `z` and `m`: no geometry has such an ordinate, all have, some may have. */
const ordinate = { none: 0, all: 1, some: 2 } as const

/** A column of any type says at most that some may have it: GeoPandas opens none of any type that all have heights. */
function ordinateOf(column: ExportColumn, isDeclared: boolean | undefined, seen: OrdinateSummary): number {
  const isTyped = typeName(column) !== anyType
  if (!seen.isGiven) return isTyped && isDeclared && !seen.isMissing ? ordinate.all : ordinate.none
  return isTyped && !seen.isMissing ? ordinate.all : ordinate.some
}

export function registerLayer(
  db: DatabaseSync,
  { name, srid }: ExportOrder,
  layer: GeopackageLayer,
  seen: GeometrySummary,
): void {
  const { table, geometry } = layer
  const [west = null, south = null, east = null, north = null] = seen.extent ?? []
  db.prepare(
    `INSERT INTO gpkg_contents (table_name, data_type, identifier, min_x, min_y, max_x, max_y, srs_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(table, geometry ? 'features' : 'attributes', name, west, south, east, north, geometry ? srid : null)
  if (!geometry) return
  const z = ordinateOf(geometry, geometry.hasZ, seen.heights)
  const m = ordinateOf(geometry, geometry.hasM, seen.measures)
  db.prepare('INSERT INTO gpkg_geometry_columns VALUES (?, ?, ?, ?, ?, ?)').run(
    ...([table, geometry.name, typeName(geometry), srid, z, m] as const),
  )
}

/** The R-tree; what it gives adds the box of a row. */
export function createIndex(db: DatabaseSync, table: string, column: string) {
  const index = quoted(`rtree_${table}_${column}`)
  db.exec(`CREATE VIRTUAL TABLE ${index} USING rtree(id, minx, maxx, miny, maxy)`)
  db.prepare('INSERT INTO gpkg_extensions VALUES (?, ?, ?, ?, ?)').run(
    ...([
      table,
      column,
      'gpkg_rtree_index',
      'http://www.geopackage.org/spec120/#extension_rtree',
      'write-only',
    ] as const),
  )
  const add = db.prepare(`INSERT INTO ${index} VALUES (?, ?, ?, ?, ?)`)
  return (id: number | bigint, [west = 0, south = 0, east = 0, north = 0]: Float64Array): void => {
    add.run(id, west, east, south, north)
  }
}

/** Keeps the R-tree up to date for whoever edits the file. Only after the rows: SQLite alone has no ST_MinX to call. */
export function addTriggers(db: DatabaseSync, table: string, key: string, column: string): void {
  for (const trigger of triggersOf(table, key, column)) db.exec(trigger)
}

/** Those of the standard's extension. */
function triggersOf(table: string, key: string, column: string): string[] {
  const index = `rtree_${table}_${column}`
  const [t, i, k, c] = [table, index, key, column].map(quoted) as [string, string, string, string]
  const box = `NEW.${k}, ST_MinX(NEW.${c}), ST_MaxX(NEW.${c}), ST_MinY(NEW.${c}), ST_MaxY(NEW.${c})`
  const isFull = `(NEW.${c} NOTNULL AND NOT ST_IsEmpty(NEW.${c}))`
  const isEmpty = `(NEW.${c} ISNULL OR ST_IsEmpty(NEW.${c}))`
  const put = `INSERT OR REPLACE INTO ${i} VALUES (${box});`
  const dropOld = `DELETE FROM ${i} WHERE id = OLD.${k};`
  const dropBoth = `DELETE FROM ${i} WHERE id IN (OLD.${k}, NEW.${k});`
  const name = (what: string): string => quoted(`${index}_${what}`)
  return [
    `CREATE TRIGGER ${name('insert')} AFTER INSERT ON ${t} WHEN ${isFull} BEGIN ${put} END`,
    `CREATE TRIGGER ${name('update1')} AFTER UPDATE OF ${c} ON ${t} WHEN OLD.${k} = NEW.${k} AND ${isFull} BEGIN ${put} END`,
    `CREATE TRIGGER ${name('update2')} AFTER UPDATE OF ${c} ON ${t} WHEN OLD.${k} = NEW.${k} AND ${isEmpty} BEGIN ${dropOld} END`,
    `CREATE TRIGGER ${name('update3')} AFTER UPDATE ON ${t} WHEN OLD.${k} != NEW.${k} AND ${isFull} BEGIN ${dropOld} ${put} END`,
    `CREATE TRIGGER ${name('update4')} AFTER UPDATE ON ${t} WHEN OLD.${k} != NEW.${k} AND ${isEmpty} BEGIN ${dropBoth} END`,
    `CREATE TRIGGER ${name('delete')} AFTER DELETE ON ${t} WHEN OLD.${c} NOTNULL BEGIN ${dropOld} END`,
  ]
}
