import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import {
  type Bounds,
  boundsOf,
  type PeerReading,
  type PythonReader,
  readByDuckdb,
  readByGdal,
  startPythonReaders,
} from '../../../../testing/exports/export-peers.ts'
import { type ExportApp, type ExportedGeometry, exportApp } from '../../../../testing/exports/exports.ts'
import { answerFormats, type FormatName, formatNames } from '../../../query/formats/answer-formats.ts'

// Every kind of table in every format, opened by other programs: they find the same rows, columns and bounds, and do not complain.
// One database is enough: writers see cells.

const square = '0 0, 0 9, 9 9, 9 0, 0 0'
const hole = '2 2, 4 2, 4 4, 2 4, 2 2'
const flatTypes = {
  Point: ['POINT(1 2)', 'POINT(-170.5 80)'],
  LineString: ['LINESTRING(0 0, 1 1)', 'LINESTRING(5 5, 6 6, 7 5)'],
  Polygon: [`POLYGON((${square}))`, `POLYGON((${square}), (${hole}))`],
  MultiPoint: ['MULTIPOINT((1 2))', 'MULTIPOINT((1 2), (3 4))'],
  MultiLineString: ['MULTILINESTRING((0 0, 1 1))', 'MULTILINESTRING((0 0, 1 1), (5 5, 6 6))'],
  MultiPolygon: [`MULTIPOLYGON(((${square}), (${hole})), ((20 0, 30 0, 30 9, 20 0)))`],
  GeometryCollection: ['GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(3 4, 5 6))', 'GEOMETRYCOLLECTION(POINT(7 8))'],
}
const flat = Object.values(flatTypes).flat()
const emptyMultiPoint = 'MULTIPOINT EMPTY'
const empty = Object.keys(flatTypes)
  .map((type) => `${type.toUpperCase()} EMPTY`)
  .filter((wkt) => wkt !== emptyMultiPoint)
const high = ['POINT Z (1 2 3)', 'LINESTRING Z (0 0 1, 1 1 2)', `POLYGON Z ((0 0 1, 0 9 1, 9 9 1, 0 0 1))`]
const measured = ['POINT M (1 2 3)', 'LINESTRING ZM (0 0 1 4, 1 1 2 5)']
const curves = ['CIRCULARSTRING(8 47, 8.5 47.5, 9 47)', 'CURVEPOLYGON(CIRCULARSTRING(8 47, 9 48, 10 47, 9 46, 8 47))']
const surfaces = ['TIN Z (((8 47 1, 8 48 2, 9 48 3, 8 47 1)))', 'TRIANGLE((8 47, 9 47, 8.5 47.5, 8 47))']

/** A table of geometries, null where there is none; `column` is the type of the column. */
const shapes = (column: string, geometries: readonly (string | null)[]): string => {
  const rows = geometries.map((wkt, index) => `(${index + 1}, ${wkt && `ST_GeomFromText('${wkt}', 4326)`})`)
  return `CREATE TABLE {t} (id int4 PRIMARY KEY, geom ${column})${rows.length > 0 ? `; INSERT INTO {t} VALUES ${rows}` : ''}`
}

