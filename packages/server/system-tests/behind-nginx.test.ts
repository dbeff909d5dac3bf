import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request as ask, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { connectWorker, type echo } from '../testing/agent-worker.ts'
import { until } from '../testing/agent-world.ts'
import { openStream } from '../testing/event-client.ts'
import { type Nginx, startNginx } from '../testing/peers/nginx.ts'
import { type TileApp, tileApp } from '../testing/tiles.ts'

// One database is enough: nginx sees only what is answered.

// Two replicas behind nginx, with packaging/nginx.conf: only addresses, folders and the certificate are other ones.

const example = new URL('../../../packaging/nginx.conf', import.meta.url)

let maps: TileApp
let second: Awaited<ReturnType<TileApp['app']['replica']>>
let nginx: Nginx
let dataset: string
let id: string
/** What the replicas were asked, in their order. */
const asked: IncomingMessage[] = []

before(async () => {
  maps = await tileApp({ TRUST_PROXY: '127.0.0.1' })
  await maps.script(`
    CREATE TABLE places (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
    INSERT INTO places SELECT g, 'place ' || g, ST_Point(g % 60, g % 50, 4326) FROM generate_series(1, 100) g`)
  dataset = await maps.dataset({ source: 'places' })
  id = await maps.tileSource({ source: dataset, minZoom: 0, maxZoom: 6, extentLngLat: [0, 0, 60, 50] })
  second = await maps.app.replica()
  const addresses = [await listen(maps.app.http), await listen(second.http)]
  const config = await readFile(example, 'utf8')
  nginx = await startNginx((address, directory) => adapt(config, addresses, address, directory))
})
after(async () => {
  await nginx?.stop()
  await maps?.close()
})

type Http = TileApp['app']['http']

async function listen(http: Http): Promise<string> {
  await http.listen({ port: 0, host: '127.0.0.1' })
  http.server.on('request', (request) => asked.push(request))
  return `127.0.0.1:${(http.server.address() as AddressInfo).port}`
}

function adapt(config: string, [first = '', other = '']: string[], address: string, directory: string): string {
  return config
    .replace('graticule-1:8080', first)
    .replace('graticule-2:8080', other)
    .replace('listen 80;', `listen ${address};`)
    .replace(/^ *(listen 443|ssl_certificate).*\n/gm, '')
    .replaceAll(/\/var\/(cache|log)\/nginx/g, directory)
}

const get = (path: string, headers: Record<string, string> = {}, key = maps.tenant.developer) =>
  fetch(`${nginx.url}${path}`, { headers: { 'x-api-key': key, ...headers } })
const tile = (rest: string, headers?: Record<string, string>, key?: string) =>
  get(`/tiles/${id}/${rest}.mvt`, headers, key)
const cacheOf = (response: Response): string | null => response.headers.get('x-cache')
const askedFor = (rest: string) => asked.filter(({ url }) => url?.includes(rest))

/** Asks until nginx's word about its cache is this one: an entry is good for a second, whatever the machine is doing. */
async function answered(status: string, send: () => Promise<Response>): Promise<Response> {
  let last = await send()
  await until(async () => {
    if (cacheOf(last) === status) return true
    await last.arrayBuffer()
    last = await send()
    return cacheOf(last) === status
  }, `never ${status}`)
  return last
}

describe('tiles through nginx', () => {
  test('are kept for a second, answered with 304 to who has them, and confirmed by their ETag', async () => {
    const made = await tile('1/1/0')
    assert.equal(made.status, 200)
    assert.equal(cacheOf(made), 'MISS')
    const bytes = Buffer.from(await made.arrayBuffer())
    const etag = made.headers.get('etag') ?? ''
    const hit = await answered('HIT', () => tile('1/1/0'))
    assert.deepEqual(Buffer.from(await hit.arrayBuffer()), bytes)
    const unchanged = await tile('1/1/0', { 'if-none-match': etag })
    assert.deepEqual([unchanged.status, unchanged.headers.get('etag')], [304, etag])
    const confirmed = await answered('REVALIDATED', () => wait(200).then(() => tile('1/1/0')))
    assert.deepEqual(Buffer.from(await confirmed.arrayBuffer()), bytes)
    assert.ok(askedFor('/1/1/0.mvt').some(({ headers }) => headers['if-none-match'] === etag))
  })

  test('are kept for one credential, however it is sent, and never for none', async () => {
    await answered('HIT', () => tile('2/2/1'))
    const other = await tile('2/2/1', {}, maps.tenant.public)
    assert.equal(cacheOf(other), 'MISS')
    const address = `/tiles/${id}/2/2/1.mvt`
    const bearer = await fetch(nginx.url + address, { headers: { authorization: `Bearer ${maps.tenant.developer}` } })
    assert.deepEqual([bearer.status, cacheOf(bearer)], [200, 'MISS'])
    const inAddress = await fetch(`${nginx.url}${address}?api-key=${maps.tenant.developer}`)
    assert.deepEqual([inAddress.status, cacheOf(inAddress)], [200, 'MISS'])
    for (const response of [await fetch(nginx.url + address), await tile('2/2/1', {}, crypto.randomUUID())]) {
      assert.equal(response.status, 401)
    }
  })

  test('are refused soon after their key was deleted', async () => {
    const body = { type: 'app', permissions: { tiles: { execute: ['*'] }, datasets: { execute: ['*'] } } }
    const { body: key } = await maps.app.call('POST', '/api/v1/apikeys', { key: maps.tenant.developer, body })
    assert.equal((await tile('2/2/1', {}, key.id)).status, 200)
    await answered('HIT', () => tile('2/2/1', {}, key.id))
    await maps.app.call('DELETE', `/api/v1/apikeys/${key.id}`, { key: maps.tenant.developer })
    await until(async () => (await tile('2/2/1', {}, key.id)).status === 401, 'a deleted key still gets tiles')
  })

  test('change when their rows do', async () => {
    const before = (await tile('3/4/3')).headers.get('etag')
    await maps.script(`INSERT INTO places VALUES (1000, 'new', ST_Point(10.1, 10.1, 4326))`)
    await until(async () => (await tile('3/4/3')).headers.get('etag') !== before, 'the old tile goes on')
  })

  test('are asked for once, however many want one at once', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => tile('4/8/7')))
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
    assert.equal(askedFor('/4/8/7.mvt').length, 1)
  })

  test('come in one compressed form for every browser', async () => {
    for (const accept of ['gzip, deflate, br, zstd', 'br, gzip;q=0.5', 'gzip']) {
      const { headers } = await tile('0/0/0', { 'accept-encoding': accept })
      assert.equal(headers.get('content-encoding'), 'gzip', accept)
    }
    const plain = await tile('0/0/0', { 'accept-encoding': 'br, gzip;q=0' })
    assert.equal(plain.headers.get('content-encoding'), null)
  })
})

