import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '../../../testing/harness.ts'

let app: TestApp
let url: string
before(async () => {
  app = await testApp()
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
})
after(() => app.close())

const get = (path: string, init: RequestInit = {}) => fetch(url + path, { redirect: 'manual', ...init })
const assets = () => readdir(new URL('../../../../console/built/assets', import.meta.url))

test('the first address and the console without a slash lead to the console, also behind a proxy that adds a path', async () => {
  for (const path of ['/', '/console']) {
    const { status, headers } = await get(path)
    assert.equal(status, 302)
    assert.equal(headers.get('location'), 'console/')
  }
})

test('every address below the console is the page, whose files are found from there', async () => {
  const paths = [
    '/console/',
    '/console/data',
    '/console/data/1/table',
    '/console/share/1?x=1',
    '/console/?application=1',
  ]
  for (const path of paths) {
    const reply = await get(path)
    assert.equal(reply.status, 200, path)
    assert.match(reply.headers.get('content-type') ?? '', /^text\/html/)
    assert.equal(reply.headers.get('cache-control'), 'no-cache')
    const html = await reply.text()
    const found = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => new URL(address, url + path))
    assert.ok(found.length > 2)
    for (const { href } of found) {
      const file = await fetch(href)
      assert.equal(file.status, 200, href)
      assert.doesNotMatch(file.headers.get('content-type') ?? '', /html/, href)
      await file.arrayBuffer()
    }
  }
})

test('addresses deeper than any page are refused, so that they cannot fill the memory', async () => {
  assert.equal((await get('/console/a/b/c/d/e/f')).status, 200)
  assert.equal((await get(`/console/${'a/'.repeat(500)}`)).status, 404)
})

test('built files are kept by browsers for ever, sent compressed, and nothing else is read', async () => {
  const script = (await assets()).find((name) => name.startsWith('index-') && name.endsWith('.js'))
  const reply = await get(`/console/assets/${script}`, { headers: { 'accept-encoding': 'br' } })
  assert.equal(reply.headers.get('content-encoding'), 'br')
  assert.match(reply.headers.get('cache-control') ?? '', /immutable/)
  const etag = reply.headers.get('etag') ?? ''
  await reply.arrayBuffer()
  assert.equal((await get(`/console/assets/${script}`, { headers: { 'if-none-match': etag } })).status, 304)
  for (const path of ['assets/none.js', 'assets/..%2f..%2fpackage.json', 'assets/%2e%2e/index.html']) {
    const { status, headers } = await get(`/console/${path}`)
    assert.ok(status === 404 || headers.get('content-type')?.startsWith('text/html'), `${path} ${status}`)
    assert.doesNotMatch(await (await get(`/console/${path}`)).text(), /devDependencies/)
  }
})

test('no part of the console allows inline code or style or anything from elsewhere, and only shared maps stand in frames', async () => {
  const worker = (await assets()).find((name) => /worker/.test(name))
  for (const path of ['/console/', `/console/assets/${worker}`, '/console/share/1', '/console/base/light.json']) {
    const policy = (await get(path)).headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'.*connect-src 'self'/, path)
    assert.doesNotMatch(policy, /unsafe|blob:|https?:/, path)
    assert.equal(/frame-ancestors \*/.test(policy), path.startsWith('/console/share/'), path)
  }
})

test('the base map’s styles are there for everybody, light and dark', async () => {
  for (const theme of ['light', 'dark']) {
    const style = (await (await get(`/console/base/${theme}.json`)).json()) as { version: number; layers: unknown[] }
    assert.equal(style.version, 8)
    assert.ok(style.layers.length > 10)
  }
})
