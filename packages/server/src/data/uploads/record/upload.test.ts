import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { until } from '../../../../testing/until.ts'
import { gdal } from '../../../../testing/uploads/source-layers.ts'
import { type UploadApp, uploadApp } from '../../../../testing/uploads.ts'
import { sql } from '../../../kernel/db/sql.ts'

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

const feature = (properties: object, coordinates: readonly number[]) => ({
  type: 'Feature',
  properties,
  geometry: { type: 'Point', coordinates },
})
const collection = (features: object[], rest: object = {}) =>
  JSON.stringify({ type: 'FeatureCollection', ...rest, features })
const towns = collection([
  feature({ name: 'Zürich', n: 1, Höhe: 408.5 }, [8.54, 47.37]),
  feature({ name: 'Bern', n: 2, Höhe: null }, [7.44, 46.95]),
])
const file = (bytes: string, name = 'towns.geojson') => ({ name, bytes })

/** So many points that loading them takes a while. */
function* manyPoints(count: number): Generator<string> {
  yield '{"type":"FeatureCollection","features":['
  for (let n = 0; n < count; n++) {
    const properties = `{"n":${n},"name":"number ${n}","more":"${'x'.repeat(200)}"}`
    const coordinates = `[${((n * 7919) % 36000) / 100 - 180},${((n * 104729) % 17000) / 100 - 85}]`
    yield `${n ? ',' : ''}{"type":"Feature","properties":${properties},"geometry":{"type":"Point","coordinates":${coordinates}}}`
  }
  yield ']}'
}
const large = (count: number) => file([...manyPoints(count)].join('\n'), 'large.geojson')

test('a GeoJSON file becomes a dataset and a tile source of the same id', async () => {
  const { status, body } = await uploads.send(file(towns), { attribution: 'Me', name: 'Towns!', description: 'Some' })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.fileName, 'towns.geojson')
  assert.deepEqual(body.error, {})
  const done = await uploads.ended(body.id)
  assert.equal(done.status, 'completed', JSON.stringify(done))
  assert.equal(done.featureCount, 2)
  assert.equal(done.progress, 1)
  assert.equal(done.tileSourceId, done.datasetId)
  const rows = await uploads.rows(done.datasetId)
  const first = { fid: 1, name: 'Zürich', n: 1, Höhe: 408.5, geom: { type: 'Point', coordinates: [8.54, 47.37] } }
  assert.deepEqual(rows[0], first)
  const { body: dataset } = await uploads.call('GET', `/api/v1/datasets/${done.datasetId}`)
  assert.equal(dataset.name, 'Towns!')
  assert.equal(dataset.description, 'Some')
  assert.equal(dataset.source, 'towns')
  const { body: source } = await uploads.call('GET', `/api/v1/tilesources/${done.tileSourceId}`)
  assert.equal(source.attribution, 'Me')
  assert.ok(source.extentLngLat[0] < 7.45 && source.extentLngLat[2] > 8.5)
  const tile = await fetch(`${uploads.address}/tiles/${done.tileSourceId}/0/0/0.mvt`, {
    headers: { 'x-api-key': uploads.tenant.developer },
  })
  assert.equal(tile.status, 200)
  assert.deepEqual(await uploads.leftovers(), [])
})

test('the record goes when it is deleted, and what it made stays', async () => {
  const done = await uploads.upload(file(towns))
  assert.equal((await uploads.call('DELETE', `/api/v1/uploads/${done.id}`)).status, 200)
  assert.equal((await uploads.call('GET', `/api/v1/uploads/${done.id}`)).status, 404)
  assert.equal((await uploads.rows(done.datasetId)).length, 2)
})

