import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { rowsOfReader } from '../../../../testing/uploads/decoded-rows.ts'
import { formats, gdal } from '../../../../testing/uploads/source-layers.ts'
import { zipOf } from '../../../../testing/uploads/zip-of.ts'
import { openReader } from './open-reader.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'measures-'))
})
after(() => rm(directory, { recursive: true, force: true }))

let opened = 0

/** The positions of the first row, and the warning of measures. */
async function read(content: string | Uint8Array) {
  const own = join(directory, String(opened++))
  await mkdir(own)
  const file = join(own, 'source')
  await writeFile(file, content)
  const { signal } = new AbortController()
  const reader = await openReader(file, { fileName: 'a', directory: own, signal, allowNativeGdal: false })
  const { layer, rows } = await rowsOfReader(reader)
  await reader.close()
  const geometry = rows[0]?.geometry as { coordinates: unknown } | undefined
  const warning = layer.warnings.find(({ code }) => code === 'measures_left_out')
  return { coordinates: geometry?.coordinates, count: warning?.count }
}

/** The geometries in the format, written by GDAL, and their dimensions. */
async function fileOf(
  format: 'geopackage' | 'flatgeobuf' | 'shapefile',
  geometries: readonly string[],
  dimensions: string,
) {
  const own = await mkdtemp(join(directory, 'gdal-'))
  await writeFile(join(own, 'source.csv'), `id,WKT\n${geometries.map((wkt, id) => `${id},"${wkt}"\n`).join('')}`)
  const target = join(own, 'made')
  await mkdir(target)
  const { driver, extension } = formats[format]
  const place = join(target, `a.${extension.replace('.zip', '')}`)
  await gdal('ogr2ogr', ['-f', driver, '-dim', dimensions, '-a_srs', 'EPSG:4326', place, join(own, 'source.csv')])
  const files = await readdir(target)
  if (format !== 'shapefile') return readFile(place)
  return zipOf(await Promise.all(files.map(async (name) => ({ name, content: await readFile(join(target, name)) }))))
}

const shapes = [
  ['POINT', '(1 2 5)', '(1 2 3 5)', [1, 2], [1, 2, 3]],
  [
    'LINESTRING',
    '(1 2 5, 3 4 6)',
    '(1 2 3 5, 3 4 3 6)',
    [
      [1, 2],
      [3, 4],
    ],
    [
      [1, 2, 3],
      [3, 4, 3],
    ],
  ],
  [
    'MULTIPOINT',
    '((1 2 5), (3 4 6))',
    '((1 2 3 5), (3 4 3 6))',
    [
      [1, 2],
      [3, 4],
    ],
    [
      [1, 2, 3],
      [3, 4, 3],
    ],
  ],
] as const

for (const format of ['geopackage', 'flatgeobuf', 'shapefile'] as const) {
  describe(`measures in a file of ${format}`, () => {
    for (const [type, measured, both, flat, high] of shapes) {
      test(`of the type ${type} are told of, and heights kept`, async () => {
        const xym = await read(await fileOf(format, [`${type} M ${measured}`, `${type} M ${measured}`], 'XYM'))
        assert.deepEqual(xym, { coordinates: flat, count: 2 })
        const xyzm = await read(await fileOf(format, [`${type} ZM ${both}`], 'XYZM'))
        assert.deepEqual(xyzm, { coordinates: high, count: 1 })
        const xyz = await read(await fileOf(format, [`${type} Z ${measured}`], 'XYZ'))
        assert.equal(xyz.count, undefined)
      })
    }
  })
}

test('measures in WKT, in hexadecimal WKB and in GeoJSON are told of', async () => {
  const csv = (cell: string) => `id,geom\n1,"${cell}"\n2,"POINT(1 2)"\n`
  for (const wkt of ['POINT M (1 2 5)', 'POINT M(1 2 5)', 'SRID=4326;POINTM(1 2 5)']) {
    assert.deepEqual(await read(csv(wkt)), { coordinates: [1, 2], count: 1 }, wkt)
  }
  assert.deepEqual(await read(csv('LINESTRING ZM (1 2 3 5, 3 4 3 6)')), {
    coordinates: [
      [1, 2, 3],
      [3, 4, 3],
    ],
    count: 1,
  })
  assert.deepEqual(await read(csv('POINT Z (1 2 3)')), { coordinates: [1, 2, 3], count: undefined })
  // ST_AsHEXEWKB of POINT M (1 2 5)
  const hex = '0101000040000000000000F03F00000000000000400000000000001440'
  assert.deepEqual(await read(csv(hex)), { coordinates: [1, 2], count: 1 })
  const geojson = (coordinates: number[]) =>
    JSON.stringify({ type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates } })
  assert.deepEqual(await read(geojson([1, 2, 3, 5])), { coordinates: [1, 2, 3], count: 1 })
  assert.deepEqual(await read(geojson([1, 2, 3])), { coordinates: [1, 2, 3], count: undefined })
})
