import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { later } from '../../../../testing/processes/clock.ts'
import { immediateClient, type SentAnswer } from '../../../../testing/requests/immediate.ts'
import { type TileApp, tileApp, valuesOf } from '../../../../testing/tiles.ts'
import { until } from '../../../../testing/until.ts'
import { createRandom } from '../../../../testing/uploads/random.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { listen } from '../../../kernel/events.ts'

// Only a server is spoken to by connections that carry several queries.
const skip = process.env.TEST_DATABASE_URL === undefined ? 'needs a PostgreSQL server' : false
const random = createRandom(Number(process.env.TEST_SEED ?? 1))

/** Tables around 10°E 50°N, and one across the date line. */
type Table = {
  geometry: string
  where: readonly [x: number, y: number]
  /** Has an overview, for its crowded tiles. */
  isCrowded?: true
}
const tables: Record<string, Table> = {
  points: { geometry: 'ST_Point(x, y, 4326)::geometry(Point, 4326)', where: [10, 50] },
  metres: { geometry: 'ST_Transform(ST_Point(x, y, 4326), 3857)::geometry(Point, 3857)', where: [10, 50] },
  utm: { geometry: 'ST_Transform(ST_Point(x, y, 4326), 25832)::geometry(Point, 25832)', where: [10, 50] },
  geography: { geometry: 'ST_Point(x, y, 4326)::geography(Point, 4326)', where: [10, 50] },
  lines: { geometry: 'ST_MakeLine(ST_Point(x, y, 4326), ST_Point(x + 0.3, y + 0.1, 4326))', where: [10, 50] },
  areas: { geometry: 'ST_Buffer(ST_Point(x, y, 4326), 0.05)::geometry(Polygon, 4326)', where: [10, 50] },
  sparse: { geometry: 'CASE WHEN n % 3 > 0 THEN ST_Point(x, y, 4326) END::geometry(Point, 4326)', where: [10, 50] },
  far: {
    geometry: 'ST_Point(CASE WHEN x > 180 THEN x - 360 ELSE x END, y, 4326)::geometry(Point, 4326)',
    where: [179.5, 0],
  },
  overview: { geometry: 'ST_Point(x, y, 4326)::geometry(Point, 4326)', where: [10, 50], isCrowded: true },
}
const rowsOf = ({ isCrowded }: Table): number => (isCrowded ? 12_000 : 400)