test('a large file shows its stages and a progress that never falls, and gets its overview', async () => {
  const { body } = await uploads.send(large(60_000))
  const seen: { progress: number; stage: string | null; status: string; datasetId: string; featureCount: number }[] = []
  await until(async () => {
    const { body: now } = await uploads.call('GET', `/api/v1/uploads/${body.id}`)
    seen.push(now)
    return ['completed', 'failed'].includes(now.status)
  })
  const done = seen.at(-1)
  assert.equal(done?.status, 'completed')
  for (const [index, { progress }] of seen.entries()) assert.ok(progress >= (seen[index - 1]?.progress ?? 0))
  assert.ok(new Set(seen.map(({ stage }) => stage)).size > 2, JSON.stringify(seen))
  // The rows so far, before all of them.
  const counts = seen.flatMap(({ featureCount }) => featureCount ?? [])
  assert.ok(
    counts.some((count) => count > 0 && count < 60_000),
    String(counts),
  )
  assert.equal(counts.at(-1), 60_000)
  const { id } = body
  await until(async () => (await uploads.call('GET', `/api/v1/uploads/${id}`)).body.overviews.status === 'built')
  const [row] = await uploads.app.db.query<{ zooms: number[] }>(
    sql`SELECT zooms FROM svc.overviews WHERE dataset_id = ${done.datasetId}::uuid`,
  )
  assert.ok((row?.zooms.length ?? 0) > 0)
  assert.deepEqual(await uploads.leftovers(), [])
})

test('waiting answers at the next change of status, and no later than was asked for', async () => {
  const { body } = await uploads.send(large(5_000))
  const wait = (seconds: number) =>
    uploads.call('GET', `/api/v1/uploads/${body.id}`, { headers: { prefer: `respond-async, wait=${seconds}` } })
  const first = await wait(30)
  assert.equal(first.headers.get('preference-applied'), 'wait=30')
  await uploads.ended(body.id)
  const again = performance.now()
  await wait(30)
  assert.ok(performance.now() - again < 25_000, 'what has ended does not change any more')
})

test('an upload that is cancelled stops within two seconds and leaves nothing', async () => {
  const { body } = await uploads.send(large(100_000))
  await until(async () => (await uploads.call('GET', `/api/v1/uploads/${body.id}`)).body.status !== 'pending')
  await sleep(Math.random() * 500)
  assert.equal((await uploads.call('DELETE', `/api/v1/uploads/${body.id}`)).status, 200)
  // On a busy machine two seconds are too short; the whole file would take longer by as much.
  assert.deepEqual(await uploads.leftovers(15_000), [])
  const { body: now } = await uploads.call('GET', `/api/v1/uploads/${body.id}`)
  assert.equal(now.status, 'cancelled')
  assert.equal(now.datasetId, null)
})

test('no more may be unfinished than the limit says, and the next one is told to come later', async () => {
  const few = await uploads.beside({ UPLOADS_WAITING_PER_APPLICATION: '2' })
  const tries = await Promise.all([1, 2, 3, 4].map(() => few.send(large(5_000))))
  const refused = tries.filter(({ status }) => status === 429)
  assert.equal(refused.length, 2, JSON.stringify(tries.map(({ status }) => status)))
  assert.equal(refused[0]?.body.code, 'busy')
  assert.match(refused[0]?.body.detail, /2 unfinished uploads/)
  const { limit, limitName } = refused[0]?.body ?? {}
  assert.deepEqual({ limit, limitName }, { limit: 2, limitName: 'unfinishedUploads' })
  assert.ok(refused[0]?.headers.get('retry-after'))
  for (const { status, body } of tries) if (status === 200) await few.ended(body.id)
  assert.equal((await few.upload(file(towns))).status, 'completed')
  assert.deepEqual(await few.leftovers(), [])
})

test('a small file that becomes a table larger than the quota fails while its rows are copied, and leaves nothing', async () => {
  const small = await uploads.beside({ STORAGE_PER_APPLICATION: '1000000' })
  const rows = Array.from({ length: 20_000 }, (_, n) => `name ${n},1,2`)
  const done = await small.upload({ name: 'a.csv.gz', bytes: gzipSync(`a,lon,lat\n${rows.join('\n')}\n`) })
  assert.equal(done.status, 'failed')
  assert.equal(done.error.code, 'storage_quota')
  assert.deepEqual(await small.leftovers(), [])
})

