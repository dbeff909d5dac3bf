import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { chromium } from 'playwright-core'
import { openApiDocument } from '../openapi-document.ts'
import { type TestApp, testApp } from '../testing/harness.ts'

let app: TestApp
let url: string
before(async () => {
  app = await testApp()
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
})
after(() => app.close())

test('the OpenAPI document that is checked in is the one the operations make (npm run generate)', async () => {
  const checkedIn = await readFile(new URL('../../../../openapi.json', import.meta.url), 'utf8')
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
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    const foreign: string[] = []
    const faults: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) foreign.push(request.url())
    })
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    page.on('pageerror', (error) => faults.push(error.message))
    await page.goto(`${url}/`)
    assert.equal(new URL(page.url()).pathname, '/api/docs')
    await page.locator('.opblock').first().waitFor()
    // They appear as one comes near them.
    const health = page.locator('.opblock', { hasText: 'server.health' })
    for (let turns = 0; turns < 100 && (await health.count()) === 0; turns++) {
      await page.evaluate('window.scrollBy(0, 500)')
      await page.waitForTimeout(100)
    }

    await health.getByRole('button').first().click()
    await page.getByRole('button', { name: 'Try it out' }).click()
    await page.getByRole('button', { name: 'Execute' }).click()
    await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor()
    assert.deepEqual(foreign, [])
    assert.deepEqual(faults, [])
  } finally {
    await browser.close()
  }
})

test('the documentation page keeps a key for the session of its tab only, and removes what earlier versions kept', async () => {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  try {
    const context = await browser.newContext()
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
  } finally {
    await browser.close()
  }
})
