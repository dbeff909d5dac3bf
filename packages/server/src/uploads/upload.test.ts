import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { sql } from '../db/sql.ts'
import { until } from '../testing/until.ts'
import { type UploadApp, uploadApp } from '../testing/uploads.ts'

const run = promisify(execFile)
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

test('progress never falls, and comes with the stage', async () => {
  const { body } = await uploads.send(large(60_000))
  const seen: { progress: number; stage: string | null; status: string }[] = []
  for (let status = ''; !['completed', 'failed'].includes(status); ) {
    const { body: now } = await uploads.call('GET', `/api/v1/uploads/${body.id}`)
    status = now.status
    seen.push(now)
    await sleep(100)
  }
  assert.equal(seen.at(-1)?.status, 'completed')
  for (const [index, { progress }] of seen.entries()) assert.ok(progress >= (seen[index - 1]?.progress ?? 0))
  assert.ok(new Set(seen.map(({ stage }) => stage)).size > 2, JSON.stringify(seen))
})

test('waiting answers at the next change of status, and no later than was asked for', async () => {
  const { body } = await uploads.send(large(20_000))
  const wait = (seconds: number) =>
    uploads.call('GET', `/api/v1/uploads/${body.id}`, { headers: { prefer: `respond-async, wait=${seconds}` } })
  const begun = performance.now()
  const first = await wait(30)
  assert.notEqual(first.body.status, 'pending')
  assert.equal(first.headers.get('preference-applied'), 'wait=30')
  await uploads.ended(body.id)
  assert.ok(performance.now() - begun < 25_000)
  const again = performance.now()
  await wait(30)
  assert.ok(performance.now() - again < 5_000, 'what has ended does not change any more')
})

test('an upload that is cancelled stops within two seconds and leaves nothing', async () => {
  const { body } = await uploads.send(large(300_000))
  while ((await uploads.call('GET', `/api/v1/uploads/${body.id}`)).body.status === 'pending') await sleep(20)
  await sleep(Math.random() * 1_500)
  assert.equal((await uploads.call('DELETE', `/api/v1/uploads/${body.id}`)).status, 200)
  // The embedded database ends no statement before its time.
  assert.deepEqual(await uploads.leftovers(process.env.TEST_DATABASE_URL ? 2_000 : 15_000), [])
  const { body: now } = await uploads.call('GET', `/api/v1/uploads/${body.id}`)
  assert.equal(now.status, 'cancelled')
  assert.equal(now.datasetId, null)
})

test('an upload that is cancelled while GDAL reads it leaves no process behind', async () => {
  // Each process of GDAL has a directory of its own; the next one waits with an empty one.
  const places = join(uploads.directory, 'cache', 'gdal')
  const busyPlace = async () =>
    (await readdir(places).catch(() => [])).find((name) => existsSync(join(places, name, 'source', 'job')))
  const isRunning = async (place: string) => (await run('ps', ['-eo', 'args'])).stdout.includes(place)
  const member = '<gml:featureMember><a><gml:Point><gml:pos>1 2</gml:pos></gml:Point></a></gml:featureMember>'
  const gml = `<gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml">${member.repeat(50_000)}</gml:FeatureCollection>`
  const { body } = await uploads.send(file(gml, 'a.gml'))
  let place = ''
  await until(async () => {
    place = (await busyPlace()) ?? ''
    return place !== ''
  })
  assert.equal(await isRunning(place), true)
  assert.equal((await uploads.call('DELETE', `/api/v1/uploads/${body.id}`)).status, 200)
  assert.deepEqual(await uploads.leftovers(2_000), [])
  await until(async () => !((await isRunning(place)) || existsSync(join(places, place))), 2_000)
})

test('no more run at once than may, and the rest wait in order', async () => {
  const sent: string[] = []
  for (let n = 0; n < 5; n++) sent.push((await uploads.send(large(3_000))).body.id)
  let most = 0
  for (;;) {
    const { body } = await uploads.call('GET', `/api/v1/uploads?filter[status][$in]=pending,processing`)
    if (body.length === 0) break
    most = Math.max(most, body.filter(({ status }: { status: string }) => status === 'processing').length)
    await sleep(30)
  }
  assert.ok(most <= 2, `${most} at once`)
  const records = await Promise.all(sent.map((id) => uploads.ended(id)))
  const started = records.map(({ startedAt }) => Date.parse(startedAt))
  assert.deepEqual(
    started,
    started.toSorted((a, b) => a - b),
  )
})

test('no more may be unfinished than the limit says, and the next one is told to come later', async () => {
  const few = await uploadApp({ UPLOADS_WAITING_PER_APPLICATION: '2' })
  try {
    const tries = await Promise.all([1, 2, 3, 4].map(() => few.send(large(5_000))))
    const refused = tries.filter(({ status }) => status === 429)
    assert.equal(refused.length, 2, JSON.stringify(tries.map(({ status }) => status)))
    assert.equal(refused[0]?.body.code, 'busy')
    assert.match(refused[0]?.body.detail, /2 unfinished uploads/)
    assert.ok(refused[0]?.headers.get('retry-after'))
    for (const { status, body } of tries) if (status === 200) await few.ended(body.id)
    assert.equal((await few.upload(file(towns))).status, 'completed')
    assert.deepEqual(await few.leftovers(), [])
  } finally {
    await few.close()
  }
})

test('columns get names that work, and remember their own', async () => {
  const long = 'ä'.repeat(50)
  const names = [
    'fid',
    'geom',
    'Name',
    'name',
    'NAME',
    'select',
    'ctid',
    'a "b"; c',
    '',
    long,
    `${long}x`,
    "it's",
    '__proto__',
  ]
  const properties = Object.fromEntries(
    names.map((name, index) => [name, index]).filter(([name]) => name !== '__proto__'),
  )
  const done = await uploads.upload(file(collection([feature(properties, [1, 2])])))
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  const { body } = await uploads.call('GET', `/api/v1/datasets/${done.datasetId}`)
  const described = body.attributes.map((one: { name: string; description: string }) => [one.name, one.description])
  assert.deepEqual(described.slice(1, 10), [
    ['fid_2', 'fid'],
    ['geom_2', 'geom'],
    ['Name', ''],
    ['name_2', 'name'],
    ['NAME_3', 'NAME'],
    ['select', ''],
    ['ctid_2', 'ctid'],
    ['a_b_c', 'a "b"; c'],
    ['column', ''],
  ])
  assert.equal((await uploads.rows(done.datasetId))[0].a_b_c, 7)
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

test('a large table has its overview when it is published', async () => {
  const done = await uploads.upload(large(60_000))
  const [row] = await uploads.app.db.query<{ state: string; zooms: number[] }>(
    sql`SELECT state, zooms FROM svc.overviews WHERE dataset_id = ${done.datasetId}::uuid`,
  )
  assert.equal(row?.state, 'built')
  assert.ok((row?.zooms.length ?? 0) > 0)
  assert.deepEqual(await uploads.leftovers(), [])
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
