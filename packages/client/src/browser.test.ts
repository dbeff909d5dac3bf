import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../server/testing/chromium.ts'
import { oidcProvider } from '../../server/testing/peers/oidc-provider.ts'
import { bundle } from '../testing/bundle.ts'
import { type ClientServer, clientServer } from '../testing/client-server.ts'

// The bundled client in a page of another origin than the server's.

let server: ClientServer
let browser: Browser
let page: Page
let code: string
const site = createServer(({ url }, response) => {
  if (url === '/client.js') response.setHeader('content-type', 'text/javascript').end(code)
  else response.setHeader('content-type', 'text/html').end('<!doctype html><title>Page</title>')
})

before(async () => {
  server = await clientServer()
  code = await bundle()
  await once(site.listen(0, 'localhost'), 'listening')
  browser = await launchChromium()
  page = await browser.newPage()
  await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`)
})
after(async () => {
  await browser?.close()
  site.close()
  await server.close()
})

/** Runs the body of a function in the page, with a client of the server. */
const inPage = (body: string): Promise<unknown> =>
  page.evaluate(`(async () => {
    const { createClient } = await import('/client.js')
    const client = createClient(${JSON.stringify(server.url)}, ${JSON.stringify(server.tenant.developer)})
    ${body}
  })()`)

test('a page queries a dataset and reads its rows one by one', async () => {
  const source = 'SELECT n FROM generate_series(1, 5000) AS t(n)'
  const { id } = await server.client().datasets.create({ type: 'sql', name: 'Numbers', source })
  const answer = await inPage(`
    const rows = await client.datasets.query('${id}', { where: { n: { $lte: 3 } }, order: ['n'] })
    let streamed = 0
    for await (const row of client.datasets.rows('${id}')) streamed++
    for await (const row of client.datasets.rows('${id}')) break
    return { rows, streamed }`)
  assert.deepEqual(answer, { rows: [{ n: 1 }, { n: 2 }, { n: 3 }], streamed: 5000 })
})

test('a page uploads a file, sees how much of it was sent, and waits for the dataset', async () => {
  const answer = (await inPage(`
    const text = 'name,lon,lat\\n' + Array.from({ length: 50000 }, (_, n) => 'Town ' + n + ',' + n / 500 + ',50\\n').join('')
    const file = new File([text], 'towns.csv')
    const progress = []
    const sent = await client.uploads.upload(file, { name: 'Towns', layer: undefined }, { onProgress: (now) => progress.push(now) })
    const upload = await client.uploads.wait(sent.id)
    return { size: file.size, progress, upload }`)) as {
    size: number
    progress: { loaded: number; total: number }[]
    upload: { status: string; featureCount: number }
  }
  const { size, progress, upload } = answer
  assert.deepEqual([upload.status, upload.featureCount], ['completed', 50_000])
  assert.deepEqual(progress.at(-1), { loaded: size, total: size })
  assert.ok(progress.every(({ loaded }, index) => loaded >= (progress[index - 1]?.loaded ?? 0)))
})

test('a refusal of an upload, its abort and a server that is gone reject as everywhere', async () => {
  const answer = await inPage(`
    const told = (promise) => promise.then(() => 'ok', (error) => [error.name, error.status, error.code])
    const file = new File(['a,b'], 'a.csv')
    const onProgress = () => {}
    const gone = createClient('http://127.0.0.1:9', null, { retries: 0 })
    const controller = new AbortController()
    const large = new File([new Uint8Array(5e7)], 'a.csv')
    const aborted = client.uploads.upload(large, {}, { onProgress: () => controller.abort('enough'), signal: controller.signal })
    return {
      refused: await told(client.uploads.upload(file, { strict: 'perhaps' }, { onProgress })),
      aborted: await aborted.catch((reason) => reason),
      gone: await told(gone.uploads.upload(file, {}, { onProgress })),
    }`)
  assert.deepEqual(answer, {
    refused: ['ApiError', 400, 'invalid_request'],
    aborted: 'enough',
    gone: ['ApiError', 0, 'network_error'],
  })
})

test('a token that has expired is replaced in a page of another origin too', async () => {
  const { tenant, app } = server
  const user = await app.user(tenant.id, { metadata: { auth: { defaultApiKey: tenant.developer } } })
  const { email, password, applicationId } = user
  const answer = await inPage(`
    await client.auth.login(${JSON.stringify({ email, password, applicationId })})
    client.accessToken = client.accessToken.slice(0, -4) + 'AAAA'
    return (await client.auth.users.me()).email`)
  assert.equal(answer, email)
})

test('a page leaves for a provider, comes back, and is signed in, with nothing of it left in the address', async () => {
  const { tenant, app } = server
  const peer = await oidcProvider()
  peer.account = { sub: 'ada', email: 'ada@example.org', email_verified: true }
  try {
    const auth = { defaultApiKey: tenant.public }
    await app.call('PUT', `/api/v1/applications/${tenant.id}/metadata/auth`, { body: auth })
    const { issuer, clientId, clientSecret } = peer
    const made = { name: 'Office', issuer, clientId, clientSecret, createsUsers: true }
    const { id } = await server.client().auth.providers.create(made)
    const home = page.url()
    const isBack = page.waitForURL((url) => url.href.startsWith(home) && url.searchParams.has('sign_in_code'))
    await inPage(`await client.auth.signInWithProvider('${id}')`)
    await isBack
    const answer = await inPage(`
      const events = []
      client.auth.onChange(({ event }) => events.push(event))
      await client.auth.completeSignIn()
      const { email } = await client.auth.users.me()
      return { email, events, address: location.href, kept: sessionStorage.length, again: await client.auth.completeSignIn() }`)
    assert.deepEqual(answer, { email: 'ada@example.org', events: ['signedIn'], address: home, kept: 0, again: null })
  } finally {
    await peer.close()
  }
})
