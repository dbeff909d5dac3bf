import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type ExportApp, type ExportedGeometry, exportApp, gdalFeatures } from '../../../../testing/exports/exports.ts'

// Files as libraries read them that are stricter than GDAL, or strict elsewhere. One database is enough: writers see cells.

const run = promisify(execFile)
/** Debian's, which has the libraries. */
const python = '/usr/bin/python3'

let app: ExportApp
before(async () => {
  app = await exportApp()
})
after(() => app.close())

/** What openpyxl and pandas read in a workbook. */
const readWorkbook = `
import json, sys, openpyxl, pandas
sheet = openpyxl.load_workbook(sys.argv[1]).active
rows = [[None if cell.value is None else str(cell.value) for cell in row] for row in sheet.iter_rows()]
frame = pandas.read_excel(sys.argv[1])
print(json.dumps({"title": sheet.title, "rows": rows, "columns": list(frame.columns), "count": len(frame),
  "types": [str(type) for type in frame.dtypes], "fill": sheet["A1"].fill.patternType, "font": sheet["A1"].font.name}))`

type Workbook = {
  readonly title: string
  readonly rows: (string | null)[][]
  readonly columns: string[]
  readonly count: number
  readonly types: string[]
}

async function openWorkbook(path: string): Promise<Workbook> {
  const { stdout } = await run(python, ['-W', 'error', '-c', readWorkbook, path])
  return JSON.parse(stdout)
}

test('openpyxl and pandas read a workbook without a warning, with the types of its cells', async () => {
  const book = await openWorkbook(await app.save('a.xlsx', 'format=xlsx&sort=id&attributes=id,day,local,flag,doc'))
  assert.deepEqual(book.columns, ['id', 'day', 'local', 'flag', 'doc'])
  assert.equal(book.count, (await app.rows()).length)
  assert.deepEqual(book.rows[1]?.slice(0, 4), ['1', '2026-01-31 00:00:00', '2026-01-31 10:20:30', 'True'])
  assert.equal(book.types[0], 'int64')
})

test('a text that Excel would take for an escaped character stays as it is', async () => {
  await app.script(`CREATE TABLE escapes (id int4 PRIMARY KEY, text text);
    INSERT INTO escapes VALUES (1, 'a_x0041_b'), (2, '_x_'), (3, '__x000d__')`)
  const id = await app.dataset({ name: 'escapes', source: 'escapes' })
  const path = await app.save('escapes.xlsx', 'format=xlsx&sort=id', id)
  const unzip = 'import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read("xl/worksheets/sheet1.xml").decode())'
  const { stdout } = await run(python, ['-c', unzip, path])
  const texts = [...stdout.matchAll(/<t [^>]*>([^<]*)</g)].slice(2).map(([, text]) => text)
  assert.deepEqual(texts, ['a_x005F_x0041_b', '_x_', '__x005F_x000d__'])
})

test('the name of a sheet is one that Excel takes, whatever the dataset is called', async () => {
  await app.script('CREATE TABLE named (id int4 PRIMARY KEY)')
  for (const [name, wanted] of [
    ['a/b:c*d?e[f]\\g', 'a-b-c-d-e-f-g'],
    ["'quoted'", 'quoted'],
    ['history', 'rows of history'],
    // 31 characters as Excel counts them, and none of them half.
    ['🌍'.repeat(20), '🌍'.repeat(15)],
  ]) {
    const id = await app.dataset({ name, source: 'named' })
    assert.equal((await openWorkbook(await app.save('named.xlsx', 'format=xlsx', id))).title, wanted)
  }
})

const shapes = [
  'POINT(1 2)',
  'POINT EMPTY',
  'LINESTRING EMPTY',
  'POLYGON EMPTY',
  'MULTIPOINT EMPTY',
  'MULTILINESTRING((0 0,1 1))',
  'MULTILINESTRING EMPTY',
  'MULTIPOLYGON EMPTY',
  'GEOMETRYCOLLECTION(POINT EMPTY,POINT(3 4))',
  'GEOMETRYCOLLECTION EMPTY',
  'POINT(5 6)',
]

