import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import { launchChromium } from '../../../testing/chromium.ts'
import { type TestApp, testApp } from '../../../testing/harness.ts'
import { openApiDocument } from '../../boot/documents/openapi-document.ts'
import { loadSample } from '../../data/uploads/sample.ts'

let app: TestApp
let url: string
let browser: Browser
before(async () => {
  ;[app, browser] = await Promise.all([testApp(), launchChromium()])
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
})
// A test has the storage of its pages for itself.
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))
after(async () => {
  await browser?.close()
  await app?.close()
})

/** Pages with the operations of one path: Swagger UI takes 8 s of CPU to show them all, which one test looks at. */
async function briefDocs(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const { paths, ...rest } = JSON.parse(await openApiDocument())
  const brief = { ...rest, paths: { '/api/v1/styles': paths['/api/v1/styles'] } }
  const context = await browser.newContext(options)
  await context.route('**/api/v1/openapi.json', (route) => route.fulfill({ json: brief }))
  return context
}

test('the OpenAPI document that is checked in is the one the operations make (npm run generate)', async () => {
  const checkedIn = await readFile(new URL('../../../../../openapi.json', import.meta.url), 'utf8')
  assert.equal(checkedIn, await openApiDocument())
})

test('the server serves the same document', async () => {
  const served = await (await fetch(`${url}/api/v1/openapi.json`)).json()
  const { info, ...checkedIn } = JSON.parse(await openApiDocument())
  assert.ok(info)
  assert.deepEqual({ ...(served as object), info: undefined }, { ...checkedIn, info: undefined })
})

test('every reference in the document leads somewhere, and every operation has its own name', async () => {
  const text = await openApiDocument()
  const document = JSON.parse(text)
  for (const [, reference = ''] of text.matchAll(/"\$ref": "#\/([^"]+)"/g)) {
    const found = reference.split('/').reduce((node, part) => node?.[part], document)
    assert.ok(found, reference)
  }
  const names = [...text.matchAll(/"operationId": "([^"]+)"/g)].map(([, name]) => name)
  assert.equal(new Set(names).size, names.length)
})

test('the documentation page shows the operations and tries them, with nothing from elsewhere', async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  const foreign: string[] = []
  const faults: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) foreign.push(request.url())
  })
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(error.message))
  await page.goto(`${url}/api/docs`)
  await page.locator('.opblock').first().waitFor()
  await page.getByLabel('Search operations').fill('healthcheck get')
  const health = page.locator('.opblock', { hasText: 'server.health' })
  await health.waitFor()
  assert.equal(await page.locator('.opblock-tag').count(), 1, 'other operations are out of the way')
  await health.getByRole('button').first().click()
  await page.getByRole('button', { name: 'Try it out' }).click()
  await page.getByRole('button', { name: 'Execute' }).click()
  await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor()
  assert.deepEqual(foreign, [])
  assert.deepEqual(faults, [])
})

test('the field for the key comes first on the documentation page, and the key is used', async () => {
  const page = await (await briefDocs()).newPage()
  await page.goto(`${url}/api/docs`)
  await page.locator('.opblock').first().waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.id'), 'key')
  await page.keyboard.type(app.master)
  await page.keyboard.press('Enter')
  await page.getByText('The key is used for every request').waitFor()
  await page.getByLabel('Search operations').fill('styles.list')
  const list = page.locator('.opblock', { hasText: 'styles.list' })
  await list.getByRole('button').first().click()
  await list.getByRole('button', { name: 'Try it out' }).click()
  const asked = page.waitForRequest((request) => request.url().includes('/api/v1/styles'))
  await page.getByRole('button', { name: 'Execute' }).click()
  assert.equal((await asked).headers()['x-api-key'], app.master)
})

test('the documentation page has the colours of the console, its theme and a way back to it', async () => {
  const colours = async (path: string): Promise<Map<string, string>> => {
    const text = await readFile(new URL(path, import.meta.url), 'utf8')
    return new Map(
      [...text.matchAll(/(--[\w-]+): (light-dark\([^)]+\));/g)].map(([, name = '', value = '']) => [name, value]),
    )
  }
  const tokens = await colours('../../../../console/src/styles/tokens.css')
  const own = await colours('page/page.css')
  assert.ok(own.size >= 12)
  for (const [name, value] of own) assert.equal(value, tokens.get(name), name)
  const page = await (await briefDocs({ colorScheme: 'light' })).newPage()
  await page.goto(`${url}/api/docs`)
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  assert.equal(await ground(), 'rgb(246, 244, 238)')
  await page.evaluate(`localStorage.setItem('graticule.theme', 'dark')`)
  await page.reload()
  assert.equal(await ground(), 'rgb(18, 23, 26)')
  await page.getByRole('link', { name: 'Open the console' }).click()
  await page.waitForURL(`${url}/console/`)
})

test('every group of operations says what it is about', async () => {
  const { tags } = JSON.parse(await openApiDocument())
  assert.deepEqual(
    tags.filter(({ description }: { description?: string }) => !description),
    [],
  )
})

test('the filters that the document shows work on the sample', async () => {
  const tenant = await app.tenant('samples')
  await loadSample(app.db, tenant.id)
  const { body: datasets } = await app.call('GET', '/api/v1/datasets', { key: tenant.developer })
  const { paths } = JSON.parse(await openApiDocument())
  type Parameter = { name: string; description: string }
  const { description }: Parameter = paths['/api/v1/datasets/{id}/query'].get.parameters.find(
    ({ name }: Parameter) => name === 'filter',
  )
  const filters = [...description.matchAll(/`(filter[^`]+)`/g)].map(([, text = '']) => text)
  assert.ok(filters.length >= 5)
  for (const filter of filters) {
    const query = filter.replaceAll('%', '%25')
    const reply = await app.call('GET', `/api/v1/datasets/${datasets[0].id}/query?limit=3&${query}`, {
      key: tenant.public,
    })
    assert.equal(reply.status, 200, `${filter} ${reply.text}`)
    assert.equal(reply.body.length, 3, filter)
  }
})

test('the documentation page keeps a key for the session of its tab only, and removes what earlier versions kept', async () => {
  const context = await briefDocs()
  const page = await context.newPage()
  await page.goto(`${url}/api/v1/healthcheck`)
  await page.evaluate(`localStorage.setItem('authorized', '{"old":"${app.master}"}')`)
  await page.goto(`${url}/api/docs`)
  await page.getByRole('button', { name: 'Authorize' }).first().click()
  await page.locator('.auth-container input').first().fill(app.master)
  await page.locator('.auth-container').getByRole('button', { name: 'Apply' }).first().click()
  await page.locator('.auth-container').getByRole('button', { name: 'Remove' }).first().waitFor()
  const stored = (storage: string) => page.evaluate(`JSON.stringify(${storage})`) as Promise<string>
  assert.equal(await stored('localStorage'), '{}')
  assert.ok((await stored('sessionStorage')).includes(app.master))
  await page.reload()
  await page.locator('.authorize.locked').waitFor()
  assert.equal(await stored('localStorage'), '{}')
  const other = await context.newPage()
  await other.goto(`${url}/api/docs`)
  await other.locator('.authorize.unlocked').waitFor()
  assert.equal(await other.evaluate('sessionStorage.length'), 0)
})