test('invalid areas are loaded, and counted in a warning', async () => {
  const at = (x: number, y: number, corners: number[][]) =>
    [...corners, corners[0]].map((corner) => [x + (corner?.[0] ?? 0), y + (corner?.[1] ?? 0)])
  const square = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
  ]
  const hole = square.map(([x = 0, y = 0]) => [x / 2 + 0.2, y / 2 + 0.2])
  const bowtie = [
    [0, 0],
    [1, 1],
    [1, 0],
    [0, 1],
  ]
  const area = (...rings: number[][][]) => ({
    type: 'Feature',
    properties: {},
    geometry: { type: 'Polygon', coordinates: rings },
  })
  const features = Array.from({ length: 100 }, (_, index) => {
    if (index % 25 === 3) return area(at(index, 10, bowtie))
    return index % 10 === 0 ? area(at(index, 10, square), at(index, 10, hole)) : area(at(index, 10, square))
  })
  for (const targetSrid of ['4326', '3857']) {
    const done = await uploads.upload(file(collection(features)), { targetSrid })
    assert.equal(done.status, 'completed')
    assert.equal(done.featureCount, 100)
    assert.deepEqual(
      done.warnings.map(({ code, count }: { code: string; count: number }) => [code, count]),
      [['invalid_geometry', 4]],
    )
  }
})

test('systems that are related by grids are read where there are no grids', async () => {
  const done = await uploads.upload(file(collection([feature({}, [491_000, 5_459_000])])), { sourceSrid: '26910' })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  const [{ geom }] = await uploads.rows(done.datasetId)
  assert.deepEqual(
    geom.coordinates.map((x: number) => x.toFixed(3)),
    ['-123.124', '49.284'],
  )
})

test('many places in a system of which only the text is known are moved in seconds, and nothing is left of it', async (t) => {
  const count = 5_000
  const directory = await mkdtemp(join(tmpdir(), 'graticule-srid-'))
  t.after(() => rm(directory, { recursive: true }))
  const path = (name: string) => join(directory, name)
  const features = Array.from({ length: count }, (_, n) => feature({ n }, [(n % 100) / 5, 40 + n / 500]))
  await writeFile(path('in.geojson'), collection(features))
  await gdal('ogr2ogr', ['-f', 'ESRI Shapefile', '-t_srs', 'EPSG:3035', path('places.shz'), path('in.geojson')])
  const done = await uploads.upload({ name: 'places.zip', bytes: await readFile(path('places.shz')) })
  assert.deepEqual([done.status, done.featureCount], ['completed', count], JSON.stringify(done.error))
  const rows = await uploads.rows(done.datasetId, 'sort=-fid')
  assert.equal(rows.length, 1_000)
  for (const { n, geom } of rows) {
    const [x, y] = geom.coordinates
    assert.ok(Math.abs(x - (n % 100) / 5) < 1e-6 && Math.abs(y - 40 - n / 500) < 1e-6, JSON.stringify([n, geom]))
  }
  const left = await uploads.app.db.query(sql`SELECT srid FROM spatial_ref_sys WHERE auth_name = 'graticule'`)
  assert.deepEqual(left, [])
})

test('another tenant sees nothing of an upload, and cannot put data into a dataset that is not its own', async () => {
  const done = await uploads.upload(file(towns))
  const other = await uploads.app.tenant('other')
  assert.equal((await uploads.call('GET', `/api/v1/uploads/${done.id}`, {}, other.developer)).status, 404)
  assert.equal((await uploads.call('DELETE', `/api/v1/uploads/${done.id}`, {}, other.developer)).status, 404)
  assert.deepEqual((await uploads.call('GET', '/api/v1/uploads', {}, other.developer)).body, [])
  const reply = await uploads.send(file(towns), { datasetId: done.datasetId }, other.developer)
  assert.equal(reply.status, 404)
  const absent = await uploads.send(file(towns), { datasetId: randomUUID() }, other.developer)
  assert.equal(absent.body.detail, reply.body.detail)
  const reader = await uploads.app.key(uploads.tenant.id, { '*': { '*': '*' }, datasets: { write: [] } })
  assert.equal((await uploads.send(file(towns), { datasetId: done.datasetId }, reader)).status, 401)
})