const readLayers = `
import json, sys, fiona
def read(path):
    with fiona.open(path) as layer:
        return {"type": layer.schema["geometry"], "shapes": [one.geometry for one in layer]}
print(json.dumps([read(path) for path in sys.argv[1:]], default=lambda one: dict(one.__geo_interface__)))`

type Layer = { readonly type: string; readonly shapes: readonly ExportedGeometry[] }

/** What Fiona, which takes no more types than pyogrio does, reads: the type of the layer, and its geometries. */
async function openLayers(paths: readonly string[]): Promise<Layer[]> {
  const { stdout } = await run(python, ['-W', 'error::UserWarning', '-c', readLayers, ...paths], { maxBuffer: 1e8 })
  return JSON.parse(stdout)
}

const [flatPoint, highPoint, manyPoints] = ['POINT(1 2)', 'POINT Z (1 2 3)', 'MULTIPOINT Z ((4 5 6))']
const [flatLine, highLine] = ['LINESTRING(0 0, 1 1)', 'LINESTRING Z (0 0 1, 1 1 2)']

test('heights in some geometries of a column that declares none are kept, also where they come late', async () => {
  const cases = [
    { wkt: [flatPoint, highPoint], fgb: { type: '3D Point', first: pointOf(1, 2, 0) }, last: pointOf(1, 2, 3) },
    {
      wkt: [flatPoint, manyPoints],
      fgb: { type: '3D MultiPoint', first: { type: 'MultiPoint', coordinates: [[1, 2, 0]] } },
      last: { type: 'MultiPoint', coordinates: [[4, 5, 6]] },
    },
    {
      wkt: [flatPoint, highLine],
      fgb: {
        type: '3D GeometryCollection',
        first: { type: 'GeometryCollection', geometries: [pointOf(1, 2, 0)] },
      },
      last: lineOf([0, 0, 1], [1, 1, 2]),
    },
    { wkt: [flatPoint, flatLine], fgb: { type: 'Unknown', first: pointOf(1, 2) }, last: lineOf([0, 0], [1, 1]) },
    { wkt: [flatPoint, flatPoint], fgb: { type: 'Point', first: pointOf(1, 2) }, last: pointOf(1, 2) },
  ]
  const files: string[] = []
  for (const [index, { wkt }] of cases.entries()) {
    const source = `some_high_${index}`
    const [early, late] = wkt.map((text) => `ST_GeomFromText('${text}', 4326)`)
    await app.script(`CREATE TABLE ${source} (id int4 PRIMARY KEY, geom geometry);
      INSERT INTO ${source} SELECT n, ${early} FROM generate_series(1, 1500) n; INSERT INTO ${source} VALUES (1501, ${late})`)
    const id = await app.dataset({ name: source, source })
    for (const format of ['fgb', 'gpkg'])
      files.push(await app.save(`${source}.${format}`, `format=${format}&sort=id`, id))
  }
  const layers = await openLayers(files)
  for (const [index, { wkt, fgb, last }] of cases.entries()) {
    const [brought, kept] = layers.slice(index * 2) as [Layer, Layer]
    assert.deepEqual([brought.type, plain(brought.shapes[0])], [fgb.type, fgb.first], String(wkt))
    assert.deepEqual([kept.type, plain(kept.shapes[0])], ['Unknown', pointOf(1, 2)], String(wkt))
    assert.deepEqual(
      [brought, kept].map(({ shapes }) => shapes.length),
      [1501, 1501],
    )
    assert.deepEqual(plain(kept.shapes[1500]), last)
  }
})

const measured = {
  point_m: { column: 'geometry(PointM, 4326)', wkt: ['POINT M (1 2 3)'] },
  line_zm: { column: 'geometry(LineStringZM, 4326)', wkt: ['LINESTRING ZM (0 0 1 4,1 1 2 5)'] },
  many: { column: 'geometry', wkt: ['MULTIPOINT M ((1 2 3),(4 5 6))', 'MULTIPOINT ((7 8))'] },
  parts: {
    column: 'geometry',
    wkt: [
      'POLYGON M ((0 0 1,0 9 2,9 9 3,0 0 1),(1 2 4,2 3 5,1 3 6,1 2 4))',
      'MULTILINESTRING ZM ((0 0 1 4,1 1 2 5),(2 2 3 6,3 3 4 7))',
    ],
  },
} as const