/** Kinds of tables by their names; {t} is the table. */
const kinds: Readonly<Record<string, string>> = {
  'no geometry': `CREATE TABLE {t} (id int4 PRIMARY KEY, name text); INSERT INTO {t} VALUES (1, 'a'), (2, NULL)`,
  'no geometry and no rows': 'CREATE TABLE {t} (id int4 PRIMARY KEY, name text)',
  ...Object.fromEntries(
    Object.entries(flatTypes).map(([type, wkt]) => [`the type ${type}`, shapes(`geometry(${type}, 4326)`, wkt)]),
  ),
  'any type': shapes('geometry(Geometry, 4326)', flat),
  'undeclared points': shapes('geometry', flatTypes.Point),
  'undeclared types': shapes('geometry', [...flat, ...empty, null]),
  'the type PointZ': shapes('geometry(PointZ, 4326)', high.slice(0, 1)),
  'the type MultiPolygonZ without rows': shapes('geometry(MultiPolygonZ, 4326)', []),
  'any type with heights': shapes('geometry(GeometryZ, 4326)', [...high, null, 'POINT Z EMPTY']),
  'any type with heights, without rows': shapes('geometry(GeometryZ, 4326)', []),
  'undeclared points with late heights': `CREATE TABLE {t} (id int4 PRIMARY KEY, geom geometry); INSERT INTO {t}
    SELECT n, CASE WHEN n < 1500 THEN ST_Point(n / 100.0, 1, 4326) ELSE ST_PointZ(n / 100.0, 1, n, 4326) END FROM generate_series(1, 1600) n`,
  'heights in single and multiple areas': shapes('geometry', [
    ...flatTypes.Polygon,
    ...flatTypes.MultiPolygon,
    ...high.slice(2),
    'POLYGON EMPTY',
  ]),
  'heights in single and multiple lines': shapes('geometry', [
    ...flatTypes.LineString,
    ...flatTypes.MultiLineString,
    ...high.slice(1, 2),
    'LINESTRING EMPTY',
  ]),
  'heights in some geometries of all types': shapes('geometry', [...flat, ...empty, null, ...high]),
  'points with measures': shapes('geometry(PointM, 4326)', measured.slice(0, 1)),
  'lines with heights and measures': shapes('geometry(LineStringZM, 4326)', measured.slice(1)),
  'measures in some geometries of all types': shapes('geometry', [...flat, ...high, ...measured, null]),
  'curves and surfaces': shapes('geometry', [...curves, ...surfaces]),
  'a declared type of curves': shapes('geometry(CurvePolygon, 4326)', curves.slice(1)),
  'empty geometries only': shapes('geometry(Geometry, 4326)', empty),
  'empty multipoints': shapes('geometry(MultiPoint, 4326)', [emptyMultiPoint, ...flatTypes.MultiPoint]),
  'empty points only': shapes('geometry(Point, 4326)', ['POINT EMPTY', 'POINT EMPTY']),
  'no geometry in any row': shapes('geometry(Polygon, 4326)', [null, null]),
  'undeclared geometry that no row has': shapes('geometry', [null, null]),
  'no rows of a type': shapes('geometry(Polygon, 4326)', []),
  'no rows of undeclared types': shapes('geometry', []),
  'names in any script': `CREATE TABLE {t} (id int4 PRIMARY KEY, "größe" int4, "名前" text, "Это имя" text, "🌍 x" float8, "The Geom" geometry(Point, 4326));
    INSERT INTO {t} VALUES (1, 2, '東京', 'да', 1.5, ST_Point(139.7, 35.7, 4326)), (2, NULL, NULL, NULL, NULL, NULL)`,
  'ten thousand rows': `CREATE TABLE {t} (id int4 PRIMARY KEY, name text, geom geometry(Point, 4326));
    INSERT INTO {t} SELECT n, 'row ' || n, ST_Point(n / 100.0, n / 200.0, 4326) FROM generate_series(1, 10000) n`,
}

type Expected = {
  readonly hasGeometry: boolean
  readonly rows: number
  /** With every member of a collection for one. */
  readonly parts: number
  readonly columns: string[]
  readonly bounds: Bounds | null
}
type Kind = { readonly name: string; readonly id: string; readonly expected: Expected }

let app: ExportApp
let libraries: ReturnType<typeof startPythonReaders>
const tables: Kind[] = []
before(async () => {
  app = await exportApp()
  libraries = startPythonReaders()
  tables.push(await kindOf('every type of column', app.id))
  for (const [index, [name, script]] of Object.entries(kinds).entries()) {
    await app.script(script.replaceAll('{t}', `kind_${index}`))
    tables.push(await kindOf(name, await app.dataset({ name, source: `kind_${index}` })))
  }
})
after(async () => {
  libraries.close()
  await app.close()
})

/** Each file is made once, for all its readers. */
const files = new Map<string, Promise<string>>()
function fileOf({ id, name }: Kind, format: FormatName): Promise<string> {
  const file = `${name}.${answerFormats[format].extension}`
  const saved = files.get(file) ?? app.save(file, `format=${format}&sort=id`, id)
  files.set(file, saved)
  return saved
}

async function kindOf(name: string, id: string): Promise<Kind> {
  const { attributes } = JSON.parse((await app.get(`/api/v1/datasets/${id}`)).body)
  const rows = await app.rows('sort=id', id)
  const place = attributes.find(({ type }: { type: string }) => type === 'geometry')?.name
  const geometries = rows.map((row) => row[place] as ExportedGeometry | null)
  const columns = attributes.map((attribute: { name: string }) => attribute.name)
  const parts = geometries.reduce((sum, geometry) => sum + Math.max(1, filledParts(geometry)), 0)
  const bounds = boundsOf(geometries)
  return { name, id, expected: { hasGeometry: place !== undefined, rows: rows.length, parts, columns, bounds } }
}

/** How many members of a collection, and of those in it, are not empty. */
const filledParts = (geometry: ExportedGeometry | null): number =>
  geometry?.geometries?.reduce((sum, member) => sum + filledParts(member), 0) ?? (boundsOf([geometry]) ? 1 : 0)

/** What a reader changes, or cannot tell. */
type Leeway = {
  /** Geometries are columns as all others are. */
  readonly hasGeometryColumn?: boolean
  /** It has columns of its own. */
  readonly adds?: RegExp
  readonly renames?: Readonly<Record<string, string>>
  /** It tells columns by the values of rows, or has them by other names. */
  readonly columns?: 'if there are rows' | 'by other names'
  /** The members of a collection are rows. */
  readonly isTakenApart?: boolean
  /** Its geometries are texts. */
  readonly hasNoBounds?: boolean
  /** It takes such a file for none of the format, or for one of another. */
  skips?(kind: Kind): boolean
}

