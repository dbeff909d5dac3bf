import assert from 'node:assert/strict'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { later } from '../../../testing/processes/clock.ts'
import { immediateClient } from '../../../testing/requests/immediate.ts'
import { pmtilesOf, pyramid } from '../../../testing/tile-archives.ts'
import { type TileApp, tileApp } from '../../../testing/tiles.ts'
import { listen } from '../../kernel/events.ts'

// One database is enough: it is about what is sent from memory.

let maps: TileApp
let client: Awaited<ReturnType<typeof immediateClient>>
let paths: { points: string; archive: string; basemap: string }

before(async () => {
  maps = await tileApp({ TRUST_PROXY: 'true' })
  await maps.script(`
    CREATE TABLE places (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
    INSERT INTO places SELECT g, 'place number ' || g, ST_Point(g % 60, g % 50, 4326) FROM generate_series(1, 300) g`)
  const files = join(maps.directory, 'files', maps.tenant.id)
  await mkdir(files, { recursive: true })
  const bounds = [-180, -85, 180, 85]
  await writeFile(join(files, 'world.pmtiles'), pmtilesOf(pyramid(3), { bounds }))
  const source = await maps.dataset({ source: 'places' })
  const extent = { minZoom: 0, maxZoom: 6, extentLngLat: [0, 0, 60, 50] }
  const points = await maps.tileSource({ source, ...extent, headers: { 'x-origin': 'here' } })
  const archive = await maps.tileSource({ type: 'tilelive', source: 'pmtiles://world.pmtiles' })
  paths = { points: `/tiles/${points}/0/0/0`, archive: `/tiles/${archive}/1/1/0`, basemap: '/tiles/basemap/0/0/0' }
  client = await immediateClient(maps.app.http)
})
after(async () => {
  client.close()
  await maps.close()
})

const keyed = (): Record<string, string> => ({ 'x-api-key': maps.tenant.developer })

