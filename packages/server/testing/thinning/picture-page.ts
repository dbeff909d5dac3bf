// A page in Chromium that draws the same map of tiles and of rows, and tells its ink.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { launchChromium } from '../chromium.ts'
import type { Picture } from './picture.ts'

const library = new URL('../../../../node_modules/maplibre-gl/dist/', import.meta.url)
/** Pixels of a map, and of the side of a square whose ink is told as one number. */
const [width, height, square] = [640, 512, 8]

const html = `<!doctype html><link rel="stylesheet" href="/maplibre-gl.css"><body style="margin:0">
<div id="map" style="width:${width}px;height:${height}px"></div>
<script type="module">
import * as maplibregl from '/maplibre-gl.mjs'
maplibregl.setWorkerUrl('/maplibre-gl-worker.mjs')
maplibregl.prewarm()
let map
window.show = (sources, layer) => new Promise((resolve, reject) => {
  map?.remove()
  const layers = Object.keys(sources).map((source) => ({ ...layer, id: source, source, ...(source === 'tiles' && { 'source-layer': 'geometry' }) }))
  map = new maplibregl.Map({ container: 'map', fadeDuration: 0, pixelRatio: 1, style: { version: 8, sources, layers },
    canvasContextAttributes: { preserveDrawingBuffer: true } })
  map.on('error', ({ error }) => reject(error))
  map.once('load', resolve)
})
const copy = new OffscreenCanvas(${width}, ${height}).getContext('2d', { willReadFrequently: true })
window.look = (source, view) => new Promise((resolve) => {
  for (const id of ['tiles', 'rows']) map.setLayoutProperty(id, 'visibility', id === source ? 'visible' : 'none')
  map.jumpTo(view)
  map.once('idle', () => {
    copy.clearRect(0, 0, ${width}, ${height})
    copy.drawImage(map.getCanvas(), 0, 0)
    const { data } = copy.getImageData(0, 0, ${width}, ${height})
    const ink = new Array(${(width / square) * (height / square)}).fill(0)
    for (let at = 3, pixel = 0; at < data.length; at += 4, pixel++) {
      const [x, y] = [pixel % ${width}, Math.floor(pixel / ${width})]
      ink[Math.floor(y / ${square}) * ${width / square} + Math.floor(x / ${square})] += data[at] / 255 / ${square ** 2}
    }
    resolve(ink)
  })
})
</script>`

export type PictureView = { readonly center: readonly [number, number]; readonly zoom: number }

export type PicturePage = Awaited<ReturnType<typeof openPicturePage>>

/** What the map is made of: the address of tiles, features, and how both are drawn. */
type DrawnPage = { readonly tiles: string; readonly rows: string; readonly layer: object }

export async function openPicturePage() {
  let rows = ''
  const site = createServer(async ({ url = '/' }, response) => {
    const name = url.slice(1)
    if (name === '') return response.setHeader('content-type', 'text/html').end(html)
    if (name === 'rows.json') return response.setHeader('content-type', 'application/json').end(rows)
    const file = await readFile(new URL(name, library)).catch(() => undefined)
    if (!file) return response.writeHead(name === 'favicon.ico' ? 204 : 404).end()
    response.setHeader('content-type', name.endsWith('.css') ? 'text/css' : 'text/javascript').end(file)
  })
  await once(site.listen(0, '127.0.0.1'), 'listening')
  const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
  const browser = await launchChromium()
  const page = await browser.newPage({ viewport: { width, height } })
  page.setDefaultTimeout(100_000)
  await page.goto(address)
  return {
    /** Of rows all corners are drawn. */
    async show({ tiles, rows: collection, layer }: DrawnPage): Promise<void> {
      rows = collection
      const sources = {
        tiles: { type: 'vector', tiles: [tiles], maxzoom: 14 },
        rows: { type: 'geojson', data: `${address}rows.json`, tolerance: 0, maxzoom: 14 },
      }
      await page.evaluate(`show(${JSON.stringify(sources)}, ${JSON.stringify(layer)})`)
    },
    async look(source: 'tiles' | 'rows', view: PictureView): Promise<Picture> {
      const ink = await page.evaluate<number[]>(`look(${JSON.stringify(source)}, ${JSON.stringify(view)})`)
      return { width: width / square, height: height / square, ink: Float64Array.from(ink) }
    },
    async close(): Promise<void> {
      await browser.close()
      site.close()
    },
  }
}
