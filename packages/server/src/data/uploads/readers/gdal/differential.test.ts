import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type DecodedRow, rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { openReader } from '../open-reader.ts'

const hasGdal = (() => {
  try {
    return execFileSync('ogr2ogr', ['--version'], { stdio: 'pipe' }).length > 0
  } catch {
    return false
  }
})()

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gdal-'))
})
after(() => rm(directory, { recursive: true, force: true }))

type Feature = {
  type: 'Feature'
  properties: Record<string, unknown>
  geometry: { type: string; coordinates?: unknown; geometries?: unknown } | null
}

const feature = (properties: Record<string, unknown>, geometry: Feature['geometry']): Feature => ({
  type: 'Feature',
  properties,
  geometry,
})
const point = (...coordinates: number[]) => ({ type: 'Point', coordinates })
const square = (x: number, y: number, size: number) => [
  [x, y],
  [x + size, y],
  [x + size, y + size],
  [x, y + size],
  [x, y],
]

/** The layers that are written by GDAL in every format. */
const layers: Record<string, Feature[]> = {
  points: [
    feature(
      {
        label: 'Straße "7", Köln',
        count: 1,
        big: 9007199254740991,
        ratio: 0.5,
        day: '2020-02-29',
        moment: '2021-03-04T05:06:07',
        flag: 'yes',
      },
      point(6.95, 50.94),
    ),
    feature(
      {
        label: '東京 🗼\nzwei',
        count: -5,
        big: 12,
        ratio: 1e-7,
        day: '1999-12-31',
        moment: '1970-01-01T00:00:00',
        flag: 'no',
      },
      point(139.69171, 35.6895),
    ),
    feature(
      { label: null, count: null, big: null, ratio: null, day: null, moment: null, flag: null },
      point(-179.999999, -89.5),
    ),
  ],
  heights: [feature({ a: 1 }, point(1, 2, 3.5)), feature({ a: 2 }, point(4, 5, -6))],
  lines: [
    feature(
      { a: 'x' },
      {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [1.25, 1],
          [2, 0.5],
        ],
      },
    ),
    feature(
      { a: 'y' },
      {
        type: 'LineString',
        coordinates: [
          [9, 9],
          [8, 8],
        ],
      },
    ),
  ],
  holes: [
    feature(
      { code: '007', n: 1 },
      { type: 'Polygon', coordinates: [square(0, 0, 10), square(2, 2, 3).reverse(), square(6, 6, 2).reverse()] },
    ),
    feature({ code: '42', n: 2 }, { type: 'Polygon', coordinates: [square(179, -1, 1)] }),
  ],
  multi: [
    feature(
      { a: 1.5 },
      { type: 'MultiPolygon', coordinates: [[square(0, 0, 1)], [square(5, 5, 2), square(5.5, 5.5, 1).reverse()]] },
    ),
  ],
  many: [
    feature(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`field_${index}`, index])), point(1, 2)),
  ],
}

/** What is written, how, and which of the layers the format can hold. */
const formats: Record<
  string,
  { file: string; options: string[]; isKml?: boolean; without?: string[]; geometry?: string }
> = {
  GeoJSON: { file: 'out.geojson', options: [] },
  'GeoJSON RFC7946': { file: 'out.json', options: ['-f', 'GeoJSON', '-lco', 'RFC7946=YES'] },
  GeoJSONSeq: { file: 'out.geojsonl', options: ['-f', 'GeoJSONSeq'] },
  'GeoJSONSeq RFC8142': { file: 'out.geojsons', options: ['-f', 'GeoJSONSeq', '-lco', 'RS=YES'] },
  'CSV WKT': { file: 'out.csv', options: ['-f', 'CSV', '-lco', 'GEOMETRY=AS_WKT'] },
  'CSV semicolon': {
    file: 'semi.csv',
    options: ['-f', 'CSV', '-lco', 'GEOMETRY=AS_WKT', '-lco', 'SEPARATOR=SEMICOLON', '-lco', 'WRITE_BOM=YES'],
  },
  TSV: { file: 'tab.csv', options: ['-f', 'CSV', '-lco', 'GEOMETRY=AS_WKT', '-lco', 'SEPARATOR=TAB'] },
  'CSV xy': {
    file: 'xy.csv',
    options: ['-f', 'CSV', '-lco', 'GEOMETRY=AS_XY'],
    without: ['lines', 'holes', 'multi', 'heights'],
    // Small whole numbers in x and y may be a plot.
    geometry: 'X,Y',
  },
  'CSV xyz': {
    file: 'xyz.csv',
    options: ['-f', 'CSV', '-lco', 'GEOMETRY=AS_XYZ'],
    without: ['lines', 'holes', 'multi', 'points', 'many'],
    geometry: 'X,Y',
  },
  KML: { file: 'out.kml', options: ['-f', 'KML'], isKml: true },
  LIBKML: { file: 'lib.kml', options: ['-f', 'LIBKML'], isKml: true },
  XLSX: { file: 'out.xlsx', options: ['-f', 'XLSX'], without: [] },
}

async function written(layer: string, format: { file: string; options: string[] }): Promise<string> {
  const source = join(directory, `${layer}.geojson`)
  const target = join(directory, `${layer}-${format.file}`)
  await writeFile(source, JSON.stringify({ type: 'FeatureCollection', name: layer, features: layers[layer] }))
  await rm(target, { force: true })
  execFileSync('ogr2ogr', [...format.options, target, source], { stdio: 'pipe' })
  return target
}

