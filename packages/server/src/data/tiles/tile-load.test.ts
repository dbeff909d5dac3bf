import assert from 'node:assert/strict'
import { Agent, get as httpGet } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type TileApp, tileApp } from '../../../testing/tiles.ts'
import { stays, until } from '../../../testing/until.ts'
import { sql } from '../../kernel/db/sql.ts'

const isPostgres = process.env.TEST_DATABASE_URL !== undefined
const skip = isPostgres ? false : 'embedded there is one session'

let maps: TileApp
let port: number
let slow: string
before(async () => {
  if (!isPostgres) return
  // Nothing is kept: what is asked once is asked once because it is asked at the same time.
  maps = await tileApp({ TILE_CACHE_MB: '0' })
  await maps.script(`
    CREATE FUNCTION slowly(seconds float8) RETURNS text LANGUAGE sql VOLATILE SECURITY DEFINER AS $$ SELECT pg_sleep(seconds)::text || seconds $$;
    CREATE VIEW naps AS SELECT ms, slowly(ms / 1000.0) AS slept FROM generate_series(0, 21000) ms;
    CREATE TABLE places (id int PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO places VALUES (1, ST_Point(6, 50, 4326))`)
  slow = await maps.dataset({
    type: 'sql',
    // SQL may call no functions of its author's; a view may.
    source: 'SELECT id, geom, slept FROM places, naps WHERE ms = (:seconds * 1000)::int',
    metadata: { parameters: [{ name: 'seconds', type: 'number', default: 0 }] },
  })
  await maps.app.http.listen({ port: 0, host: '127.0.0.1' })
  port = (maps.app.http.server.address() as AddressInfo).port
})
after(() => maps?.close())

/** Tile queries that the database is busy with: who runs each, and since when. */
async function queries(): Promise<string[]> {
  const rows = await maps.app.admin.query<{ query: string }>(sql`
    SELECT pid || ' ' || query_start AS query FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'graticule tiles' AND state = 'active' AND query LIKE '%naps%'`)
  return rows.map(({ query }) => query)
}

const running = async (): Promise<number> => (await queries()).length

function ask(rest: string) {
  const agent = new Agent()
  const headers = { 'x-api-key': maps.tenant.developer }
  const request = httpGet({ port, host: '127.0.0.1', path: `/tiles/${slow}/${rest}`, headers, agent })
  const status = new Promise<number>((resolve, reject) => {
    request.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', reject)
  })
  status.catch(() => undefined)
  return { status, leave: () => request.destroy() }
}

describe('a hundred clients that want the same tile', { skip }, () => {
  test('cost one query, also when nothing is kept', async () => {
    assert.equal((await maps.get(`/tiles/${slow}/0/0/0.mvt`)).statusCode, 200)
    // Each of them sleeps for a second, so that one after the other they would be seen as well.
    const seen = new Set<string>()
    let isDone = false
    const watch = (async () => {
      while (!isDone) for (const query of await queries()) seen.add(query)
    })()
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        maps.get(`/tiles/${slow}/0/0/0.mvt?seconds=1`, { 'accept-encoding': index % 2 ? 'gzip' : 'br' }),
      ),
    )
    isDone = true
    await watch
    assert.ok(replies.every(({ statusCode }) => statusCode === 200))
    assert.equal(seen.size, 1)
  })

  test('end the query when the last of them leaves, and not before', async () => {
    const clients = [ask('0/0/0.mvt?seconds=20'), ask('0/0/0.mvt?seconds=20'), ask('0/0/0.mvt?seconds=20')]
    await until(async () => (await running()) === 1)
    clients[0]?.leave()
    clients[1]?.leave()
    await stays(async () => (await running()) === 1, 300)
    clients[2]?.leave()
    const left = performance.now()
    await until(async () => (await running()) === 0)
    assert.ok(performance.now() - left < 15_000)
  })

  test('end an explanation too when they leave', async () => {
    const client = ask('0/0/0.mvt?seconds=20&explain=true')
    await until(async () => (await running()) === 1)
    client.leave()
    await until(async () => (await running()) === 0)
  })

  test('get their tile although the first of them has left', async () => {
    const first = ask('0/0/0.mvt?seconds=1.5')
    const second = ask('0/0/0.mvt?seconds=1.5')
    await until(async () => (await running()) === 1)
    await stays(async () => (await running()) === 1, 200)
    first.leave()
    assert.equal(await second.status, 200)
  })
})

describe('more than can be made', { skip }, () => {
  test('is refused with 503 and Retry-After, and afterwards everything works again', async () => {
    const other = await maps.app.tenant('neighbour')
    const source = 'SELECT 1 AS id, ST_Point(6, 50, 4326) AS geom'
    const theirs = await maps.dataset({ type: 'sql', source }, other.developer)
    const clients = Array.from({ length: 600 }, (_, index) => ask(`0/0/0.mvt?seconds=${10 + index / 1000}`))
    await Promise.any(clients.map(async ({ status }) => assert.equal(await status, 503)))
    const reply = await maps.get(`/tiles/${slow}/0/0/0.mvt?seconds=9`)
    assert.equal(reply.statusCode, 503)
    assert.match(String(reply.headers['retry-after']), /^\d+$/)
    const neighbour = await maps.get(`/tiles/${theirs}/0/0/0.mvt`, {}, other.developer)
    assert.equal(neighbour.statusCode, 200, 'another application does not notice')
    for (const { leave } of clients) leave()
    await until(async () => (await running()) === 0)
    await until(async () => (await maps.get(`/tiles/${slow}/0/0/0.mvt`)).statusCode === 200)
  })
})
