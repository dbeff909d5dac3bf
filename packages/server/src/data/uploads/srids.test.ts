import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// One database is enough: which system is meant is decided by the reader and the form; upload.test.ts transforms on both.

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

test('coordinates that cannot be degrees are refused where the file says that they are', async () => {
  const world = { crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } } }
  const done = await uploads.upload(pointAt([907, 534], world))
  assert.equal(done.error.code, 'srid_required')
  assert.match(done.error.message, /says that its coordinates are degrees, but they reach from 907, 534 to 907, 534\./)
  assert.deepEqual(await place(pointAt(swiss, world), { sourceSrid: '2056' }), bern)
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
