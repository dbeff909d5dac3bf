/**
 * The picture of a map, drawn by an off-screen map: a JPEG that lists show, and chats beside a link. One after the other, because browsers
 * allow few WebGL contexts.
 */
import type { Client } from '@graticule/client'
import { AttributionControl, Map as MapLibreMap, type StyleSpecification, setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'
import { absoluteStyle } from '../../../map/absolute-style.ts'
import { toServer } from '../../../map/map-requests.ts'

setWorkerUrl(workerUrl)

/** What chats show large, and not much more than a list needs. */
const size = { width: 800, height: 420 }
/** A map in the editor is larger, so that this shows about the same. */
const zoomOut = 0.6
/** After this time, a map is captured even if tiles are missing. */
const patienceMs = 20_000
/** The server takes 256 KiB. */
const maxBytes = 262_144
const qualities = [0.85, 0.6, 0.3]

let turn: Promise<unknown> = Promise.resolve()

/** A data address. */
export function drawPicture(client: Client, style: StyleSpecification, signal?: AbortSignal): Promise<string> {
  const drawn = turn.then(() => {
    signal?.throwIfAborted()
    return draw(client, style)
  })
  turn = drawn.catch(() => undefined)
  return drawn
}

async function draw(client: Client, style: StyleSpecification): Promise<string> {
  const container = document.createElement('div')
  const place = { position: 'fixed', left: '-9999px', width: `${size.width}px`, height: `${size.height}px` }
  Object.assign(container.style, place)
  // Its buttons are not for anybody.
  container.inert = true
  document.body.append(container)
  const map = new MapLibreMap({
    container,
    style: absoluteStyle(style),
    center: (style.center as [number, number] | undefined) ?? [10, 25],
    zoom: style.zoom === undefined ? 0 : Math.max(style.zoom - zoomOut, 0),
    interactive: false,
    attributionControl: false,
    fadeDuration: 0,
    pixelRatio: 1,
    canvasContextAttributes: { preserveDrawingBuffer: true },
    transformRequest: toServer(client),
  })
  map.addControl(new AttributionControl({ compact: false }))
  try {
    await settled(map)
    const credits = container.querySelector('.maplibregl-ctrl-attrib-inner')?.textContent ?? ''
    return encoded(withCredits(map.getCanvas(), credits))
  } finally {
    map.remove()
    container.remove()
  }
}

/** Whoever made the data is named wherever their map is seen. */
function withCredits(map: HTMLCanvasElement, credits: string): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  Object.assign(canvas, size)
  const context = canvas.getContext('2d')
  if (!context) return map
  context.drawImage(map, 0, 0, size.width, size.height)
  if (credits === '') return canvas
  Object.assign(context, { font: '11px system-ui, sans-serif', textAlign: 'right', textBaseline: 'middle' })
  const width = Math.min(context.measureText(credits).width, size.width)
  context.fillStyle = '#ffffffb3'
  context.fillRect(size.width - width - 12, size.height - 18, width + 12, 18)
  context.fillStyle = '#24292e'
  context.fillText(credits, size.width - 6, size.height - 9, size.width - 12)
  return canvas
}

function encoded(canvas: HTMLCanvasElement): string {
  const addresses = qualities.map((quality) => canvas.toDataURL('image/jpeg', quality))
  return addresses.find(({ length }) => length * 0.75 < maxBytes) ?? addresses.at(-1) ?? ''
}

function settled(map: MapLibreMap): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patienceMs)
    // A failed tile leaves a hole in the picture; no other error is needed.
    map.on('error', () => undefined)
    map.once('idle', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
