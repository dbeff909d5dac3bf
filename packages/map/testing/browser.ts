/**
 * Chromium with the tests' page: the package is bundled once for each test file, MapLibre is served as it is installed.
 * SCREENSHOTS names a folder to keep what the maps look like.
 */
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import { endRoutesWith, launchChromium } from '../../server/testing/chromium.ts'

const root = resolve(import.meta.dirname, '../../..')
const html = `<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="/maplibre-gl.css">
<script type="importmap">{ "imports": { "maplibre-gl": "/maplibre-gl.mjs" } }</script>
<body style="margin:0"><div id="map" style="width:800px;height:500px"></div><div id="root"></div>
<script type="module" src="/page.js"></script>`

export type TestBrowser = Awaited<ReturnType<typeof startBrowser>>

export async function startBrowser() {
  const page = await bundle(resolve(import.meta.dirname, 'page.ts'))
  const files = createServer(async ({ url = '/' }, response) => {
    const name = url.slice(1).split('?', 1)[0] ?? ''
    if (name === '') return response.setHeader('content-type', 'text/html').end(html)
    const file =
      name === 'page.js' ? page : await readFile(resolve(root, 'node_modules/maplibre-gl/dist', name)).catch(() => null)
    if (file === null) return response.writeHead(name === 'favicon.ico' ? 204 : 404).end()
    response.setHeader('content-type', name.endsWith('.css') ? 'text/css' : 'text/javascript').end(file)
  })
  await once(files.listen(0, '127.0.0.1'), 'listening')
  const browser = await launchChromium()
  return {
    /** The tests' page, without a map, or another. What it throws fails the test that looks at `faults`. */
    async open(address?: string): Promise<Page & { faults: string[] }> {
      const opened = endRoutesWith(await browser.newPage({ viewport: { width: 800, height: 500 } }))
      // A busy machine is no fault of the page.
      opened.setDefaultTimeout(100_000)
      const faults: string[] = []
      opened.on('pageerror', ({ message }) => faults.push(message))
      opened.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
      const own = `http://127.0.0.1:${(files.address() as AddressInfo).port}/`
      await opened.goto(address ?? own, { waitUntil: 'load' })
      return Object.assign(opened, { faults })
    },
    async close() {
      await browser.close()
      files.close()
    },
  }
}

/** A module with all that it imports but MapLibre, as one text; also what it would load later. */
export async function bundle(entry: string): Promise<string> {
  const [chunk] = await chunksOf(entry, ['maplibre-gl'], { isWhole: true, minify: false })
  return chunk?.code ?? ''
}

/** What a page loads to run the module, and not what it may load later, minified. */
export async function bundledAtOnce(entry: string, external: string[]): Promise<string> {
  const chunks = await chunksOf(entry, external, { isWhole: false, minify: true })
  const needed = new Set(chunks.filter(({ isEntry }) => isEntry))
  for (const chunk of needed) for (const other of chunks) if (chunk.imports.includes(other.fileName)) needed.add(other)
  return Array.from(needed, ({ code }) => code).join('')
}

async function chunksOf(entry: string, external: string[], { isWhole, minify }: { isWhole: boolean; minify: boolean }) {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    root,
    resolve: { conditions: ['graticule-source', 'module', 'browser', 'development'] },
    // React mounts twice in StrictMode only in development.
    define: { 'process.env.NODE_ENV': '"development"' },
    build: {
      write: false,
      minify,
      target: 'es2022',
      lib: { entry, formats: ['es'] },
      rolldownOptions: { external, output: { codeSplitting: !isWhole } },
    },
  })
  const outputs = (Array.isArray(result) ? result : [result]).flatMap((one) => ('output' in one ? one.output : []))
  return outputs.filter((output) => output.type === 'chunk')
}

/** Somebody else's server, which notes what it is asked: a point at /points.geojson, and tiles without anything. */
export async function otherServer(asked: { url: string; headers: object }[]) {
  const point = { type: 'Feature', id: 1, geometry: { type: 'Point', coordinates: [0, 0] }, properties: {} }
  const server = createServer(({ url = '', headers }, response) => {
    asked.push({ url, headers })
    response.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*')
    if (!url.startsWith('/points.geojson')) return response.writeHead(204).end()
    response.end(JSON.stringify({ type: 'FeatureCollection', features: [point] }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  }
}

export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (!folder) return
  await mkdir(folder, { recursive: true })
  await writeFile(`${folder}/${name}.png`, await page.screenshot())
}
