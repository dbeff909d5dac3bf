import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { type TileApp, tileApp, valuesOf } from '../../../testing/tiles.ts'

// One database is enough: it is about the headers around a tile; tiles.test.ts and tile-data.test.ts draw rows of both.

let maps: TileApp
let id: string
before(async () => {
  maps = await tileApp()
  await maps.script(`
    CREATE TABLE places (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
    INSERT INTO places SELECT g, 'place number ' || g, ST_Point(g % 60, g % 50, 4326) FROM generate_series(1, 300) g`)
  const source = await maps.dataset({ source: 'places' })
  id = await maps.tileSource({ source, minZoom: 0, maxZoom: 6, extentLngLat: [0, 0, 60, 50] })
})
after(() => maps.close())

const unpack: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => gunzipSync(bytes),
  br: (bytes) => brotliDecompressSync(bytes),
  zstd: (bytes) => zstdDecompressSync(bytes),
  identity: (bytes) => bytes,
}
const get = (rest: string, headers: Record<string, string> = {}) => maps.get(`/tiles/${id}/${rest}`, headers)

describe('a tile is compressed as the client takes it', () => {
  // Where several are as good, one that is there already is taken.
  const cases: [accept: string | undefined, expected: string, orElse?: string][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br', 'br'],
    ['zstd', 'zstd'],
    ['gzip, deflate, br, zstd', 'zstd', 'gzip'],
    ['gzip, deflate, br', 'br', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0.5, identity;q=0.9', 'identity'],
    ['gzip;q=0', 'identity'],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'zstd', 'gzip'],
    ['*;q=0, gzip', 'gzip'],
    ['*;q=0.1, identity', 'identity'],
    ['deflate', 'identity'],
    ['gzip;q=abc', 'identity'],
    [`${'x,'.repeat(1000)}gzip`, 'identity'],
  ]
  const check = async (tile: string, accept: string | undefined, expected: string) => {
    const reply = await get(`${tile}.mvt`, accept === undefined ? {} : { 'accept-encoding': accept })
    assert.equal(reply.statusCode, 200)
    assert.equal(reply.headers['content-encoding'] ?? 'identity', expected, accept)
    const bytes = unpack[expected]?.(reply.rawPayload) ?? Buffer.alloc(0)
    assert.ok(valuesOf({ rawPayload: bytes }).length > 100)
    assert.match(String(reply.headers.vary), /accept-encoding/i)
  }

  test('as well as can be', async () => {
    for (const [accept, expected] of cases) await check('0/0/0', accept, expected)
  })

  test('whoever asked before', async () => {
    for (const [accept, first, orElse = first] of cases.toReversed()) await check('1/1/0', accept, orElse)
  })

  test('who refuses everything that is compressed and everything that is not gets the tile as it is', async () => {
    const reply = await get('0/0/0.mvt', { 'accept-encoding': '*;q=0' })
    assert.equal(reply.statusCode, 200)
    assert.equal(reply.headers['content-encoding'], undefined)
  })

  test('who refuses it plain gets it compressed, also when it is small', async () => {
    for (const query of ['', '?limit=1']) {
      const reply = await get(`0/0/0.mvt${query}`, { 'accept-encoding': 'gzip, identity;q=0' })
      assert.equal(reply.headers['content-encoding'], 'gzip', query)
    }
  })

  test('each form has an ETag of its own, the same each time', async () => {
    const tags = async () => {
      const replies = []
      for (const accept of ['gzip', 'br', 'zstd', 'identity'])
        replies.push((await get('0/0/0.mvt', { 'accept-encoding': accept })).headers.etag)
      return replies
    }
    const first = await tags()
    assert.equal(new Set(first).size, 4)
    assert.deepEqual(await tags(), first)
  })
})

