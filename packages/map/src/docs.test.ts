import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { build as runVite } from 'vite'
import { loadSample } from '../../server/src/data/uploads/sample.ts'
import { type Block, readDocPage } from '../../server/testing/doc-page.ts'
import { until } from '../../server/testing/until.ts'
import { bundle, screenshot, startBrowser, type TestBrowser } from '../testing/browser.ts'
import type { Tools } from '../testing/page.ts'
import { startWorld, type World } from '../testing/world.ts'

declare global {
  var tools: Tools
}

// The code of docs/map.md: pages are opened, files are built with Vite and opened, other pieces run beside a map.

const root = resolve(import.meta.dirname, '../../..')
// Below the packages, so that imports find them.
const folder = join(root, `node_modules/.cache/graticule/map-docs-${process.pid}`)
const { blocks } = await readDocPage(join(root, 'docs/map.md'))
const viteConfig = blocks.find(({ text }) => text.startsWith('// vite.config.js'))
const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
}

let world: World
let browser: TestBrowser
let placeholders: Record<string, string>
/** The tests' page, for all pieces of code that run beside a map. */
let toolsPage: Awaited<ReturnType<TestBrowser['open']>> | undefined
/** What the site has, by path. */
const pages = new Map<string, string | Uint8Array>()
const site = createServer(async ({ url = '/' }, response) => {
  const path = url.split('?', 1)[0] ?? ''
  const installed = /^\/unpkg\/maplibre-gl@6\/(.+)$/.exec(path)?.[1]
  const content = installed ? await readFile(join(root, 'node_modules/maplibre-gl', installed)) : pages.get(path)
  if (!content) return response.writeHead(path === '/favicon.ico' ? 204 : 404).end()
  response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream').end(content)
})

before(async () => {
  ;[world, browser] = await Promise.all([startWorld(), startBrowser()])
  await loadSample(world.app.db, world.tenant.id)
  const { body } = await world.app.call('GET', '/api/v1/datasets?filter[name][$like]=Cities%25', { key: world.key })
  placeholders = {
    PUBLIC_KEY: world.key,
    DATASET_ID: body[0].id,
    'http://localhost:8080': world.url,
    'https://unpkg.com/': '/unpkg/',
  }
  await mkdir(folder, { recursive: true })
  await once(site.listen(0, '127.0.0.1'), 'listening')
})
after(async () => {
  await browser?.close()
  site.close()
  await world?.close()
  await rm(folder, { recursive: true, force: true })
})

const filled = ({ text }: Block) =>
  Object.entries(placeholders).reduce((page, [name, value]) => page.replaceAll(name, value), text)
const file = (name: string): Block => {
  const found = blocks.find(({ fileName }) => fileName === name)
  assert.ok(found, name)
  return found
}

/** Opens a page of the site, and waits until its map shows cities in the default layers' blue. */
async function seeCities(path: string, name: string): Promise<void> {
  const page = await browser.open(`http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`)
  await until(async () => page.faults.length > 0 || (await showsColour(page, [0x1c, 0x6d, 0xd0], 0, 100)))
  assert.deepEqual(page.faults, [])
  await screenshot(page, name)
  await page.close()
}

type RedGreenBlue = readonly [number, number, number]

/** Whether the middle has more than so many pixels of about the colour. */
async function showsColour(
  page: Awaited<ReturnType<TestBrowser['open']>>,
  colour: RedGreenBlue,
  tolerance: number,
  most: number,
): Promise<boolean> {
  const clip = { x: 200, y: 100, width: 400, height: 250 }
  const picture = (await page.screenshot({ clip })).toString('base64')
  return await page.evaluate(
    async ({ data, colour, tolerance, most }) => {
      const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob())
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
      context?.drawImage(image, 0, 0)
      const pixels = context?.getImageData(0, 0, image.width, image.height).data ?? []
      let count = 0
      for (let at = 0; at < pixels.length; at += 4)
        if (colour.every((wanted, channel) => Math.abs((pixels[at + channel] ?? 0) - wanted) <= tolerance)) count++
      return count > most
    },
    { data: picture, colour, tolerance, most },
  )
}

