import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// What a file has beyond the antimeridian is found by every box that holds the place. On both databases: the rows are moved by SQL.

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

type Shape = { readonly type: string; readonly coordinates: unknown }
type Row = { readonly geom: { readonly type: string; readonly coordinates: number[][][][] } | null }

async function upload(name: string, geometries: readonly (Shape | null)[]) {
  const features = geometries.map((geometry, n) => ({ type: 'Feature', properties: { n }, geometry }))
  const bytes = JSON.stringify({ type: 'FeatureCollection', features })
  const done = await uploads.upload({ name: `${name}.geojson`, bytes })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  const count = async (box: string) =>
    (await uploads.call('GET', `/api/v1/datasets/${done.datasetId}/query?limit=1000&filter[geom][$bbox]=${box}`)).body
      .length as number
  return { done, count, rows: (await uploads.rows(done.datasetId)) as Row[] }
}

test('points from 0 to 360 are found by the boxes of their halves, each once', async () => {
  const points = Array.from({ length: 100 }, (_, n) => ({ type: 'Point', coordinates: [n * 3.6 + 0.1, 10] }))
  const { done, count } = await upload('grid', points)
  assert.equal(await count('-180,-90,180,90'), 100)
  assert.equal(await count('0,-90,180,90'), 50)
  assert.equal(await count('-180,-90,0,90'), 50)
  const warning = done.warnings.find(({ code }: { code: string }) => code === 'wrapped_longitudes')
  assert.equal(warning?.count, 50)
  assert.match(warning?.message, /^50 rows have longitudes beyond 180 degrees/)
})

test('a preview says that longitudes would be moved', async () => {
  const bytes = 'lat,lon,name\n10.5,200.25,a\n11.5,10.25,b\n'
  const form = new FormData()
  form.set('file', new File([bytes], 'places.csv'))
  const { body } = await uploads.call('POST', '/api/v1/uploads?dryRun=true', { body: form })
  const codes = body.layers[0].warnings.map(({ code }: { code: string }) => code)
  assert.ok(codes.includes('wrapped_longitudes'), JSON.stringify(body))
})

test('lines and areas are cut at the antimeridian, or moved as a whole, and keep their heights', async () => {
  const square = (west: number, east: number) => [
    [
      [west, 0, 5],
      [east, 0, 5],
      [east, 10, 5],
      [west, 10, 5],
      [west, 0, 5],
    ],
  ]
  const { rows, count } = await upload('areas', [
    { type: 'Polygon', coordinates: square(170, 200) },
    { type: 'Polygon', coordinates: square(190, 200) },
    { type: 'Polygon', coordinates: square(-200, -190) },
    { type: 'Polygon', coordinates: square(10, 20) },
    null,
  ])
  const shapes = rows.map(({ geom }) => geom)
  assert.deepEqual(
    shapes.map((shape) => shape?.type ?? null),
    ['MultiPolygon', 'MultiPolygon', 'MultiPolygon', 'MultiPolygon', null],
  )
  assert.deepEqual(
    shapes.map((shape) => shape?.coordinates.length ?? 0),
    [2, 1, 1, 1, 0],
  )
  const longitudes = shapes.flatMap((shape) => shape?.coordinates.flat(2).map(([x = 0]) => x) ?? [])
  assert.ok(longitudes.every((x) => Math.abs(x) <= 180))
  assert.ok(shapes.flatMap((shape) => shape?.coordinates.flat(2) ?? []).every(([, , z]) => z === 5))
  assert.deepEqual([await count('175,1,176,2'), await count('-175,1,-174,2'), await count('165,1,167,2')], [1, 1, 1])
  assert.equal(await count('-165,1,-161,2'), 2)
})

test('what lies inside is left as it is, and of one line that crosses only that is in parts', async () => {
  const line = (...xs: number[]) => ({ type: 'LineString', coordinates: xs.map((x) => [x, x / 10]) })
  const inside = await upload('inside', [line(-180, 0, 180), line(1, 2)])
  assert.deepEqual(
    inside.rows.map(({ geom }) => geom?.type),
    ['LineString', 'LineString'],
  )
  assert.deepEqual(inside.done.warnings, [])
  const crossing = await upload('crossing', [line(175, 185), line(1, 2)])
  assert.deepEqual(
    crossing.rows.map(({ geom }) => geom?.coordinates.length),
    [2, 1],
  )
})

test('an edge that is beyond the antimeridian by an error of rounding is on it, and nothing is cut', async () => {
  const square = (west: number, east: number) => [
    [
      [west, 0],
      [east, 0],
      [east, 10],
      [west, 10],
      [west, 0],
    ],
  ]
  const { done, rows } = await upload('edges', [
    { type: 'Polygon', coordinates: square(-180.00000000000014, -170) },
    { type: 'Polygon', coordinates: square(170, 180.0000000001) },
  ])
  assert.deepEqual(
    rows.map(({ geom }) => geom),
    [
      { type: 'Polygon', coordinates: square(-180, -170) },
      { type: 'Polygon', coordinates: square(170, 180) },
    ],
  )
  assert.deepEqual(done.warnings, [])
})

test('beside rows that are moved, one that is beyond by an error of rounding is not cut', async () => {
  const square = (west: number, east: number) => [
    [
      [west, 0],
      [east, 0],
      [east, 10],
      [west, 10],
      [west, 0],
    ],
  ]
  const { done, rows } = await upload('mixed', [
    { type: 'Polygon', coordinates: square(170, 180.00000000000003) },
    { type: 'Polygon', coordinates: square(190, 200) },
  ])
  assert.deepEqual(rows[0]?.geom, { type: 'MultiPolygon', coordinates: [square(170, 180)] })
  assert.equal(done.warnings[0]?.count, 1)
})
