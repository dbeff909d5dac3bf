import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { loadSample } from '../sample.ts'
import { launchChromium } from '../testing/chromium.ts'
import { type Tenant, type TestApp, testApp } from '../testing/harness.ts'
import { until } from '../testing/until.ts'

let app: TestApp
let tenant: Tenant
let url: string
let browser: Browser
before(async () => {
  app = await testApp()
  tenant = await app.tenant('home')
  await loadSample(app.db, tenant.id)
  const hostile = { type: 'sql', name: '<img src=x onerror=alert(1)>', source: 'SELECT 1 AS one' }
  assert.equal((await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body: hostile })).status, 201)
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
  browser = await launchChromium()
})
after(async () => {
  await browser?.close()
  await app.close()
})

type Seen = { page: Page; faults: string[]; requests: { url: string; key: string | undefined }[]; tiles: string[] }

async function open(viewport: { width: number; height: number }): Promise<Seen> {
  const page = await browser.newPage({ viewport })
  const seen: Seen = { page, faults: [], requests: [], tiles: [] }
  page.on('console', (message) => message.type() === 'error' && seen.faults.push(message.text()))
  page.on('pageerror', (error) => seen.faults.push(error.message))
  page.on('request', (request) => seen.requests.push({ url: request.url(), key: request.headers()['x-api-key'] }))
  page.on('response', (response) => response.ok() && seen.tiles.push(new URL(response.url()).pathname))
  await page.goto(`${url}/`)
  await until(() => seen.tiles.some((path) => path.startsWith('/tiles/basemap/')))
  return seen
}

async function paste({ page }: Seen, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Show datasets' }).click()
}

test('the first page shows the datasets of a pasted key on the map, and keeps the key in memory alone', async () => {
  const seen = await open({ width: 1280, height: 800 })
  const { page, faults, requests, tiles } = seen
  await paste(seen, tenant.public)
  const cities = page.getByRole('checkbox', { name: 'Cities of the world' })
  await cities.waitFor()
  await until(() => tiles.some((path) => /^\/tiles\/[\da-f-]{36}\/\d+\/\d+\/\d+/.test(path)))
  assert.equal(await cities.isChecked(), true, 'the first dataset is drawn at once')
  assert.equal(await page.getByText('<img src=x onerror=alert(1)>').count(), 1, 'names are text')
  assert.deepEqual(
    requests.filter((request) => !/^(data|blob):/.test(request.url) && !request.url.startsWith(`${url}/`)),
    [],
  )
  assert.ok(!requests.some((request) => request.url.includes(tenant.public)), 'it is in no address')
  assert.ok(requests.some(({ key }) => key === tenant.public))
  const kept = 'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])'
  assert.ok(!String(await page.evaluate(kept)).includes(tenant.public), 'and in no storage')
  assert.deepEqual(faults, [])
  await cities.uncheck()
  await page.close()
})

test('a key that is refused is answered with the reason', async () => {
  const seen = await open({ width: 1280, height: 800 })
  await paste(seen, '00000000-0000-4000-8000-000000000000')
  await seen.page.getByRole('status').getByText(/key/i).waitFor()
  assert.equal(await seen.page.getByRole('listitem').count(), 0)
  await seen.page.close()
})

test('the first page fits a phone', async () => {
  const { page } = await open({ width: 360, height: 740 })
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
  assert.ok(await page.getByLabel('API key').isVisible())
  await page.close()
})

test('the policy of the first page allows no inline code or style, and nothing from elsewhere', async () => {
  for (const path of ['/', '/home/start.js', '/home/maplibre-gl-worker.mjs']) {
    const policy = (await fetch(url + path)).headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/, path)
    assert.doesNotMatch(policy, /unsafe|\*|https?:/, path)
  }
  assert.equal((await fetch(`${url}/home/..%2findex.html`)).status, 404)
})
