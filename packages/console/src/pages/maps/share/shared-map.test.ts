import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { defaultRecipe, type LayerRecipe, noRecipes, type Recipes } from '@graticule/map/recipe'
import { build as runVite } from 'vite'
import { bundle } from '../../../../../map/testing/browser.ts'
import { baseStyles } from '../../../../../server/src/tenants/cartography/maps/base-styles.ts'
import { accessibilityFaults, type ConsolePage, screenshots, setStage, until } from '../../../../testing/stage.ts'
import { withDescription, withRecipes } from '../recipe/map-style.ts'
import { type CodeKind, mapCode } from './map-code.ts'
import { shareKey, sharePath } from './share-link.ts'

// Shared maps, and pages with their code. What the code loads from unpkg.com comes from the sources and the installed packages.

const stage = setStage()
const root = resolve(import.meta.dirname, '../../../../../..')
// Below the packages, so that imports find them.
const folder = join(root, `node_modules/.cache/graticule/map-code-${process.pid}`)
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript' }
const pages = new Map<string, string | Uint8Array>()
const site = createServer(async ({ url = '/' }, response) => {
  const path = url.split('?', 1)[0] ?? ''
  const installed = /^\/unpkg\/maplibre-gl@6\/(.+)$/.exec(path)?.[1]
  const content = installed ? await readFile(join(root, 'node_modules/maplibre-gl', installed)) : pages.get(path)
  if (!content) return response.writeHead(path === '/favicon.ico' ? 204 : 404).end()
  response.setHeader('content-type', types[extname(path)] ?? 'text/css').end(content)
})
const addressOf = (path: string) => `http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`

before(() => once(site.listen(0, '127.0.0.1'), 'listening'))
after(async () => {
  site.close()
  await rm(folder, { recursive: true, force: true })
})

const call = async (method: string, path: string, body?: object) => {
  const reply = await stage.app.call(method, path, { key: stage.tenant.developer, ...(body && { body }) })
  assert.ok(reply.status < 300, reply.text)
  return reply.body
}

/** A map of the cities, with one in the middle of it. */
async function makeMap(change: Partial<LayerRecipe> = {}, recipes: Partial<Recipes> = {}): Promise<string> {
  const [dataset] = await call('GET', '/api/v1/datasets?filter[name]=Cities of the world')
  const layer: LayerRecipe = {
    ...defaultRecipe({ id: 'data-1', dataset, tilesId: dataset.id, index: 0, theme: 'light' }),
    name: 'Cities',
    popup: { title: 'name', fields: [{ name: 'population', label: 'People', digits: 0 }] },
    hover: 'name',
    ...change,
  }
  const light = baseStyles().find(({ key }) => key === 'light')?.style
  assert.ok(light)
  // Bern, alone in the middle.
  const begun = { ...light, name: 'Swiss cities', center: [7.447, 46.948], zoom: 9 } as never
  const style = withDescription(withRecipes(begun, { ...noRecipes, layers: [layer], ...recipes }), 'Where people live')
  return (await call('POST', '/api/v1/styles', { name: 'Swiss cities', description: 'Where people live', style })).id
}

async function makeKey(styleId: string, use: 'link' | 'code'): Promise<string> {
  const [dataset] = await call('GET', '/api/v1/datasets?filter[name]=Cities of the world')
  const options = { use, styleId, name: 'Swiss cities', tileSourceIds: [], allowedOrigins: [], expiresAt: null }
  return (await call('POST', '/api/v1/apikeys', shareKey({ ...options, datasetIds: [dataset.id] }))).id
}

/** Clicks where Bern is drawn, in the middle of the page. */
async function clickBern(page: ConsolePage): Promise<string> {
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
  const popup = page.locator('.maplibregl-popup .graticule-fields')
  // Its tile may not be drawn yet, and no event of the page tells when.
  await until(
    async () => {
      await page.mouse.move(width / 2 + 30, height / 2 + 40)
      await page.mouse.click(width / 2, height / 2)
      return popup.count()
    },
    (count) => count > 0,
  )
  return String(await popup.first().textContent())
}

