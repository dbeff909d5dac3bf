import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../server/testing/chromium.ts'
import { startServer } from '../../server/testing/command-line.ts'
import { makeDatabaseDirectory } from '../../server/testing/database-directory.ts'

// A newcomer's path with the real command: start, console, upload, map, filter, style, key, shared page. A newcomer has the
// embedded database. On PostgreSQL, cli.test.ts starts the command, console-link.test.ts signs in, and the other tests of the
// console open these pages.

let directory: string
let server: Awaited<ReturnType<typeof startServer>>
let browser: Browser
before(async () => {
  directory = await makeDatabaseDirectory('newcomer')
  server = await startServer({ PATH: process.env.PATH ?? '', DATA_DIR: join(directory, 'data'), PORT: '0' })
  browser = await launchChromium()
})
after(async () => {
  await browser?.close()
  await server?.stop('SIGTERM')
  await rm(directory, { recursive: true, force: true })
})

const towns = ['Bern', 'Thun', 'Biel', 'Chur', 'Zug', 'Olten', 'Aarau', 'Sion', 'Arbon', 'Wil']
const collection = {
  type: 'FeatureCollection',
  features: towns.map((name, index) => ({
    type: 'Feature',
    properties: { name, population: (index + 1) * 10_000 },
    geometry: { type: 'Point', coordinates: [7 + index / 4, 46.5 + (index % 3) / 4] },
  })),
}

async function newPage(): Promise<Page & { faults: string[] }> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
  page.setDefaultTimeout(100_000)
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('response', (response) => response.status() >= 400 && faults.push(`${response.status()} ${response.url()}`))
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  return Object.assign(page, { faults })
}

const signInLink = (): string => /http\S+#token=\S+/.exec(server.output())?.[0] ?? ''

/** Drops the file on the first page, whose map flies there. */
async function upload(page: Page): Promise<string> {
  await page.evaluate((text) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([text], 'swiss-towns.geojson'))
    for (const type of ['dragenter', 'dragover', 'drop'])
      document
        .querySelector('main')
        ?.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }))
  }, JSON.stringify(collection))
  const tray = page.getByRole('region', { name: 'Uploads' })
  await tray.getByRole('heading', { name: 'Uploads' }).hover()
  await page.getByRole('checkbox', { name: 'Show swiss-towns on the map', checked: true }).waitFor()
  await page.getByRole('checkbox', { name: 'Show Cities of the world on the map', checked: false }).waitFor()
  // The legend of what tells most of the towns, and the map at the towns.
  await page.getByRole('group').filter({ hasText: 'swiss-towns' }).getByText('≥').waitFor()
  assert.equal(await page.getByLabel('Colour by').inputValue(), '=population')
  await page.getByText(/^Centre 8\.\d+° E/).waitFor()
  await tray.getByRole('link', { name: 'View on map' }).click()
  await page.waitForURL(/\/data\/[\da-f-]{36}\/table/)
  return page.url().split('/').at(-2) ?? ''
}

async function filter(page: Page): Promise<void> {
  await page.getByText('of 10 (exact').waitFor()
  await page.getByRole('button', { name: 'Condition' }).click()
  await page.getByLabel('Attribute').selectOption('population')
  await page.getByLabel('Operator').selectOption({ label: 'is at least' })
  await page.getByLabel('Value', { exact: true }).fill('50000')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('of 6 (exact').waitFor()
  assert.equal(await page.getByRole('gridcell', { name: 'Bern' }).count(), 0)
  await page.getByRole('gridcell', { name: 'Zug' }).waitFor()
  assert.match(decodeURIComponent(page.url()), /where=.*population/)
}

/** Gives the id of the style, which begins with the look that the map had. */
async function style(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Style' }).click()
  await page.getByRole('list', { name: 'swiss-towns' }).getByRole('listitem').nth(2).waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL(/\/maps\/[\da-f-]{36}\/look/)
  return /maps\/([\da-f-]{36})/.exec(page.url())?.[1] ?? ''
}

async function makePublicKey(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Access' }).click()
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name').fill('My web page')
  await page.getByRole('button', { name: 'Make key' }).click()
  return (
    (await page
      .getByRole('dialog', { name: /is made/ })
      .locator('pre')
      .textContent()) ?? ''
  )
}

/** Clicks where a town is until its popup tells of it: tiles come when they come. */
async function clickTown(page: Page): Promise<void> {
  const popup = page.locator('.maplibregl-popup')
  const box = await page.locator('canvas.maplibregl-canvas').boundingBox()
  assert.ok(box)
  const limit = AbortSignal.timeout(100_000)
  for (let step = 0; (await popup.count()) === 0; step++) {
    limit.throwIfAborted()
    // Along the upper row of towns, which the map shows from edge to edge.
    await page.mouse.click(box.x + box.width * (0.3 + (step % 60) / 100), box.y + box.height * 0.5)
    await page.evaluate('new Promise(requestAnimationFrame)')
  }
  await popup.getByText('population').waitFor()
}

test('a newcomer starts it, drops a file, sees it on the map at once, filters, styles and shows the map with legend and popups', async () => {
  const page = await newPage()
  await page.goto(signInLink())
  await page.getByRole('heading', { name: 'default' }).waitFor()
  const datasetId = await upload(page)
  const drawn = page.waitForResponse((response) => response.url().includes(`/tiles/${datasetId}/`) && response.ok())
  await page.reload()
  await drawn
  await filter(page)
  const styleId = await style(page)
  const key = await makePublicKey(page)

  const guest = await newPage()
  const seen = guest.waitForResponse((response) => response.url().includes(`/tiles/${datasetId}/`) && response.ok())
  await guest.goto(`${server.url}/console/share/${styleId}#key=${key}`)
  await guest.getByRole('heading', { name: 'swiss-towns' }).waitFor()
  await seen
  assert.equal(await guest.getByRole('navigation').count(), 0)
  await guest.getByRole('list', { name: 'Legend' }).getByRole('listitem').nth(4).waitFor()
  await clickTown(guest)
  assert.deepEqual([page.faults, guest.faults], [[], []])
})