describe('a tile from memory', () => {
  const requests: [what: string, headers: Record<string, string>, query: string][] = [
    ['plain', {}, ''],
    ['compressed', { 'accept-encoding': 'gzip' }, ''],
    ['behind a proxy with https', { 'x-forwarded-proto': 'https' }, ''],
    ['of a version', {}, '?tile-version=other&v=1'],
    ['that the client has', { 'if-none-match': '*' }, ''],
    ['that the client does not have', { 'if-none-match': '"other"' }, ''],
  ]
  for (const [what, headers, query] of requests) {
    test(`${what} has the same status, headers and bytes before and behind the framework`, async () => {
      for (const path of Object.values(paths)) {
        const url = `${path}.pbf${query}`
        const all = { ...keyed(), ...headers }
        const usual = await client.throughFramework(url, all)
        assert.ok(usual.status < 400, `${usual.body}`)
        assert.deepEqual(await client.immediately(url, all), usual)
      }
    })
  }

  test('with a current version may be kept, before and behind the framework', async () => {
    const described = await client.throughFramework(paths.points.replace('/0/0/0', '/index.json'), keyed())
    const [template] = JSON.parse(described.body.toString()).tiles as [string]
    const url = `${paths.points}.pbf${new URL(template).search}`
    const sent = await client.immediately(url, keyed())
    assert.equal(sent.headers['cache-control'], 'private, max-age=3600')
    assert.deepEqual(sent, await client.throughFramework(url, keyed()))
  })

  test('keeps the request id that the client gives, and gets one otherwise', async () => {
    await client.immediately(`${paths.points}.pbf`, keyed())
    const reply = await fetch(`${client.address}${paths.points}.pbf`, {
      headers: { ...keyed(), 'x-request-id': 'id-of-the-client' },
    })
    assert.equal(reply.headers.get('x-request-id'), 'id-of-the-client')
    const other = await fetch(`${client.address}${paths.points}.pbf`, { headers: keyed() })
    assert.match(other.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  })

  test('is counted once as a request and once as a cached tile', async () => {
    const heard: unknown[] = []
    const stop = [
      listen('request', ({ operation, status }) => heard.push([operation, status])),
      listen('tile', (event) => heard.push(event)),
    ]
    try {
      await client.immediately(`${paths.points}.pbf`, keyed())
      heard.length = 0
      await client.immediately(`${paths.points}.pbf`, keyed())
    } finally {
      for (const end of stop) end()
    }
    assert.deepEqual(heard.slice(-2), [{ of: 'dataset', isCached: true }, ['tiles.tile', 200]])
  })

  test('has a body for GET only', async () => {
    await client.immediately(`${paths.points}.pbf`, keyed())
    const sent = await client.overSocket(`${paths.points}.pbf`, keyed(), 'HEAD')
    assert.equal(sent.status, 200)
    assert.equal(sent.body.length, 0)
  })
})

describe('a tile of an archive that is not cached', () => {
  let uncached: TileApp
  let own: typeof client
  let id: string
  before(async () => {
    uncached = await tileApp({ TILE_CACHE_MB: '0' })
    const files = join(uncached.directory, 'files', uncached.tenant.id)
    await mkdir(files, { recursive: true })
    await writeFile(join(files, 'world.pmtiles'), pmtilesOf(pyramid(3).slice(0, -1)))
    id = await uncached.tileSource({
      type: 'tilelive',
      source: 'pmtiles://world.pmtiles',
      minZoom: 0,
      maxZoom: 5,
      extentLngLat: [-180, -85, 180, 85],
    })
    own = await immediateClient(uncached.app.http)
  })
  after(async () => {
    own.close()
    await uncached.close()
  })

  const ask = (tile: string) =>
    own.ask(`/tiles/${id}/${tile}.pbf`, { 'x-api-key': uncached.tenant.developer, 'accept-encoding': 'gzip' })

  test('is read at once when it was read a moment ago, with the same answer', async () => {
    for (const tile of ['0/0/0', '2/1/1', '2/3/3', '5/0/0']) {
      const { isImmediate: _, ...first } = await ask(tile)
      let again = await ask(tile)
      for (let attempt = 0; attempt < 10 && !again.isImmediate; attempt++) again = await ask(tile)
      assert.deepEqual(again, { ...first, isImmediate: true }, tile)
    }
  })

  test('comes from the new file within two seconds after it was replaced', async () => {
    const { body: before } = await ask('1/1/0')
    const file = join(uncached.directory, 'files', uncached.tenant.id, 'world.pmtiles')
    const other = pyramid(3).map((tile) => ({ ...tile, bytes: Buffer.from('another tile') }))
    await writeFile(`${file}.new`, pmtilesOf(other))
    await rename(`${file}.new`, file)
    later(2_000)
    // The check of the file is under way when the first request after a second is answered. It reads one directory entry: a few requests
    // later it has ended, however busy the machine is.
    const bodies: unknown[] = []
    for (let asked = 0; asked < 10; asked++) bodies.push((await ask('1/1/0')).body)
    assert.notDeepEqual(bodies.at(-1), before)
  })
})

describe('a tile in memory is refused', () => {
  const refused: [what: string, status: number, path: () => string, headers: () => Record<string, string>][] = [
    ['without a key', 401, () => `${paths.points}.pbf`, () => ({})],
    ['with an unknown key', 401, () => `${paths.points}.pbf`, () => ({ 'x-api-key': crypto.randomUUID() })],
    ['with two different keys', 401, () => `${paths.points}.pbf?api-key=${crypto.randomUUID()}`, keyed],
    ['with an unknown parameter', 400, () => `${paths.points}.pbf?colour=red`, keyed],
    ['in a form that the source does not have', 404, () => `${paths.points}.png`, keyed],
    ['outside the grid', 400, () => paths.points.replace('/0/0/0', '/0/1/0.pbf'), keyed],
    ['above the highest zoom', 404, () => paths.points.replace('/0/0/0', '/7/0/0.pbf'), keyed],
  ]
  for (const [what, status, path, headers] of refused) {
    test(what, async () => {
      await client.immediately(`${paths.points}.pbf`, keyed())
      assert.equal((await client.overSocket(path(), headers())).status, status)
    })
  }

  test('with a method that it does not have', async () => {
    await client.immediately(`${paths.points}.pbf`, keyed())
    for (const method of ['POST', 'DELETE'])
      assert.equal((await client.overSocket(`${paths.points}.pbf`, keyed(), method)).status, 405, method)
  })

  test('to a key of another application, as if it did not exist', async () => {
    await client.immediately(`${paths.points}.pbf`, keyed())
    const stranger = await maps.app.tenant('strangers')
    const ask = () => client.overSocket(`${paths.points}.pbf`, { 'x-api-key': stranger.developer })
    for (let attempt = 0; attempt < 3; attempt++) assert.equal((await ask()).status, 404)
  })

  test('at once to a key that was deleted here', async () => {
    const body = { type: 'app', permissions: { '*': { '*': '*' } } }
    const made = await maps.app.call('POST', '/api/v1/apikeys', { key: maps.tenant.developer, body })
    const key = made.body.id as string
    await client.immediately(`${paths.points}.pbf`, { 'x-api-key': key })
    await maps.app.call('DELETE', `/api/v1/apikeys/${key}`, { key: maps.tenant.developer })
    assert.equal((await client.overSocket(`${paths.points}.pbf`, { 'x-api-key': key })).status, 401)
  })
})