test('a shared map tells what was chosen for a click and the pointer, and has the tools that were chosen', async () => {
  const id = await makeMap({}, { tools: ['search', 'fullscreen', 'locate', 'measure'] })
  const page = await stage.open(`/${sharePath(id, await makeKey(id, 'link'))}`, { key: null })
  await page.getByRole('heading', { name: 'Swiss cities' }).waitFor()
  await page.getByText('Where people live').waitFor()
  const tooltip = page.locator('.graticule-tooltip')
  // Its tile may not be drawn yet.
  await until(
    async () => {
      await page.mouse.move(700, 500)
      await page.mouse.move(641, 401)
      return tooltip.allTextContents()
    },
    ([text]) => text === 'Bern',
  )
  assert.match(await clickBern(page), /^BernPeople\d{3},\d{3}$/)
  await page.mouse.move(642, 402)
  assert.equal(await tooltip.count(), 0, 'the popup tells it already')
  for (const name of ['Search for a place', 'Enter fullscreen', 'Find my location'])
    await page.getByLabel(name).first().waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'shared-map')
  await page.getByRole('button', { name: 'Measure distances and areas' }).click()
  for (const x of [500, 600]) await page.mouse.click(x, 600)
  await page
    .locator('.graticule-measure output')
    .getByText(/^[\d.]+ km$/)
    .waitFor()
  assert.equal(await page.locator('.maplibregl-popup:not(.graticule-tooltip)').count(), 0, 'measuring opens no popup')
  await page.mouse.click(600, 500)
  await page
    .locator('.graticule-measure output')
    .getByText(/ km · [\d,.]+ km²$/)
    .waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.graticule-measure output').waitFor({ state: 'hidden' })
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('readers go through the times of hexagons, which are of the rows of the period', async () => {
  const { id: tenant } = stage.tenant
  await stage.app.db.script(`
    CREATE TABLE app_${tenant.replaceAll('-', '')}.quakes (id int PRIMARY KEY, at timestamptz, geom geometry(Point, 4326));
    INSERT INTO app_${tenant.replaceAll('-', '')}.quakes
      SELECT g, timestamptz '2024-01-01 12:00Z' + g * interval '1 day', ST_Point(7 + g / 10.0, 47, 4326) FROM generate_series(0, 9) g`)
  const dataset = await call('POST', '/api/v1/datasets', { type: 'table', name: 'Quakes', source: 'quakes' })
  const steps = [
    { from: '2024-01-01T00:00:00Z', to: '2024-01-06T00:00:00Z', count: 5 },
    { from: '2024-01-06T00:00:00Z', to: '2024-01-11T00:00:00Z', count: 5 },
  ]
  const id = await makeMap(
    {
      datasetId: dataset.id,
      tilesId: dataset.id,
      far: { kind: 'hexagons', below: null, value: 'count', classes: 2, breaks: [], ramp: 'Blues', isReversed: false },
      time: { attribute: 'at', type: 'datetime', steps, show: 'step' },
    },
    { tools: ['time'] },
  )
  const permissions = {
    styles: { execute: [id] },
    tiles: { execute: [dataset.id] },
    datasets: { execute: [dataset.id] },
  }
  const key = await stage.app.key(tenant, permissions)
  const page = await stage.open(`/${sharePath(id, key)}`, { key: null })
  const asked = page.waitForRequest(
    (request) => request.url().includes('aggregate=h3') && decodeURIComponent(request.url()).includes('$gte'),
  )
  const slider = page.locator('.graticule-time').getByRole('slider')
  await slider.fill('2')
  const { searchParams } = new URL((await asked).url())
  assert.deepEqual(JSON.parse(searchParams.get('filter') ?? ''), {
    at: { $gte: '2024-01-06T00:00:00.000Z', $lt: '2024-01-11T00:00:00.000Z' },
  })
  assert.equal((await (await asked).response())?.status(), 200)
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('a map that is saved has a picture, which a chat finds at its link', async () => {
  const id = await makeMap()
  const page = await stage.open(`/maps/${id}/share`)
  await page.getByLabel('Measure distances and areas').check()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText(/^Saved/).waitFor()
  await page.getByRole('button', { name: 'Make a link' }).click()
  await page.getByText('The link is ready').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  const look = async () => (await fetch(`${stage.url}/console/share/${id}`)).text()
  const html = await until(look, (text) => text.includes('og:image"'))
  assert.match(html, /<meta property="og:title" content="Swiss cities" \/>/)
  const [, address = ''] = /og:image" content="([^"]+)"/.exec(html) ?? []
  const shown = await page.evaluate(async (src) => {
    const image = new Image()
    image.src = src
    await image.decode()
    return [image.naturalWidth, image.naturalHeight]
  }, address)
  assert.deepEqual(shown, [800, 420])
  await page.close()
})

/** Opens a page that somebody pasted, and returns when it tells of Bern what the shared map tells. */
async function seePasted(path: string, name: string): Promise<void> {
  const page = await stage.open('/outbox', { key: null })
  page.faults.length = 0
  await page.goto(addressOf(path))
  await page.locator('.graticule-legend').getByText('Cities').first().waitFor()
  assert.match(await clickBern(page), /^BernPeople\d{3},\d{3}$/)
  await page.getByRole('combobox', { name: 'Search for a place' }).waitFor()
  await screenshots(page, name)
  assert.deepEqual(page.faults, [])
  await page.close()
}

async function codeOf(kind: CodeKind): Promise<string> {
  const styleId = await makeMap()
  const key = await makeKey(styleId, 'code')
  return mapCode(kind, { server: stage.url, key, styleId, title: 'Swiss cities' })
}

test('the code of a map runs as it is pasted, as a page of HTML', async () => {
  pages.set('/unpkg/@graticule/client@0.1/dist/client.js', await bundle(join(root, 'packages/client/src/client.ts')))
  pages.set('/unpkg/@graticule/map@0.1/dist/map.js', await bundle(join(root, 'packages/map/src/map.ts')))
  pages.set('/map.html', (await codeOf('html')).replaceAll('https://unpkg.com/', '/unpkg/'))
  await seePasted('/map.html', 'code-html')
})

test('the code of a map runs as it is pasted, as React in a project of Vite', async () => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'main.jsx'), await codeOf('react'))
  const html = '<!doctype html><div id="root"></div><script type="module" src="./main.jsx"></script>'
  await writeFile(join(folder, 'index.html'), html)
  const result = await runVite({
    configFile: false,
    root: folder,
    base: '/react/',
    logLevel: 'error',
    worker: { format: 'es' },
    resolve: { conditions: ['graticule-source', 'module', 'browser', 'production'] },
    build: { write: false },
  })
  const outputs = (Array.isArray(result) ? result : [result]).flatMap((one) => ('output' in one ? one.output : []))
  for (const output of outputs)
    pages.set(`/react/${output.fileName}`, output.type === 'chunk' ? output.code : output.source)
  await seePasted('/react/index.html', 'code-react')
})

test('a title cannot end the script that it stands in', () => {
  const options = { server: 'https://maps.example', key: 'k', styleId: 's', title: '</script><b>"\u2028' }
  assert.equal(mapCode('html', options).match(/<\/script>/g)?.length, 2)
  assert.ok(mapCode('react', options).includes('document.title = "\\u003c/script>\\u003cb>\\"\\u2028"'))
})