test('a cache that obeys our headers keeps tiles of sources that say so, and no others, nor any of another version', async () => {
  const port = (maps.app.http.server.address() as AddressInfo).port
  const cdn = await startNginx(
    (address, directory) => `
      proxy_cache_path ${directory}/cdn keys_zone=cdn:1m;
      server { listen ${address}; location / { proxy_pass http://127.0.0.1:${port}; proxy_cache cdn; add_header X-Cache $upstream_cache_status; } }`,
  )
  const headers = { 'cache-control': 'public, max-age=31536000, immutable' }
  const open = await maps.tileSource({ source: dataset, minZoom: 0, maxZoom: 6, headers })
  const { search } = new URL((await maps.get(`/tiles/${open}/index.json`)).json().tiles[0])
  const twice = async (path: string): Promise<string | null> => {
    const send = () => fetch(`${cdn.url}${path}`, { headers: { 'x-api-key': maps.tenant.developer } })
    await (await send()).arrayBuffer()
    const second = await send()
    assert.equal(second.status, 200, path)
    return cacheOf(second)
  }
  assert.equal(await twice(`/tiles/${open}/0/0/0.mvt${search}`), 'HIT')
  assert.equal(await twice(`/tiles/${open}/0/0/0.mvt?tile-version=other`), 'MISS')
  assert.equal(await twice(`/tiles/${id}/0/0/0.mvt`), 'MISS')
  assert.equal(await twice('/api/v1/datasets'), 'MISS')
  await cdn.stop()
})

test('through nginx a file arrives while it is sent', async () => {
  const before = askedFor('/uploads').length
  const boundary = 'graticule-boundary'
  const request = ask(`${nginx.url}/api/v1/uploads`, {
    method: 'POST',
    headers: { 'x-api-key': maps.tenant.developer, 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  const replied = once(request, 'response') as Promise<[IncomingMessage]>
  request.write(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nname,lon,lat\n`)
  request.write('a,1,2\n'.repeat(200_000))
  await until(() => askedFor('/uploads').length > before, 'nginx keeps the file to itself')
  request.end(`\r\n--${boundary}--\r\n`)
  const [reply] = await replied
  reply.resume()
  assert.equal(reply.statusCode, 200)
})

test('through nginx a worker dials in by WebSocket, and each delta of its answer arrives before the next is made', async () => {
  const { app, tenant } = maps
  const { body: agent } = await app.call('POST', '/api/v1/agents', { key: tenant.developer, body: {} })
  // Each replica knows its own workers, and there is no NATS between these.
  const options = { url: nginx.url, key: tenant.developer, agentId: agent.id }
  let seen: (count: number) => Promise<void> = async () => {}
  const handle: typeof echo = async ({ send }) => {
    send({ t: 'accept' })
    for (let n = 1; n <= 3; n++) {
      send({ t: 'delta', text: `${n}` })
      await seen(n)
    }
    send({ t: 'done' })
  }
  const workers = await Promise.all([0, 1].map((n) => connectWorker({ ...options, handle, workerId: `worker-${n}` })))
  const stream = openStream(`${nginx.url}/api/v1/agents/${agent.id}/stream`, tenant.reader, { input: 'x' })
  seen = async (count) => {
    const reply = await stream
    await until(() => reply.text().length === count, `delta ${count} is held back`)
  }
  const reply = await stream
  await reply.over
  assert.equal(reply.text(), '123')
  for (const worker of workers) worker.kill()
})

test('clients behind nginx are told apart by their address, not by what they say of it', async () => {
  const login = (localAddress: string, claimed: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': claimed }
      const request = ask(`${nginx.url}/api/v1/auth/login`, { method: 'POST', headers, localAddress }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      request.on('error', reject)
      request.end(JSON.stringify({ applicationId: maps.tenant.id, email: 'nobody@example.org', password: 'wrong one' }))
    })
  for (let n = 1; n <= 10; n++) assert.equal(await login('127.0.0.2', `192.0.2.${n}`), 401)
  assert.equal(await login('127.0.0.2', '192.0.2.200'), 429)
  assert.equal(await login('127.0.0.3', '192.0.2.1'), 401)
})

test('a replica that goes away behind nginx costs no read', async () => {
  await second.close()
  const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => get(`/api/v1/datasets?limit=${n + 1}`)))
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
})