describe('a tile that has not changed is 304', () => {
  const headersOf = ({ headers }: { headers: object }) => {
    const {
      date,
      connection,
      'x-request-id': request,
      'content-length': length,
      ...rest
    } = headers as Record<string, unknown>
    return rest
  }

  test('with the same headers as the tile', async () => {
    const whole = await get('0/0/0.mvt', { 'accept-encoding': 'gzip' })
    const same = await get('0/0/0.mvt', { 'accept-encoding': 'gzip', 'if-none-match': String(whole.headers.etag) })
    assert.equal(same.statusCode, 304)
    assert.equal(same.body, '')
    const { 'content-type': _t, 'content-encoding': _e, ...expected } = headersOf(whole)
    const { 'content-type': _t2, 'content-encoding': _e2, ...found } = headersOf(same)
    assert.deepEqual(found, expected)
  })

  test('for a weak tag, one of several, and *', async () => {
    const { etag } = (await get('0/0/0.mvt')).headers
    for (const tag of [`W/${etag}`, `"a", ${etag}`, '*', `"x",W/${etag} ,"y"`])
      assert.equal((await get('0/0/0.mvt', { 'if-none-match': tag })).statusCode, 304, tag)
  })

  test('for every form that the client takes, whichever it would get now', async () => {
    const { etag } = (await get('2/2/1.mvt', { 'accept-encoding': 'br' })).headers
    await get('2/2/1.mvt', { 'accept-encoding': 'gzip' })
    const same = await get('2/2/1.mvt', { 'accept-encoding': 'gzip;q=1, br;q=0.5', 'if-none-match': String(etag) })
    assert.equal(same.statusCode, 304)
    assert.equal(same.headers.etag, etag)
  })

  test("not for another form's tag, nor for one that is not quoted", async () => {
    const { etag } = (await get('0/0/0.mvt', { 'accept-encoding': 'gzip' })).headers
    assert.equal((await get('0/0/0.mvt', { 'if-none-match': String(etag) })).statusCode, 200)
    const plain = String((await get('0/0/0.mvt')).headers.etag)
    assert.equal((await get('0/0/0.mvt', { 'if-none-match': plain.replaceAll('"', '') })).statusCode, 200)
  })

  test('also when there is nothing in it', async () => {
    const nothing = await get('3/0/0.mvt')
    assert.equal(nothing.statusCode, 204)
    const same = await get('3/0/0.mvt', { 'if-none-match': String(nothing.headers.etag) })
    assert.equal(same.statusCode, 304)
  })
})

describe('a tile with nothing in it', () => {
  test('is 204, with all that says how long it is to be kept', async () => {
    for (const [rest, why] of [
      ['3/0/0.mvt', 'outside of the extent'],
      ['6/40/31.mvt?filter[id]=-1', 'no such row'],
      ['0/0/0.mvt?limit=0', 'nothing asked for'],
    ] as const) {
      const reply = await get(rest)
      assert.equal(reply.statusCode, 204, why)
      assert.equal(reply.body, '')
      assert.ok(reply.headers.etag && reply.headers.vary && reply.headers['cache-control'], why)
      assert.match(String(reply.headers['x-tile-features']), /^0\//, why)
    }
  })

  test('is an empty collection as GeoJSON', async () => {
    for (const rest of ['3/0/0.geojson', '6/40/31.geojson?filter[id]=-1']) {
      const reply = await get(rest)
      assert.equal(reply.statusCode, 200, rest)
      assert.deepEqual(reply.json().features, [], rest)
    }
  })
})

describe('a tile that shows nothing of the source', () => {
  test('is answered without asking the data: they need not even be there', async () => {
    await maps.script('CREATE TABLE fleeting AS SELECT * FROM places')
    const source = await maps.dataset({ source: 'fleeting' })
    const fleeting = await maps.tileSource({ source, extentLngLat: [0, 0, 60, 50] })
    await maps.script('DROP TABLE fleeting')
    const status = async (rest: string) => (await maps.get(`/tiles/${fleeting}/${rest}.mvt`)).statusCode
    assert.equal(await status('3/4/3'), 400)
    assert.equal(await status('3/0/0'), 204)
    assert.equal(await status('3/8/0'), 400)
    assert.equal(await status('20/0/0'), 404)
  })

  test('is empty for whoever refuses plain answers too', async () => {
    for (const rest of ['3/0/0.mvt', '6/40/31.mvt?filter[id]=-1'])
      assert.equal((await get(rest, { 'accept-encoding': 'gzip, identity;q=0' })).statusCode, 204)
  })
})

describe('addresses of tiles', () => {
  test('outside of the grid are 400', async () => {
    for (const place of ['0/1/0', '0/0/1', '1/2/0', '3/8/7', '31/0/0', '30/1073741824/0', '99999999999/0/0'])
      assert.equal((await get(`${place}.mvt`)).statusCode, 400, place)
  })

  test('that are no whole numbers are 400', async () => {
    for (const place of [
      'a/0/0',
      '0/b/0',
      '0/0/c',
      '1.5/0/0',
      '-1/0/0',
      '0/-1/0',
      '1e1/0/0',
      '0x1/0/0',
      '%201/0/0',
      '+1/0/0',
    ])
      assert.equal((await get(`${place}.mvt`)).statusCode, 400, place)
  })

  test('above and below the zooms of the source are 404, and say which there are', async () => {
    const reply = await get('7/0/0.mvt')
    assert.equal(reply.statusCode, 404)
    assert.match(reply.json().detail, /from zoom 0 to 6/)
  })

  test('with an extension that is none are 404', async () => {
    for (const extension of ['svg', 'html', 'json', 'png', 'exe', 'constructor'])
      assert.equal((await get(`0/0/0.${extension}`)).statusCode, 404, extension)
    assert.equal((await get('0/0/0')).statusCode, 404)
  })

  test('are asked of no source when they cannot be: a wrong place is told before an unknown source', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000'
    assert.equal((await maps.get(`/tiles/${unknown}/0/1/0.mvt`)).statusCode, 400)
    assert.equal((await maps.get(`/tiles/${unknown}/0/0/0.mvt`)).statusCode, 404)
    assert.equal((await maps.get('/tiles/nonsense/0/0/0.mvt')).statusCode, 404)
  })
})

