import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { loadSample } from '../sample.ts'
import { launchChromium } from '../testing/chromium.ts'
import { type Tenant, type TestApp, testApp } from '../testing/harness.ts'
import { baseStyles } from './base-styles.ts'
import { installBaseStyles } from './install-base-styles.ts'

const library = new URL('../../../../node_modules/maplibre-gl/dist/', import.meta.url)
const page = `<!doctype html><link rel="stylesheet" href="/maplibre-gl.css"><body style="margin:0">
<div id="map" style="width:1000px;height:640px"></div>
<script type="module">
import * as maplibregl from '/maplibre-gl.mjs'
maplibregl.setWorkerUrl?.('/maplibre-gl-worker.mjs')
const asked = new URLSearchParams(location.search)
window.faults = []
const map = new maplibregl.Map({ container: 'map', style: asked.get('style'), center: JSON.parse(asked.get('center')), zoom: Number(asked.get('zoom')), fadeDuration: 0 })
map.on('error', ({ error }) => window.faults.push(String(error?.message ?? error)))
map.on('styleimagemissing', ({ id }) => window.faults.push('no image ' + id))
map.on('load', () => {
  if (asked.get('data')) {
    map.addSource('data', { type: 'vector', url: asked.get('data') })
    map.addLayer({ id: 'data', type: 'circle', source: 'data', 'source-layer': 'geometry', paint: { 'circle-color': '#e8590c', 'circle-radius': 4 } })
  }
  map.once('idle', () => {
    const count = (prefix) => map.queryRenderedFeatures().filter(({ layer }) => layer.id.startsWith(prefix)).length
    const symbols = map.queryRenderedFeatures().filter(({ layer }) => layer.type === 'symbol')
    window.shown = { data: count('data'), symbols: symbols.length, icons: symbols.filter(({ layer }) => layer.layout?.['icon-image']).length, all: map.queryRenderedFeatures().length }
  })
})
</script>`

let app: TestApp
let tenant: Tenant
let url: string
let browser: Browser
const pages = createServer(async ({ url: path = '/' }, response) => {
  if (path.startsWith('/?')) return response.setHeader('content-type', 'text/html').end(page)
  const name = path.slice(1).split('?', 1)[0] ?? ''
  const file = await readFile(new URL(name, library)).catch(() => undefined)
  if (!file) return response.writeHead(name === 'favicon.ico' ? 204 : 404).end()
  response.setHeader('content-type', name.endsWith('.css') ? 'text/css' : 'text/javascript').end(file)
})

before(async () => {
  app = await testApp()
  await installBaseStyles(app.db, baseStyles())
  tenant = await app.tenant('atlas')
  await loadSample(app.db, tenant.id)
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
  await once(pages.listen(0, '127.0.0.1'), 'listening')
  browser = await launchChromium()
})
after(async () => {
  await browser?.close()
  pages.close()
  await app.close()
})

type Shown = { data: number; symbols: number; icons: number; all: number }

/** Opens a map and waits until nothing moves any more. SCREENSHOTS names a folder to keep what it looks like. */
async function look(name: string, parameters: Record<string, string>): Promise<Shown> {
  const view = await browser.newPage({ viewport: { width: 1000, height: 640 } })
  try {
    const { port } = pages.address() as AddressInfo
    await view.goto(`http://127.0.0.1:${port}/?${new URLSearchParams(parameters)}`)
    const deadline = Date.now() + 60_000
    let shown: Shown | undefined
    while (!shown && Date.now() < deadline) {
      shown = await view.evaluate('window.shown')
      if (!shown) await view.waitForTimeout(100)
    }
    assert.deepEqual(await view.evaluate('window.faults'), [], name)
    assert.ok(shown, `${name} was not drawn in time`)
    const folder = process.env.SCREENSHOTS
    if (folder) {
      await mkdir(folder, { recursive: true })
      await writeFile(`${folder}/${name}.png`, await view.screenshot())
    }
    return shown
  } finally {
    await view.close()
  }
}

test('a new application has four styles, and MapLibre draws the base map with labels in each of them', async () => {
  const { body: styles } = await app.call('GET', '/api/v1/styles?sort=name', { key: tenant.developer })
  assert.equal(styles.length, 4)
  for (const { id, metadata } of styles) {
    const style = `${url}/maps/${id}.json?api-key=${tenant.public}`
    const shown = await look(metadata.base, { style, center: '[10, 48]', zoom: '4.5' })
    assert.ok(shown.symbols > 20, `${metadata.base}: ${JSON.stringify(shown)}`)
    assert.ok(shown.icons > 3, `${metadata.base} has icons: ${JSON.stringify(shown)}`)
  }
})

test('a dataset lies over the base map', async () => {
  const { body: styles } = await app.call('GET', '/api/v1/styles?filter[name][$iLike]=dark%25', {
    key: tenant.developer,
  })
  const { body: datasets } = await app.call('GET', '/api/v1/datasets', { key: tenant.developer })
  const shown = await look('dataset', {
    style: `${url}/maps/${styles[0].id}.json?api-key=${tenant.public}`,
    data: `${url}/tiles/${datasets[0].id}/index.json?api-key=${tenant.public}`,
    center: '[10, 48]',
    zoom: '4',
  })
  assert.ok(shown.data > 200, JSON.stringify(shown))
})

test('the preview style shows points by itself', async () => {
  const { body: datasets } = await app.call('GET', '/api/v1/datasets', { key: tenant.developer })
  const style = `${url}/tiles/${datasets[0].id}/style.json?api-key=${tenant.public}`
  const shown = await look('preview', { style, center: '[10, 48]', zoom: '4' })
  assert.ok(shown.all > 200, JSON.stringify(shown))
})
