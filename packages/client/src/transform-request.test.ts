import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { createClient } from './client.ts'

const headersFor = (base: string, url: string) => createClient(base, 'KEY').transformRequest(url).headers

describe('transformRequest', () => {
  afterEach(() => {
    Reflect.deleteProperty(globalThis, 'location')
  })

  test('adds the credentials of the moment to requests for the client’s own server', () => {
    const client = createClient('https://host/prefix', 'KEY')
    const { transformRequest } = client
    const url = 'https://host/prefix/tiles/1/index.json?limit=3'
    assert.deepEqual(transformRequest(url, 'Source'), { url, headers: { 'x-api-key': 'KEY' } })
    client.accessToken = 'TOKEN'
    assert.deepEqual(transformRequest(url), { url, headers: { authorization: 'Bearer TOKEN' } })
    client.accessToken = null
    client.apiKey = null
    assert.deepEqual(transformRequest(url), { url })
    assert.ok(headersFor('https://host', 'https://HOST:443/tiles/1'))
  })

  const elsewhere = [
    'https://host.evil.org/prefix/a',
    'https://host@evil.org/prefix/a',
    'https://evil.org/prefix/a',
    'https://evil.org/?https://host/prefix/a',
    'https://evil.org#https://host/prefix/a',
    'https://host:8443/prefix/a',
    'http://host/prefix/a',
    'https://host/prefixed/a',
    'https://host/other/a',
    'https://host/prefix/../other',
    'https://host/prefix/%2e%2E/other',
    'https://host\\@evil.org/prefix/a',
    'https://sub.host/prefix/a',
    'https://hоst/prefix/a',
    '//evil.org/prefix/a',
    'blob:https://host/prefix/a',
    'data:text/plain,https://host/prefix/a',
    '/prefix/a',
    'prefix/a',
    '',
  ]
  test('adds none to requests for any other origin or path', () => {
    for (const url of elsewhere) assert.equal(headersFor('https://host/prefix', url), undefined, url)
  })

  test('resolves an address without a host as the page does', () => {
    Object.assign(globalThis, { location: { href: 'https://page.example/map/' } })
    assert.equal(headersFor('https://host', '/tiles/1/index.json'), undefined)
    assert.ok(headersFor('https://page.example', '/tiles/1/index.json'))
    assert.equal(headersFor('https://page.example', '//evil.org/tiles/1/index.json'), undefined)
    assert.equal(createClient('/graticule/').url, 'https://page.example/graticule')
  })

  test('leaves an address alone that has a key of its own', () => {
    const client = createClient('https://host', 'KEY')
    const url = client.tiles.url('1', { apiKey: 'OTHER' })
    assert.deepEqual(client.transformRequest(url), { url })
  })
})

describe('addresses', () => {
  const { tiles, maps, auth } = createClient('https://host/prefix/', 'KEY')

  test('are those of TileJSON, tiles and styles, without the client’s key', () => {
    assert.equal(tiles.url('a b'), 'https://host/prefix/tiles/a%20b/index.json')
    assert.equal(
      tiles.url('1', { filter: { n: { $gte: 3 } }, attributes: ['a', 'b'], apiKey: 'OTHER', year: 2020 }),
      'https://host/prefix/tiles/1/index.json?filter[n][$gte]=3&attributes=a,b&year=2020&api-key=OTHER',
    )
    assert.equal(tiles.tileUrl('1'), 'https://host/prefix/tiles/1/{z}/{x}/{y}.mvt')
    assert.equal(tiles.tileUrl('1', { ext: 'png' }), 'https://host/prefix/tiles/1/{z}/{x}/{y}.png')
    assert.equal(
      tiles.tileUrl('1', { z: 0, x: 0, y: 0 }, { limit: 3 }),
      'https://host/prefix/tiles/1/0/0/0.mvt?limit=3',
    )
    assert.equal(maps.url('1', { apiKey: 'OTHER' }), 'https://host/prefix/maps/1.json?api-key=OTHER')
    assert.equal(
      auth.confirmSignupUrl({ token: 't', redirect: 'https://a/b?c' }),
      'https://host/prefix/api/v1/auth/confirmsignup?token=t&redirect=https:%2F%2Fa%2Fb%3Fc',
    )
  })
})