async function read(file: string, geometry?: string) {
  const unpacked = await mkdtemp(join(directory, 'read-'))
  return rowsOfReader(
    await openReader(file, {
      fileName: file,
      directory: unpacked,
      signal: new AbortController().signal,
      allowNativeGdal: false,
      ...(geometry !== undefined && { geometry }),
    }),
  )
}

/** The same number, text or moment, however the format had to write it. */
function isSame(ours: unknown, theirs: unknown): boolean {
  if (theirs === null || theirs === undefined) return ours === null || ours === undefined || ours === ''
  if (typeof ours === 'boolean') return ours === (theirs === 'yes')
  if (typeof theirs === 'number') return Math.abs(Number(ours) - theirs) <= Math.abs(theirs) * 1e-12
  return (
    String(ours).replace(/\.000$/, '') === String(theirs).replaceAll('/', '-').replace(' ', 'T') ||
    String(ours) === String(theirs)
  )
}

function assertSameGeometry(ours: unknown, theirs: unknown, name: string): void {
  const numbers = (value: unknown): number[] =>
    Array.isArray(value) ? value.flatMap(numbers) : typeof value === 'number' ? [value] : []
  const [left, right] = [ours, theirs] as { type: string; coordinates: unknown }[]
  assert.equal(left?.type, right?.type, name)
  const [mine, gdal] = [numbers(left?.coordinates), numbers(right?.coordinates)]
  assert.equal(mine.length, gdal.length, name)
  for (const [index, value] of mine.entries())
    assert.ok(Math.abs(value - (gdal[index] ?? Number.NaN)) < 1e-6, `${name}: ${value}`)
}

function assertSameRow(row: DecodedRow | undefined, expected: Feature, name: string, isPlain: boolean): void {
  for (const [key, value] of Object.entries(expected.properties)) {
    assert.ok(isSame(row?.values[key], value), `${name}.${key}: ${String(row?.values[key])} for ${String(value)}`)
  }
  if (!isPlain) assertSameGeometry(row?.geometry, expected.geometry, name)
}

for (const [name, format] of Object.entries(formats)) {
  test(`${name} as GDAL writes it is read as it was meant`, { skip: !hasGdal }, async () => {
    for (const [layer, features] of Object.entries(layers)) {
      if (format.without?.includes(layer)) continue
      const { rows } = await read(await written(layer, format), format.geometry)
      // A row of nothing is none in a workbook.
      const kept =
        name === 'XLSX'
          ? features.filter(({ properties }) => Object.values(properties).some((value) => value !== null))
          : features
      assert.equal(rows.length, kept.length, `${name} ${layer}`)
      for (const [index, expected] of kept.entries())
        assertSameRow(rows[index], expected, `${name} ${layer}`, name === 'XLSX')
    }
  })
}

test('GPX as GDAL writes it gives waypoints, routes and tracks', { skip: !hasGdal }, async () => {
  const source = join(directory, 'gpx.geojson')
  const line = {
    type: 'LineString',
    coordinates: [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
  }
  await writeFile(
    source,
    JSON.stringify({
      type: 'FeatureCollection',
      features: [feature({ name: 'a & b', ele: 12.5, time: '2020-01-02T03:04:05Z' }, point(1.5, 2.5))],
    }),
  )
  const target = join(directory, 'out.gpx')
  execFileSync('ogr2ogr', ['-f', 'GPX', target, source, '-nln', 'waypoints'], { stdio: 'pipe' })
  const { layer, rows } = await read(target)
  assert.equal(layer.name, 'waypoints')
  assert.deepEqual(rows[0]?.geometry, point(1.5, 2.5, 12.5))
  assert.equal(rows[0]?.values.name, 'a & b')
  assert.equal(rows[0]?.values.time, '2020-01-02T03:04:05.000Z')

  await writeFile(source, JSON.stringify({ type: 'FeatureCollection', features: [feature({ name: 'way' }, line)] }))
  await rm(target)
  execFileSync('ogr2ogr', ['-f', 'GPX', target, source, '-lco', 'FORCE_GPX_TRACK=YES'], { stdio: 'pipe' })
  const track = await read(target)
  assert.deepEqual(track.rows[0]?.geometry, { type: 'MultiLineString', coordinates: [line.coordinates] })
  assert.equal(track.rows[0]?.values.name, 'way')
  await rm(target)
  execFileSync('ogr2ogr', ['-f', 'GPX', target, source, '-lco', 'FORCE_GPX_ROUTE=YES'], { stdio: 'pipe' })
  assert.deepEqual((await read(target)).rows[0]?.geometry, line)
})

test('a projected layer keeps its reference system in GeoJSON', { skip: !hasGdal }, async () => {
  const source = join(directory, 'projected.geojson')
  await writeFile(source, JSON.stringify({ type: 'FeatureCollection', features: layers.points }))
  for (const srid of [28992, 3857, 2056, 27700, 3067]) {
    const target = join(directory, `projected-${srid}.geojson`)
    execFileSync('ogr2ogr', ['-t_srs', `EPSG:${srid}`, '-where', 'count = 1', target, source], { stdio: 'pipe' })
    const expected = JSON.parse(await readFile(target, 'utf8')).features[0].geometry
    const { layer, rows } = await read(target)
    assert.equal(layer.srid, srid)
    assertSameGeometry(rows[0]?.geometry, expected, String(srid))
  }
})