test('measures are kept by GeoPackage and FlatGeobuf, and heights that are missing beside them are 0 in the latter', async () => {
  const inFgb: Record<keyof typeof measured, readonly string[]> = {
    point_m: measured.point_m.wkt,
    line_zm: measured.line_zm.wkt,
    many: ['MULTIPOINT M ((1 2 3),(4 5 6))', 'MULTIPOINT M ((7 8 0))'],
    parts: [
      'GEOMETRYCOLLECTION ZM (POLYGON ZM ((0 0 0 1,9 9 0 3,0 9 0 2,0 0 0 1),(1 2 0 4,1 3 0 6,2 3 0 5,1 2 0 4)))',
      'GEOMETRYCOLLECTION ZM (MULTILINESTRING ZM ((0 0 1 4,1 1 2 5),(2 2 3 6,3 3 4 7)))',
    ],
  }
  for (const [source, { column, wkt }] of Object.entries(measured)) {
    const rows = wkt.map((text, index) => `(${index + 1}, ST_GeomFromText('${text}', 4326))`)
    await app.script(
      `CREATE TABLE ${source} (id int4 PRIMARY KEY, geom ${column}); INSERT INTO ${source} VALUES ${rows}`,
    )
    const id = await app.dataset({ name: source, source })
    assert.deepEqual(await gdalTexts(await app.save(`${source}.gpkg`, 'format=gpkg&sort=id', id)), wkt.map(turned))
    const texts = await gdalTexts(await app.save(`${source}.fgb`, 'format=fgb&sort=id', id))
    assert.deepEqual(texts, inFgb[source as keyof typeof measured])
  }
})

/** Rings are sent with their outside to the right of the outer one. */
const turned = (wkt: string): string =>
  wkt.replace(
    '(0 0 1,0 9 2,9 9 3,0 0 1),(1 2 4,2 3 5,1 3 6,1 2 4)',
    '(0 0 1,9 9 3,0 9 2,0 0 1),(1 2 4,1 3 6,2 3 5,1 2 4)',
  )

/** The geometries as GDAL writes them in WKT. */
async function gdalTexts(path: string): Promise<string[]> {
  const { stdout, stderr } = await run('ogrinfo', ['-ro', '-q', '-al', path])
  assert.equal(stderr, '')
  return stdout.split('\n').flatMap((line) => /^ {2}([A-Z]+ .*\(.*)$/.exec(line)?.[1] ?? [])
}

const lineOf = (...coordinates: number[][]): ExportedGeometry => ({ type: 'LineString', coordinates })
const pointOf = (...coordinates: number[]): ExportedGeometry => ({ type: 'Point', coordinates })

/** Without what the library adds. */
const plain = ({ type, coordinates, geometries = [] }: ExportedGeometry = { type: '' }): ExportedGeometry =>
  type === 'GeometryCollection' ? { type, geometries: geometries.map(plain) } : { type, coordinates }

test('an empty geometry, or one line in many, ends no reading of the rows behind it', async () => {
  const rows = shapes.map((wkt, index) => `(${index + 1}, ST_GeomFromText('${wkt}', 4326))`)
  await app.script(`CREATE TABLE empty (id int4 PRIMARY KEY, geom geometry(Geometry, 4326));
    INSERT INTO empty VALUES ${rows.join(', ')}`)
  const id = await app.dataset({ name: 'empty', source: 'empty' })
  for (const format of ['fgb', 'gpkg', 'kml', 'ndjson'] as const) {
    const path = join(app.folder, `empty.${format === 'ndjson' ? 'geojsonl' : format}`)
    const reply = await app.get(app.query(`format=${format}&sort=id`, id))
    assert.equal(reply.statusCode, 200, format)
    await writeFile(path, reply.rawPayload)
    const features = await gdalFeatures(path)
    assert.deepEqual(
      features.map(({ properties }) => Number(properties.id)),
      shapes.map((_, index) => index + 1),
      format,
    )
    assert.deepEqual(features.at(-1)?.geometry?.coordinates, [5, 6], format)
    assert.equal(features[5]?.geometry?.type, 'MultiLineString', format)
  }
})
