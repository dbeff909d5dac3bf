/**
 * Thumbnails of maps, rendered one after another by a single off-screen map, because browsers allow few WebGL contexts.
 * Cached by the version of the style until the page is closed.
 */

import type { Client } from '@graticule/client'
import { Map as MapLibreMap, type StyleSpecification, setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'
import { absoluteStyle } from '../../../map/absolute-style.ts'
import { toServer } from '../../../map/map-requests.ts'

setWorkerUrl(workerUrl)

const size = { width: 360, height: 200 }
/** After this time, a map is captured even if tiles are missing. */
const patienceMs = 20_000

const pictures = new Map<string, Promise<string>>()
let turn: Promise<unknown> = Promise.resolve()

/** Returns a data URL. A version is rendered once; a caller that waits for an aborted rendering starts it again. */
export async function thumbnail(client: Client, id: string, version: string, signal: AbortSignal): Promise<string> {
  const name = `${id} ${version}`
  const picture = await pictures.get(name)?.catch(() => undefined)
  if (picture) return picture
  const drawn = turn.then(async () => {
    signal.throwIfAborted()
    return draw(client, (await client.styles.get(id, { signal })).style as unknown as StyleSpecification)
  })
  turn = drawn.catch(() => undefined)
  pictures.set(name, drawn)
  drawn.catch(() => pictures.delete(name))
  return drawn
}

async function draw(client: Client, style: StyleSpecification): Promise<string> {
  const container = document.createElement('div')
  Object.assign(container.style, {
    position: 'fixed',
    left: '-9999px',
    width: `${size.width}px`,
    height: `${size.height}px`,
  })
  container.ariaHidden = 'true'
  document.body.append(container)
  const map = new MapLibreMap({
    container,
    style: absoluteStyle(style),
    center: (style.center as [number, number] | undefined) ?? [10, 25],
    zoom: style.zoom === undefined ? 0 : Math.max(style.zoom - 0.8, 0),
    interactive: false,
    attributionControl: false,
    fadeDuration: 0,
    pixelRatio: 1,
    canvasContextAttributes: { preserveDrawingBuffer: true },
    transformRequest: toServer(client),
  })
  try {
    await settled(map)
    return map.getCanvas().toDataURL('image/webp', 0.8)
  } finally {
    map.remove()
    container.remove()
  }
}

function settled(map: MapLibreMap): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patienceMs)
    // A failed tile leaves a hole in the thumbnail; no other error is needed.
    map.on('error', () => undefined)
    map.once('idle', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