test('map.html of docs/map.md shows the cities without a bundler', async () => {
  pages.set('/unpkg/@graticule/client@0.1/dist/client.js', await bundle(join(root, 'packages/client/src/client.ts')))
  pages.set('/unpkg/@graticule/map@0.1/dist/map.js', await bundle(join(root, 'packages/map/src/map.ts')))
  pages.set('/map.html', filled(file('map.html')))
  const page = await browser.open(`http://127.0.0.1:${(site.address() as AddressInfo).port}/map.html`)
  // The legend comes with the layers.
  await page.locator('.graticule-legend li').nth(4).waitFor()
  assert.match(String(await page.locator('.graticule-legend').textContent()), /^Cities.*\d – \d.*≥ \d/)
  // The colour of the lowest class on the land, of which a tenth shines through.
  await until(async () => page.faults.length > 0 || (await showsColour(page, [218, 240, 186], 8, 200)))
  await screenshot(page, 'docs-html')
  assert.deepEqual(page.faults, [])
  await page.close()
})

const built = ['main.ts', 'app.tsx', 'sightings.ts']
let build: Promise<void> | undefined

/** Both files, each in a page of its own, in one build: MapLibre, nearly all of it, is the same. */
async function buildPages(): Promise<void> {
  for (const name of built) {
    const place = name === 'app.tsx' ? '<div id="root"></div>' : '<div id="map" style="height: 500px"></div>'
    await writeFile(join(folder, name), filled(file(name)))
    await writeFile(
      join(folder, `${name}.html`),
      `<!doctype html>${place}<script type="module" src="./${name}"></script>`,
    )
  }
  await writeFile(join(folder, 'config.mjs'), viteConfig?.text ?? '')
  const result = await runVite({
    configFile: join(folder, 'config.mjs'),
    root: folder,
    base: '/built/',
    logLevel: 'error',
    resolve: { conditions: ['graticule-source', 'module', 'browser', 'production'] },
    build: { write: false, rolldownOptions: { input: built.map((name) => join(folder, `${name}.html`)) } },
  })
  const outputs = (Array.isArray(result) ? result : [result]).flatMap((one) => ('output' in one ? one.output : []))
  for (const output of outputs)
    pages.set(`/built/${output.fileName}`, output.type === 'chunk' ? output.code : output.source)
}

const buildOnce = () => {
  build ??= buildPages()
  return build
}

for (const name of ['main.ts', 'app.tsx'])
  test(`${name} of docs/map.md is built by Vite as it is described, and shows the cities`, async () => {
    await buildOnce()
    await seeCities(`/built/${name}.html`, `docs-${name}`)
  })

test('sightings.ts of docs/map.md has colours with a legend, a filter, a tooltip and a slider over time in ten lines', async () => {
  const statements = file('sightings.ts')
    .text.split('\n')
    .filter((line) => line !== '' && !line.startsWith('//'))
  assert.ok(statements.length <= 10, String(statements.length))
  await buildOnce()
  const page = await browser.open()
  const asked: string[] = []
  page.on('request', (request) => asked.push(decodeURIComponent(request.url())))
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/built/sightings.ts.html`)
  await page.locator('.graticule-legend').getByText('Orca').waitFor()
  await page.locator('.graticule-time output').getByText('All times').waitFor()
  // The third of six lies at 21° east, 5° north; the first two have too few animals.
  const middle = { x: 400 + (512 * 4) / 360, y: 250 }
  const tooltip = page.locator('.graticule-tooltip')
  for (let turn = 0; (await tooltip.count()) === 0; turn++) await page.mouse.move(middle.x + (turn % 3), middle.y)
  assert.equal(await tooltip.textContent(), 'Orca')
  assert.ok(
    asked.some((address) => /\d\.mvt\?.*filter=\{"animals":\{"\$gte":2\}\}/.test(address)),
    asked.join('\n'),
  )
  const ofStep = page.waitForRequest((request) => /\d\.mvt\?.*[?&]time=2024-0/.test(decodeURIComponent(request.url())))
  await page.locator('.graticule-time input').press('ArrowRight')
  await ofStep
  await screenshot(page, 'docs-sightings')
  assert.deepEqual(page.faults, [])
  await page.close()
})

for (const block of blocks.filter((one) => one.language === 'js' && one !== viteConfig))
  test(`the code at line ${block.line} of docs/map.md does what it says without an error`, async () => {
    toolsPage ??= await browser.open()
    const page = toolsPage
    const { url, key, light } = world
    await page.evaluate(
      async ({ url, key, light, code }) => {
        const map = tools.open({ url, key })
        // What stands in a page of its own takes the place of the first map.
        const Run = Object.getPrototypeOf(async () => {}).constructor
        const names = { ...tools, client: map.client, map, state: tools.kept.state, light: { id: light } }
        await new Run(...Object.keys(names), `{ ${code} }`)(...Object.values(names))
        await tools.settled()
      },
      { url, key, light, code: filled(block) },
    )
    assert.deepEqual([await page.evaluate(() => tools.errors), page.faults], [[], []])
    await page.evaluate(() => tools.clear())
  })
