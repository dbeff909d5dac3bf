import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../db/sql.ts'
import { type UploadApp, uploadApp } from '../testing/uploads.ts'
import { gdal } from './testing/source-layers.ts'

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

const crs = { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::2056' } }
const swiss = [2_600_000, 1_200_000]
const bern = ['7.439', '46.951']

const pointAt = (coordinates: readonly number[], rest: object = {}) => {
  const features = [{ type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates } }]
  return { name: 'point.geojson', bytes: JSON.stringify({ type: 'FeatureCollection', ...rest, features }) }
}

/** Where the point is when it is loaded, or why it is not. */
async function place(file: ReturnType<typeof pointAt>, fields: Record<string, string> = {}) {
  const done = await uploads.upload(file, fields)
  return done.error.code ?? (await uploads.rows(done.datasetId))[0].geom.coordinates.map((x: number) => x.toFixed(3))
}

test('what the client says goes before what the file says', async () => {
  assert.deepEqual(await place(pointAt(swiss, { crs })), bern)
  assert.deepEqual(await place(pointAt([600_000, 200_000], { crs }), { sourceSrid: '21781' }), bern)
})

test('a system that nobody names is not guessed, nor one that is not known', async () => {
  assert.equal(await place(pointAt(swiss)), 'srid_required')
  assert.equal(await place(pointAt(swiss), { sourceSrid: '999' }), 'srid_unknown')
})

test('systems that are related by grids are read where there are no grids', async () => {
  const vancouver = await place(pointAt([491_000, 5_459_000]), { sourceSrid: '26910' })
  assert.deepEqual(vancouver, ['-123.124', '49.284'])
})

test('many places in a system of which only the text is known are moved in seconds, and nothing is left of it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-srid-'))
  const count = 5_000
  try {
    const features = Array.from({ length: count }, (_, n) => ({
      type: 'Feature',
      properties: { n },
      geometry: { type: 'Point', coordinates: [(n % 100) / 5, 40 + n / 500] },
    }))
    await writeFile(join(directory, 'in.geojson'), JSON.stringify({ type: 'FeatureCollection', features }))
    const path = (name: string) => join(directory, name)
    await gdal('ogr2ogr', ['-f', 'ESRI Shapefile', '-t_srs', 'EPSG:3035', path('places.shz'), path('in.geojson')])
    const started = performance.now()
    const done = await uploads.upload({ name: 'places.zip', bytes: await readFile(path('places.shz')) })
    assert.deepEqual([done.status, done.featureCount], ['completed', count], JSON.stringify(done.error))
    assert.ok(performance.now() - started < 30_000)
    const rows = await uploads.rows(done.datasetId, 'sort=-fid')
    for (const { n, geom } of rows) {
      const [x, y] = geom.coordinates
      assert.ok(Math.abs(x - (n % 100) / 5) < 1e-6 && Math.abs(y - 40 - n / 500) < 1e-6, JSON.stringify([n, geom]))
    }
    const left = await uploads.app.db.query(sql`SELECT srid FROM spatial_ref_sys WHERE auth_name = 'graticule'`)
    assert.deepEqual(left, [])
  } finally {
    await rm(directory, { recursive: true })
  }
})

for (const targetSrid of [3857, 21781]) {
  test(`coordinates are brought to ${targetSrid} when that is wanted, and the map is where they are`, async () => {
    const done = await uploads.upload(pointAt(swiss, { crs }), { targetSrid: String(targetSrid) })
    assert.equal(done.status, 'completed', JSON.stringify(done.error))
    await assertSrid(done.datasetId, targetSrid)
  })
}

async function assertSrid(id: string, srid: number): Promise<void> {
  const { body: dataset } = await uploads.call('GET', `/api/v1/datasets/${id}`)
  assert.equal(dataset.attributes.find(({ name }: { name: string }) => name === 'geom').srid, srid)
  const { body: source } = await uploads.call('GET', `/api/v1/tilesources/${id}`)
  assert.ok(Math.abs(source.extentLngLat[0] - 7.439) < 0.01, String(source.extentLngLat))
  const key = { 'x-api-key': uploads.tenant.developer }
  assert.equal((await fetch(`${uploads.address}/tiles/${id}/0/0/0.mvt`, { headers: key })).status, 200)
}
