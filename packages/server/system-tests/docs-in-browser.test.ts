import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { loadSample } from '../src/data/uploads/sample.ts'
import { baseStyles } from '../src/tenants/cartography/maps/base-styles.ts'
import { installBaseStyles } from '../src/tenants/cartography/maps/install-base-styles.ts'
import { launchChromium } from '../testing/chromium.ts'
import { readDocPage } from '../testing/doc-page.ts'
import { type TestApp, testApp } from '../testing/harness.ts'
import { until } from '../testing/until.ts'

// The pages of docs/clients.md in a browser. What they load from unpkg.com comes from the installed packages, by way of
// the page's own site: requests of workers cannot be intercepted.

const root = resolve(import.meta.dirname, '../../..')
/** The colour that all of the pages give to cities. */
const orange = [232, 89, 12]
const leastPixels = 300

let app: TestApp
let browser: Browser
/** A page that counts the pixels of pictures of others. */
let counter: Page
let placeholders: Record<string, string>
/** Somebody's web site, on another origin than the server's. */
let shownPage = ''
const site = createServer(async ({ url = '/' }, response) => {
  if (url === '/') response.setHeader('content-type', 'text/html').end(shownPage)
  else if (url.startsWith('/unpkg/')) response.setHeader('content-type', typeOf(url)).end(await fromPackage(url))
  else response.writeHead(204).end()
})

before(async () => {
  ;[app, browser] = await Promise.all([testApp(), launchChromium()])
  // What a first start makes.
  await installBaseStyles(app.db, baseStyles())
  const tenant = await app.tenant('atlas')
  await loadSample(app.db, tenant.id)
  const { body: datasets } = await app.call('GET', '/api/v1/datasets', { key: tenant.developer })
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  placeholders = {
    PUBLIC_KEY: tenant.public,
    DATASET_ID: datasets[0].id,
    'http://localhost:8080': `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`,
    'https://unpkg.com/': '/unpkg/',
  }
  await once(site.listen(0, 'localhost'), 'listening')
  counter = await browser.newPage()
})
after(async () => {
  await browser?.close()
  site.close()
  await app?.close()
})

const { blocks } = await readDocPage(join(root, 'docs/clients.md'))
for (const { fileName, text } of blocks.filter(({ language }) => language === 'html')) {
  test(`${fileName} of docs/clients.md shows the cities`, async () => {
    const html = Object.entries(placeholders).reduce((page, [name, value]) => page.replaceAll(name, value), text)
    const page = await browser.newPage({ viewport: { width: 600, height: 400 } })
    const faults: string[] = []
    page.on('pageerror', ({ message }) => faults.push(message))
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    shownPage = html
    await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`)
    await shown(page, faults)
    assert.deepEqual(faults, [])
    await page.close()
  })
}

/** Waits until the page has drawn the cities; a fault ends the waiting. */
async function shown(page: Page, faults: string[]): Promise<void> {
  await until(async () => {
    const picture = (await page.screenshot()).toString('base64')
    return faults.length > 0 || (await counter.evaluate<number>(countPixels(picture))) >= leastPixels
  })
}

/** A program for a page: browsers can read pictures. */
const countPixels = (picture: string): string => `(async () => {
  const image = await createImageBitmap(await (await fetch('data:image/png;base64,${picture}')).blob())
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
  context.drawImage(image, 0, 0)
  const { data } = context.getImageData(0, 0, image.width, image.height)
  const [red, green, blue] = ${JSON.stringify(orange)}
  const isNear = (value, other) => Math.abs(value - other) < 6
  let count = 0
  for (let at = 0; at < data.length; at += 4)
    if (isNear(data[at], red) && isNear(data[at + 1], green) && isNear(data[at + 2], blue)) count++
  return count
})()`

const typeOf = (path: string): string => (path.endsWith('.css') ? 'text/css' : 'text/javascript')

async function fromPackage(url: string): Promise<Buffer> {
  const [, name = '', path = ''] = /^\/unpkg\/([^@]+)@[^/]+\/([^?]+)/.exec(url) ?? []
  return readFile(join(await folderOf(name), path))
}

/** deck.gl's bundle needs none of its 250 dependencies, so its archive is fetched alone. */
async function folderOf(name: string): Promise<string> {
  if (name !== 'deck.gl') return join(root, 'node_modules', name)
  const folder = join(root, 'node_modules/.cache/graticule/deck.gl')
  if (!existsSync(join(folder, 'package'))) {
    mkdirSync(folder, { recursive: true })
    const archive = execFileSync('npm', ['pack', '--silent', 'deck.gl@9'], { cwd: folder, encoding: 'utf8' }).trim()
    execFileSync('tar', ['-xzf', archive], { cwd: folder })
  }
  return join(folder, 'package')
}
