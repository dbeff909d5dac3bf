import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../../../testing/chromium.ts'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { loadSample } from '../../../data/uploads/sample.ts'
import { baseStyles } from './base-styles.ts'
import { installBaseStyles } from './install-base-styles.ts'

const library = new URL('../../../../../../node_modules/maplibre-gl/dist/', import.meta.url)
const page = `<!doctype html><link rel="stylesheet" href="/maplibre-gl.css"><body style="margin:0">
<div id="map" style="width:1000px;height:640px"></div>
<script type="module">
import * as maplibregl from '/maplibre-gl.mjs'
maplibregl.setWorkerUrl?.('/maplibre-gl-worker.mjs')
// Workers end with the last map otherwise.
maplibregl.prewarm()
let map
// The next map of this page, as soon as it is drawn or has failed.
window.look = ({ data, ...options }) => new Promise((resolve) => {
  map?.remove()
  map = new maplibregl.Map({ container: 'map', fadeDuration: 0, ...options })
  const fail = (fault) => resolve({ fault })
  map.on('error', ({ error }) => fail(String(error?.message ?? error)))
  map.on('styleimagemissing', ({ id }) => fail('no image ' + id))
  map.on('load', () => {
    if (data) {
      map.addSource('data', { type: 'vector', url: data })
      map.addLayer({ id: 'data', type: 'circle', source: 'data', 'source-layer': 'geometry', paint: { 'circle-color': '#e8590c', 'circle-radius': 4 } })
    }
    map.once('idle', () => {
      const features = map.queryRenderedFeatures()
      const symbols = features.filter(({ layer }) => layer.type === 'symbol')
      resolve({ shown: {
        data: features.filter(({ layer }) => layer.id.startsWith('data')).length,
        symbols: symbols.length,
        icons: symbols.filter(({ layer }) => layer.layout?.['icon-image']).length,
        all: features.length,
      } })
    })
  })
})
</script>`

let app: TestApp
let tenant: Tenant
let url: string
let browser: Browser
let view: Page
const pages = createServer(async ({ url: path = '/' }, response) => {
  if (path === '/') return response.setHeader('content-type', 'text/html').end(page)
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
  view = await browser.newPage({ viewport: { width: 1000, height: 640 } })
  await view.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`)
})
after(async () => {
  await browser?.close()
  pages.close()
  await app.close()
})

type Shown = { data: number; symbols: number; icons: number; all: number }

type View = { style: string; center: [number, number]; zoom: number; data?: string }

/** Shows a map and waits until nothing moves any more. SCREENSHOTS names a folder to keep what it looks like. */
async function look(name: string, options: View): Promise<Shown> {
  const { shown, fault } = await view.evaluate<{ shown?: Shown; fault?: string }>(`look(${JSON.stringify(options)})`)
  assert.equal(fault, undefined, name)
  assert.ok(shown)
  const folder = process.env.SCREENSHOTS
  if (folder) {
    await mkdir(folder, { recursive: true })
    await writeFile(`${folder}/${name}.png`, await view.screenshot())
  }
  return shown
}

test('a new application has four styles, and MapLibre draws the base map with labels in each of them', async () => {
  const { body: styles } = await app.call('GET', '/api/v1/styles?sort=name', { key: tenant.developer })
  assert.equal(styles.length, 4)
  for (const { id, metadata } of styles) {
    const style = `${url}/maps/${id}.json?api-key=${tenant.public}`
    const shown = await look(metadata.base, { style, center: [10, 48], zoom: 4.5 })
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
    center: [10, 48],
    zoom: 4,
  })
  assert.ok(shown.data > 200, JSON.stringify(shown))
})

test('the preview style shows points by itself', async () => {
  const { body: datasets } = await app.call('GET', '/api/v1/datasets', { key: tenant.developer })
  const style = `${url}/tiles/${datasets[0].id}/style.json?api-key=${tenant.public}`
  const shown = await look('preview', { style, center: [10, 48], zoom: 4 })
  assert.ok(shown.all > 200, JSON.stringify(shown))
})