describe('a small tile that is like others of the last second', { skip }, () => {
  let maps: TileApp
  let client: Awaited<ReturnType<typeof immediateClient>>
  const sources: Record<string, string> = {}

  before(async () => {
    maps = await tileApp({ TILE_CACHE_MB: '0', OVERVIEW_MIN_ROWS: '5000' })
    for (const [name, table] of Object.entries(tables)) {
      const { geometry, where, isCrowded } = table
      const places = isCrowded ? 12_007 : 1_009
      await maps.script(`
        CREATE TABLE ${name} AS SELECT n AS id, 'row ' || n % 7 AS name, n * 1.5 AS share, n::numeric / 3 AS exact, n % 2 = 0 AS even,
          ${geometry} AS geom
        FROM (SELECT n, ${where[0]} + (n * 7919 % ${places} - ${places / 2}) / ${places / 2}::float8 AS x, ${where[1]} + (n * 104729 % ${places} - ${places / 2}) / ${places / 2}::float8 AS y
          FROM generate_series(1, ${rowsOf(table)}) n) AS places;
        ALTER TABLE ${name} ADD PRIMARY KEY (id); CREATE INDEX ON ${name} USING gist (geom); ANALYZE ${name}`)
      const dataset = await maps.dataset({ source: name, name })
      const metadata = { tiles: isCrowded ? { maxFeatures: 150 } : {} }
      sources[name] = await maps.tileSource({ source: dataset, maxZoom: 16, metadata })
      if (isCrowded) await overviewOf(dataset, sources[name])
    }
    client = await immediateClient(maps.app.http)
  })
  after(async () => {
    client?.close()
    await maps?.close()
  })

  /** The first tile asks for it. */
  const overviewOf = (dataset: string, source: string): Promise<void> =>
    until(async () => {
      await maps.get(`/tiles/${source}/6/33/21.mvt`)
      const [record] = await maps.app.db.query<{ state: string }>(
        sql`SELECT state FROM svc.overviews WHERE dataset_id = ${dataset}::uuid`,
      )
      return record?.state === 'built'
    })

  const keyed = (accept = 'identity') => ({ 'x-api-key': maps.tenant.developer, 'accept-encoding': accept })

  function placeIn(name: string, z: number): string {
    const [longitude, latitude] = tables[name]?.where ?? [0, 0]
    const size = 2 ** z
    const sine = Math.sin((latitude * Math.PI) / 180)
    const x = ((longitude + 180) / 360) * size
    const y = (0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * size
    const around = (at: number) => Math.floor((at + (random() - 0.5) * Math.max(2, size / 180) + size) % size)
    return `${z}/${around(x)}/${around(y)}`
  }

  for (const name of Object.keys(tables))
    test(`of ${name} has the status, headers and bytes that the usual way gives it`, async (t) => {
      let quick = 0
      let quickFar = 0
      for (let n = 0; n < 60; n++) {
        const path = `/tiles/${sources[name]}/${placeIn(name, 6 + (n % 6))}.mvt`
        const headers = keyed(['identity', 'gzip', 'br', 'zstd'][n % 4])
        const usual = await client.throughFramework(path, headers)
        const { isImmediate, ...sent } = await client.ask(path, headers)
        assert.deepEqual(sent, usual, path)
        if (isImmediate) quick++
        if (isImmediate && sent.status === 200 && n % 6 === 0) quickFar++
      }
      t.diagnostic(`${quick} of 60 without the framework`)
      assert.ok(quick >= 20, `only ${quick} of 60 took the short cut`)
      if (tables[name]?.isCrowded) assert.ok(quickFar > 0, 'no tile of the overview took the short cut')
    })

  /** A tile of the source that takes the short cut now: where the machine was slow a moment ago, those around it do not. */
  async function quickPath(source: string | undefined): Promise<string> {
    for (const end = performance.now() + 100_000; performance.now() < end; ) {
      const path = `/tiles/${source}/${placeIn('points', 6 + Math.floor(random() * 6))}.mvt`
      for (let n = 0; n < 4; n++) {
        const { isImmediate, status } = await client.ask(path, keyed())
        if (isImmediate && status === 200) return path
      }
    }
    throw new Error('No tile took the short cut')
  }

  test('is asked of the database once for all who want it at the same time, and counted for each', async () => {
    const path = await quickPath(sources.points)
    const round = async (): Promise<number> => {
      const heard = { made: 0, served: 0 }
      const stop = [listen('tileMade', () => heard.made++), listen('tile', () => heard.served++)]
      const asked = await Promise.all(
        Array.from({ length: 12 }, () => fetch(`${client.address}${path}`, { headers: keyed() })),
      )
      const bodies = await Promise.all(asked.map(async (one) => Buffer.from(await one.arrayBuffer()).toString('hex')))
      for (const end of stop) end()
      assert.equal(new Set(bodies).size, 1)
      assert.equal(heard.served, 12)
      return heard.made
    }
    // On a busy machine requests may come one after the other.
    await until(async () => (await round()) < 12)
  })

  test('shows a row that was added, and takes a limit of its source into account, as soon as the usual way does', async () => {
    const path = await quickPath(sources.points)
    const ask = () => client.overSocket(path, keyed())
    const sees = async (isThere: (answer: SentAnswer) => boolean): Promise<void> => {
      for (const end = performance.now() + 20_000; performance.now() < end; ) if (isThere(await ask())) return
      assert.fail('the tile stayed as it was')
    }
    const [id] = valuesOf({ rawPayload: (await ask()).body })
    await maps.script(`INSERT INTO points SELECT 100000, 'new', 1, 1, true, geom FROM points WHERE id = ${id}`)
    await sees(({ body }) => valuesOf({ rawPayload: body }).includes(100_000))
    const body = { metadata: { tiles: { maxFeatures: 1 } } }
    const key = maps.tenant.developer
    const patched = await maps.app.call('PATCH', `/api/v1/tilesources/${sources.points}`, { key, body })
    assert.equal(patched.status, 200, patched.text)
    await sees(({ headers }) => String(headers['x-tile-features']).startsWith('1/'))
  })

  test('that the database does not make in time is made by a thread, and the others that the connection carried are made', async () => {
    await maps.script(`
      CREATE TABLE pace (seconds float8); INSERT INTO pace VALUES (0);
      CREATE FUNCTION slowly() RETURNS text LANGUAGE sql VOLATILE SECURITY DEFINER
        AS 'SELECT pg_sleep(seconds)::text FROM ${maps.schema}.pace';
      CREATE VIEW slow AS SELECT id, geom, slept FROM points, (SELECT slowly() AS slept) AS once`)
    const slow = await maps.tileSource({ source: await maps.dataset({ source: 'slow', name: 'slow' }), maxZoom: 16 })
    const slowPath = await quickPath(slow)
    const path = await quickPath(sources.metres)
    await maps.script('UPDATE pace SET seconds = 1.2')
    const ask = (one: string) => fetch(`${client.address}${one}`, { headers: keyed() })
    const others = Array.from({ length: 4 }, () => ask(path))
    const answers = await Promise.all([ask(slowPath), ...others])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    )
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  })

  test('is made like one of the minute before, though its source is loaded anew each second', async () => {
    const path = await quickPath(sources.utm)
    const heard: boolean[] = []
    for (let n = 0; n < 4; n++) {
      later(1_000)
      // Another zoom loads the source.
      await client.ask(`/tiles/${sources.utm}/${placeIn('utm', 13)}.mvt`, keyed())
      heard.push((await client.ask(path, keyed())).isImmediate)
    }
    assert.ok(heard.some(Boolean), 'what was kept went with the source')
  })

  test('is refused to a key that was deleted, and to one of another application', async () => {
    const path = await quickPath(sources.metres)
    const body = { type: 'app', permissions: { '*': { '*': '*' } } }
    const { body: made } = await maps.app.call('POST', '/api/v1/apikeys', { key: maps.tenant.developer, body })
    assert.equal((await client.overSocket(path, { 'x-api-key': made.id })).status, 200)
    await maps.app.call('DELETE', `/api/v1/apikeys/${made.id}`, { key: maps.tenant.developer })
    assert.equal((await client.overSocket(path, { 'x-api-key': made.id })).status, 401)
    const stranger = await maps.app.tenant('strangers')
    assert.equal((await client.overSocket(path, keyed())).status, 200)
    assert.equal((await client.overSocket(path, { 'x-api-key': stranger.developer })).status, 404)
  })

  test('is made for the others after a client has left', async () => {
    const path = await quickPath(sources.metres)
    const leaving = new AbortController()
    const left = fetch(`${client.address}${path}`, { headers: keyed(), signal: leaving.signal })
    leaving.abort()
    await assert.rejects(left)
    assert.equal((await client.overSocket(path, keyed())).status, 200)
  })
})
