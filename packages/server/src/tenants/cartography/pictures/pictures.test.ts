import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { jpegSize } from './jpeg.ts'

let app: TestApp
let own: Tenant
let url: string
before(async () => {
  app = await testApp()
  own = await app.tenant('own')
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
})
after(() => app.close())

/** The frame of a JPEG of this size; what it shows does not matter. */
function jpeg(width: number, height: number, bytes = 100): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0])
  const length = bytes - 4 - frame.length
  return Buffer.concat([Buffer.from([0xff, 0xd8]), frame, Buffer.alloc(length), Buffer.from([0xff, 0xd9])])
}
const addressOf = (bytes: Buffer) => `data:image/jpeg;base64,${bytes.toString('base64')}`
const picture = addressOf(jpeg(800, 420))

const call = (method: string, path: string, body?: unknown, key = own.developer) =>
  app.call(method, `/api/v1/styles/${path}`, { key, ...(body !== undefined && { body }) })

async function makeMap(name = 'Rivers', description = 'Where water flows'): Promise<string> {
  const style = { version: 8, sources: {}, layers: [] }
  const { body, status, text } = await app.call('POST', '/api/v1/styles', {
    key: own.developer,
    body: { name, description, style },
  })
  assert.equal(status, 201, text)
  return body.id
}

type KeyChange = { allowedOrigins?: string[]; expiresAt?: string; permissions?: object; metadata?: object }

async function share(id: string, change: KeyChange = {}): Promise<string> {
  const { body, status, text } = await app.call('POST', '/api/v1/apikeys', {
    key: own.developer,
    body: { type: 'app', permissions: { styles: { execute: [id] } }, metadata: { share: id }, ...change },
  })
  assert.equal(status, 201, text)
  return body.id
}

/** What a chat sees of a link: it never sends the fragment. */
async function tagsOf(id: string): Promise<Record<string, string>> {
  const html = await (await fetch(`${url}/console/share/${id}`)).text()
  const tags = [...html.matchAll(/<meta (?:property|name)="([\w:]+)" content="([^"]*)"/g)]
  const [, title = ''] = /<title>(.*?)<\/title>/.exec(html) ?? []
  return { title, ...Object.fromEntries(tags.map(([, name, content]) => [name, content])) }
}

test('a picture is stored with the style that it shows, and is gone when that changes', async () => {
  const id = await makeMap()
  assert.deepEqual((await call('GET', `${id}/picture`)).body, { picture: null })
  const { headers } = await call('GET', id)
  assert.equal((await call('PUT', `${id}/picture`, { picture })).status, 200)
  assert.deepEqual((await call('GET', `${id}/picture`)).body, { picture })
  assert.equal((await call('GET', id)).headers.etag, headers.etag, 'the style itself is as it was')
  await call('PATCH', id, { name: 'Another name' })
  assert.deepEqual((await call('GET', `${id}/picture`)).body, { picture })
  await call('PATCH', id, { style: { center: [1, 2] } })
  assert.deepEqual((await call('GET', `${id}/picture`)).body, { picture: null })
  await call('PUT', `${id}/picture`, { picture })
  await call('PUT', `${id}/picture`, { picture: null })
  assert.deepEqual((await call('GET', `${id}/picture`)).body, { picture: null })
  await call('PUT', `${id}/picture`, { picture })
  assert.equal((await call('DELETE', id)).status, 200)
})

test('only a JPEG of a moderate size is a picture', async () => {
  const id = await makeMap()
  const refused = async (text: string) => {
    const { status, body } = await call('PUT', `${id}/picture`, { picture: text })
    return { status, ...(body.limitName ? { limitName: body.limitName } : { path: body.errors[0].path }) }
  }
  const faulty = { status: 400, path: 'body/picture' }
  assert.deepEqual(await refused('data:image/svg+xml;base64,PHN2Zy8+'), faulty)
  assert.deepEqual(await refused(addressOf(Buffer.from('<script>alert(1)</script>'))), faulty)
  assert.deepEqual(await refused(addressOf(jpeg(800, 420).subarray(0, 90))), faulty)
  assert.deepEqual(await refused(addressOf(jpeg(800, 420, 262_145))), {
    status: 413,
    limitName: 'stylePictureBytes',
  })
  assert.deepEqual(await refused(addressOf(jpeg(2_001, 420))), {
    status: 400,
    limitName: 'stylePicturePixels',
  })
  assert.deepEqual((await call('GET', `${id}/picture`)).body, { picture: null })
})

test('the size of a JPEG is read from its frame, and what is no JPEG has none', () => {
  assert.deepEqual(jpegSize(jpeg(800, 420)), { width: 800, height: 420 })
  for (const bytes of [Buffer.alloc(0), Buffer.from('GIF89a'), Buffer.from([0xff, 0xd8, 0xff, 0xd9]), jpeg(1, 1, 17)])
    assert.equal(jpegSize(bytes)?.width ?? 0, bytes.length === 17 ? 1 : 0)
})

test('the page of a shared map tells chats its title, description and picture, and nothing of a map that is not shared', async () => {
  const id = await makeMap('Rivers & "lakes" <b>', `$& ${'long '.repeat(100)}`)
  await call('PUT', `${id}/picture`, { picture })
  const { title, ...unshared } = await tagsOf(id)
  assert.deepEqual([title, Object.keys(unshared)], ['Graticule', ['viewport']])
  assert.equal((await fetch(`${url}/console/share/${id}.jpg`)).status, 404)
  const key = await share(id)
  const shown = await untilTold(id, 'og:title')
  assert.equal(shown.title, 'Rivers &amp; &quot;lakes&quot; &lt;b&gt;')
  assert.equal(shown['og:title'], shown.title)
  assert.match(shown['og:description'] ?? '', /^\$&amp; long .*…$/)
  assert.equal(shown['og:url'], `${url}/console/share/${id}`)
  assert.deepEqual([shown['og:image:width'], shown['og:image:height']], ['800', '420'])
  const reply = await fetch(shown['og:image'] ?? '')
  assert.equal(reply.headers.get('content-type'), 'image/jpeg')
  assert.deepEqual(Buffer.from(await reply.arrayBuffer()), jpeg(800, 420))
  assert.ok(!JSON.stringify(shown).includes(key))
  await app.call('DELETE', `/api/v1/apikeys/${key}`, { key: own.developer })
  assert.equal((await fetch(`${url}/console/share/${id}.jpg`)).status, 404)
})

test('a map whose links are for some websites only, have ended, or are no links, is not shared with everybody', async () => {
  const id = await makeMap()
  await call('PUT', `${id}/picture`, { picture })
  await share(id, { allowedOrigins: ['https://maps.example.org'] })
  await share(id, { permissions: { tiles: { execute: '*' } } })
  await share(id, { metadata: {} })
  const ends = await share(id, { expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
  assert.equal((await fetch(`${url}/console/share/${id}.jpg`)).status, 200)
  await app.call('DELETE', `/api/v1/apikeys/${ends}`, { key: own.developer })
  assert.equal((await fetch(`${url}/console/share/${id}.jpg`)).status, 404)
  assert.equal((await tagsOf(id))['og:title'], undefined)
})

/** A change is seen within a second. */
async function untilTold(id: string, name: string): Promise<Record<string, string>> {
  for (;;) {
    const told = await tagsOf(id)
    if (told[name] !== undefined) return told
  }
}
