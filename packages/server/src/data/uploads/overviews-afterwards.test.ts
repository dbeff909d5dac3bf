import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { later } from '../../../testing/processes/clock.ts'
import { stays, until } from '../../../testing/until.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { ident, sql } from '../../kernel/db/sql.ts'

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp({ OVERVIEW_MIN_ROWS: '5000', TILE_MAX_BYTES: '5000000' })
})
after(() => uploads.close())

/** More than a tile shows. */
const rowCount = 24_000

const points = (name: string, generation = 0) => ({
  name: `${name}.csv`,
  bytes: `generation,lon,lat\n${Array.from({ length: rowCount }, (_, n) => `${generation},${n % 20},${n % 19}`).join('\n')}\n`,
})

/** Overviews wait until a table has been quiet for five seconds; for longer where this change is one of the future. */
async function holdOverviews(table: string, seconds = 0): Promise<void> {
  await uploads.app.db.query(sql`
    INSERT INTO svc.data_changes (schema_name, table_name, at)
    VALUES (${uploads.schema}, ${table}, clock_timestamp() + make_interval(secs => ${seconds}::float8))`)
}

const overviewsOf = async (id: string) => (await uploads.call('GET', `/api/v1/uploads/${id}`)).body.overviews

async function tile(id: string) {
  const headers = { 'x-api-key': uploads.tenant.developer }
  const { body } = await uploads.call('GET', `/tiles/${id}/index.json`)
  const version = new URL(body.tiles[0]).searchParams.get('tile-version')
  const reply = await fetch(`${uploads.address}/tiles/${id}/0/0/0.mvt`, { headers })
  assert.equal(reply.status, 200)
  await reply.arrayBuffer()
  return { version, features: reply.headers.get('x-tile-features'), etag: reply.headers.get('etag') }
}

const jobsOf = (datasetId: string) =>
  uploads.app.db.query(sql`SELECT id FROM svc.jobs WHERE queue = 'overviews' AND key = ${datasetId}`)

async function overviewTables(datasetId: string): Promise<string[]> {
  const prefix = `svc_ov_${datasetId.replaceAll('-', '')}_`
  const rows = await uploads.app.db.query<{ name: string }>(
    sql`SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND starts_with(relname, ${prefix})`,
  )
  return rows.map(({ name }) => name.slice(prefix.length)).sort()
}

test('an upload is completed before its overviews, which follow and change the version of its tiles', async () => {
  await holdOverviews('early', 10)
  const { id, datasetId, status } = await uploads.upload(points('early'))
  assert.equal(status, 'completed')
  assert.deepEqual(await overviewsOf(id), { status: 'pending', progress: 0 })
  const [row] = await uploads.rows(datasetId, 'attributes=count(*) as n')
  assert.equal(row.n, rowCount)
  const first = await tile(datasetId)
  assert.match(first.features ?? '', new RegExp(`/~?${rowCount}$`))
  await until(async () => (await overviewsOf(id)).status === 'built')
  assert.deepEqual(await overviewsOf(id), { status: 'built', progress: 1 })
  // Tile sources are cached for a second.
  later(1_000)
  const second = await tile(datasetId)
  assert.match(second.features ?? '', new RegExp(`^\\d+/${rowCount}$`))
  assert.ok(Number(second.features?.split('/')[0]) < rowCount)
  assert.notEqual(second.version, first.version)
  assert.notEqual(second.etag, first.etag)
})

test('small tables and tables without a map have no overviews', async () => {
  const small = await uploads.upload({ name: 'small.csv', bytes: 'lon,lat\n1,2\n' })
  assert.equal(small.overviews, null)
  const plain = await uploads.upload({ name: 'plain.csv', bytes: `n\n${'1\n'.repeat(6_000)}` })
  assert.equal(plain.overviews, null)
})

test('the overviews of a dataset that is deleted are not built any more', async () => {
  await holdOverviews('leaving')
  const { datasetId } = await uploads.upload(points('leaving'))
  assert.equal((await jobsOf(datasetId)).length, 1)
  assert.equal((await uploads.call('DELETE', `/api/v1/datasets/${datasetId}`)).status, 200)
  assert.deepEqual(await jobsOf(datasetId), [])
  await stays(async () => (await overviewTables(datasetId)).length === 0, 6_000)
})

test('data that are replaced while their overviews are built get overviews of their own', async () => {
  const { datasetId } = await uploads.upload(points('changing', 1))
  const again = await uploads.upload(points('changing', 2), { datasetId })
  assert.equal(again.status, 'completed', JSON.stringify(again.error))
  await until(async () => (await overviewsOf(again.id)).status === 'built')
  const [found] = await uploads.app.db.query<{ generations: number[] }>(sql`
    SELECT array_agg(DISTINCT generation::int4) AS generations
    FROM ${ident(uploads.schema, `svc_ov_${datasetId.replaceAll('-', '')}_0`)}`)
  assert.deepEqual(found?.generations, [2])
  assert.deepEqual(await jobsOf(datasetId), [])
  assert.ok((await overviewTables(datasetId)).every((part) => /^\d+$/.test(part)))
})