function faultsOf(reading: PeerReading, { expected }: Kind, leeway: Leeway): string[] {
  const { rows, bounds } = reading
  const wantedRows = leeway.isTakenApart ? expected.parts : expected.rows
  const columns = (reading.columns ?? []).filter((name) => !leeway.adds?.test(name))
  const seen = columns.map((name) => leeway.renames?.[name] ?? name).toSorted()
  const wanted = expected.columns.filter((name) => leeway.hasGeometryColumn || !/geom$/i.test(name)).toSorted()
  const tellsColumns = leeway.columns === undefined || (leeway.columns === 'if there are rows' && rows > 0)
  return [
    ...(rows === wantedRows ? [] : [`${rows} rows instead of ${wantedRows}`]),
    ...(!tellsColumns || isDeepStrictEqual(seen, wanted) ? [] : [`columns ${seen} instead of ${wanted}`]),
    ...(leeway.hasNoBounds || isSameBox(bounds, expected.bounds)
      ? []
      : [`bounds ${bounds} instead of ${expected.bounds}`]),
  ]
}

function isSameBox(bounds: Bounds | null | undefined, wanted: Bounds | null): boolean {
  if (!bounds || !wanted) return bounds === undefined || bounds === wanted
  return bounds.every((edge, index) => Math.abs(edge - (wanted[index] ?? 0)) < 1e-6)
}

type Peer = {
  /** Throws what the reader complains of. Undefined where it is not installed. */
  read(path: string): Promise<PeerReading | undefined>
  readonly leeway?: Leeway
}

const gdal = (leeway: Leeway = {}, prefix = ''): Peer => ({
  read: (path) => readByGdal(`${prefix}${path}`),
  leeway: { columns: 'if there are rows', ...leeway },
})
const python = (reader: PythonReader, leeway: Leeway = {}, prefix = ''): Peer => ({
  read: (path) => libraries.read(reader, `${prefix}${path}`),
  leeway,
})
/** Shapely 1 fails at an empty multipoint, whoever wrote the file. */
const fiona = (leeway: Leeway = {}): Peer =>
  python('fiona', { ...leeway, skips: ({ name }) => name === 'empty multipoints' })
const duckdb = (source: (path: string) => string, leeway: Leeway = {}): Peer => ({
  read: (path) => readByDuckdb(source(path)),
  leeway: { hasGeometryColumn: true, ...leeway },
})

const table: Leeway = { hasGeometryColumn: true }
const hasNoRows = ({ expected }: Kind): boolean => expected.rows === 0
const byRows: Leeway = { columns: 'if there are rows' }
const shapefile: Leeway = { columns: 'by other names', isTakenApart: true }
const kml: Leeway = { adds: /^(visibility|extrude|tessellate|altitudeMode)$/, renames: { Name: 'name' } }

const peers: Readonly<Record<FormatName, Readonly<Record<string, Peer>>>> = {
  fgb: { GDAL: gdal(), Fiona: fiona(), pyogrio: python('pyogrio') },
  gpkg: { GDAL: gdal(), Fiona: fiona(), pyogrio: python('pyogrio') },
  geojson: { GDAL: gdal(), Fiona: fiona(byRows) },
  // A sequence of nothing is an empty file, and rows without geometries are lines of JSON.
  ndjson: { GDAL: gdal({ skips: (kind) => hasNoRows(kind) || !kind.expected.hasGeometry }) },
  kml: { GDAL: gdal(kml) },
  shp: {
    GDAL: gdal(shapefile, '/vsizip/'),
    Fiona: python('fiona', shapefile, 'zip://'),
    // GDAL takes heights without a row for heights and measures.
    pyogrio: python('pyogrio', { ...shapefile, skips: hasNoRows }, '/vsizip/'),
  },
  parquet: { DuckDB: duckdb((path) => `read_parquet('${path}')`, { adds: /^bbox$/ }) },
  csv: { DuckDB: duckdb((path) => `read_csv('${path}', header = true)`), pandas: python('csv', table) },
  json: {
    DuckDB: duckdb((path) => `read_json('${path}')`, byRows),
    pandas: python('json', { ...table, ...byRows }),
  },
  xlsx: {
    // It takes the headings of a sheet without rows for a row, and leaves out columns without values.
    GDAL: gdal({ columns: 'by other names', hasNoBounds: true, skips: hasNoRows }),
    'pandas by openpyxl': python('excel', table),
  },
}

/** What is wrong with the readings of all tables. */
async function faultsBy({ read, leeway = {} }: Peer, format: FormatName): Promise<string[]> {
  const faults: string[] = []
  for (const kind of tables.filter((one) => !leeway.skips?.(one))) {
    const path = await fileOf(kind, format)
    const reading = await read(path).catch((error) => String(error).slice(0, 300))
    const found = typeof reading === 'string' ? [reading] : reading ? faultsOf(reading, kind, leeway) : []
    faults.push(...found.map((fault) => `${kind.name}: ${fault}`))
  }
  return faults
}

describe('tables of every kind are read whole and without a complaint', () => {
  for (const format of formatNames) {
    for (const [name, peer] of Object.entries(peers[format])) {
      test(`as ${format} by ${name}`, async () => assert.deepEqual(await faultsBy(peer, format), []))
    }
  }
})
