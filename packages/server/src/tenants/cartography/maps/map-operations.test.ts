import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'

// One database is enough: contract.test.ts stores maps on both; addresses and keys are put into a style in memory.

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp({ BASE_URL: 'https://maps.example.org/base' })
  tenant = await app.tenant('maps')
})
after(() => app.close())

const style = {
  version: 8,
  glyphs: '/fonts/{fontstack}/{range}.pbf',
  sprite: '/sprites/light',
  sources: {
    own: { type: 'vector', url: '/tiles/abc/index.json' },
    world: { type: 'vector', url: '/tiles/basemap/index.json' },
    tiles: {
      type: 'raster',
      tiles: ['/tiles/abc/{z}/{x}/{y}.png?filter[a]=1', 'https://other.example/{z}/{x}/{y}.png'],
    },
    data: { type: 'geojson', data: '/api/v1/datasets/x/query?format=geojson' },
    inline: { type: 'geojson', data: { type: 'FeatureCollection', features: [] } },
    foreign: { type: 'vector', url: 'https://other.example/tiles.json' },
  },
  layers: [{ id: 'a', type: 'background' }],
}

async function create(value: object): Promise<string> {
  const reply = await app.call('POST', '/api/v1/styles', { key: tenant.developer, body: { name: 'a', style: value } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

describe('a style as maps load it', () => {
  test('has absolute addresses on this service, and leaves all others alone', async () => {
    const { body, text } = await app.call('GET', `/maps/${await create(style)}.json`, {
      key: tenant.developer,
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    })
    const base = 'https://maps.example.org/base'
    assert.equal(body.glyphs, `${base}/fonts/{fontstack}/{range}.pbf`)
    assert.equal(body.sprite, `${base}/sprites/light`)
    assert.equal(body.sources.own.url, `${base}/tiles/abc/index.json`)
    assert.deepEqual(body.sources.tiles.tiles, [
      `${base}/tiles/abc/{z}/{x}/{y}.png?filter[a]=1`,
      'https://other.example/{z}/{x}/{y}.png',
    ])
    assert.equal(body.sources.data.data, `${base}/api/v1/datasets/x/query?format=geojson`)
    assert.deepEqual(body.sources.inline, style.sources.inline)
    assert.equal(body.sources.foreign.url, 'https://other.example/tiles.json')
    assert.deepEqual(body.layers, style.layers)
    assert.ok(!text.includes('evil') && !text.includes(tenant.developer))
  })

  test('carries a key that came by address to this service, and to nobody else', async () => {
    const id = await create(style)
    const { body } = await app.call('GET', `/maps/${id}.json?api-key=${tenant.developer}`, { key: null })
    const key = `api-key=${tenant.developer}`
    assert.ok(body.sources.own.url.endsWith(`?${key}`))
    assert.ok(body.sources.tiles.tiles[0].endsWith(`&${key}`))
    assert.ok(body.sources.data.data.endsWith(`&${key}`))
    for (const url of [
      body.sources.foreign.url,
      body.sources.tiles.tiles[1],
      body.sources.world.url,
      body.glyphs,
      body.sprite,
    ])
      assert.ok(!url.includes('api-key'), url)
  })

  test('takes an address without a scheme for what it is: another server', async () => {
    const sources = { a: { type: 'vector', url: '//evil.example/tiles.json' } }
    const id = await create({ ...style, sources, sprite: [{ id: 'default', url: '/sprites/dark' }] })
    const { body } = await app.call('GET', `/maps/${id}.json?api-key=${tenant.developer}`, { key: null })
    assert.equal(body.sources.a.url, '//evil.example/tiles.json')
    assert.equal(body.sprite[0].url, 'https://maps.example.org/base/sprites/dark')
  })

  test('is as it is now: a change is seen at once', async () => {
    const id = await create(style)
    const load = () => app.call('GET', `/maps/${id}.json`, { key: tenant.developer })
    assert.equal((await load()).body.name, undefined)
    await app.call('PATCH', `/api/v1/styles/${id}`, { key: tenant.developer, body: { style: { name: 'new' } } })
    assert.equal((await load()).body.name, 'new')
    await app.call('DELETE', `/api/v1/styles/${id}`, { key: tenant.developer })
    assert.equal((await load()).status, 404)
  })

  test('needs execute on this style', async () => {
    const id = await create(style)
    const status = async (permissions: Parameters<typeof app.key>[1]) =>
      (await app.call('GET', `/maps/${id}.json`, { key: await app.key(tenant.id, permissions) })).status
    assert.equal(await status({ styles: { execute: [id] } }), 200)
    assert.equal(await status({ styles: { execute: ['00000000-0000-4000-8000-000000000000'] } }), 401)
    assert.equal(await status({ styles: { read: '*' }, tiles: { '*': '*' } }), 401)
    const stranger = await app.tenant('stranger')
    assert.equal((await app.call('GET', `/maps/${id}.json`, { key: stranger.developer })).status, 404)
    assert.equal((await app.call('GET', `/maps/${id}.json`, { key: null })).status, 401)
  })
})