describe('every answer', () => {
  test('may be read by a page of any origin', async () => {
    const origin = { origin: 'https://example.org' }
    const { etag } = (await get('0/0/0.mvt')).headers
    for (const [rest, headers, status] of [
      ['0/0/0.mvt', {}, 200],
      ['3/0/0.mvt', {}, 204],
      ['0/0/0.mvt', { 'if-none-match': String(etag) }, 304],
      ['0/1/0.mvt', {}, 400],
      ['0/0/0.svg', {}, 404],
      ['0/0/0.mvt', { 'x-api-key': 'wrong' }, 401],
    ] as const) {
      const reply = await get(rest, { ...origin, ...headers })
      assert.equal(reply.statusCode, status)
      assert.equal(reply.headers['access-control-allow-origin'], '*', String(status))
      assert.match(String(reply.headers['access-control-expose-headers']), /X-Tile-Features/)
      assert.equal(reply.headers['x-content-type-options'], 'nosniff')
    }
  })

  test('with a tile lacks the headers that only guard documents, as a map asks for hundreds', async () => {
    const { headers } = await get('0/0/0.mvt')
    for (const name of ['content-security-policy', 'referrer-policy', 'x-frame-options'])
      assert.equal(headers[name], undefined, name)
    assert.equal(headers['cross-origin-resource-policy'], 'cross-origin')
    assert.ok((await get('0/1/0.mvt')).headers['content-security-policy'])
    assert.ok((await get('0/0/0.mvt?explain=true')).headers['content-security-policy'])
  })

  test('to HEAD has the headers of GET and no body', async () => {
    const whole = await get('0/0/0.mvt', { 'accept-encoding': 'br' })
    const head = await maps.app.http.inject({
      method: 'HEAD',
      url: `/tiles/${id}/0/0/0.mvt`,
      headers: { 'x-api-key': maps.tenant.developer, 'accept-encoding': 'br' },
    })
    assert.equal(head.statusCode, 200)
    assert.equal(head.body, '')
    for (const name of ['etag', 'content-type', 'content-encoding', 'content-length', 'vary', 'x-tile-features'])
      assert.equal(head.headers[name], whole.headers[name], name)
  })

  test('is asked for again each time, unless its version stands in the address', async () => {
    assert.equal((await get('0/0/0.mvt')).headers['cache-control'], 'private, no-cache')
    assert.equal((await get('0/0/0.mvt?tile-version=other')).headers['cache-control'], 'private, no-cache')
    const address = new URL((await get('index.json')).json().tiles[0])
    const reply = await get(`0/0/0.mvt${address.search}`)
    assert.equal(reply.headers['cache-control'], 'private, max-age=3600')
  })

  test('is kept by shared caches as its source says, but never under an address with another version', async () => {
    const forever = { 'cache-control': 'public, max-age=31536000, immutable', 'surrogate-control': 'max-age=31536000' }
    const dataset = await maps.dataset({ source: 'places' })
    const headers = { ...forever, expires: 'Thu, 31 Dec 2037 23:55:55 GMT', 'x-own': 'kept' }
    const open = await maps.tileSource({ source: dataset, minZoom: 0, maxZoom: 6, headers })
    const address = new URL((await maps.get(`/tiles/${open}/index.json`)).json().tiles[0])
    const ask = async (search: string) => (await maps.get(`/tiles/${open}/0/0/0.mvt${search}`)).headers
    for (const search of ['', address.search]) {
      assert.equal((await ask(search))['cache-control'], forever['cache-control'], search)
    }
    // A replica that has not seen the new version yet would fill the address of the new tile with the old one.
    const other = await ask('?tile-version=other')
    assert.equal(other['cache-control'], 'private, no-cache')
    assert.equal(other['surrogate-control'], undefined)
    assert.equal(other.expires, undefined)
    assert.equal(other['x-own'], 'kept')
  })
})
