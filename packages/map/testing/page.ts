/// <reference lib="dom" />
/** What the tests' page offers to tests: the package, and maps that can be waited for and looked at. */

import { createClient } from '@graticule/client'
import * as maplibregl from 'maplibre-gl'
import { createElement, StrictMode } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import * as graticule from '../src/map.ts'
import { App, type AppProps } from './react-app.tsx'

maplibregl.setWorkerUrl('/maplibre-gl-worker.mjs')
// Workers end with the last map otherwise, and each test has its own.
maplibregl.prewarm()

/** What a test keeps between its steps. */
interface Kept {
  map: graticule.GraticuleMap
  state: graticule.State
  source: graticule.DataSource
  other: graticule.DataSource
  /** What the state begins with. */
  initial?: object
}

type OpenOptions = Partial<graticule.GraticuleMapOptions> & { url: string; key: string }

/** Maps of this page that somebody must remove: `open` makes them, and code of the documentation. */
const maps = new Set<graticule.GraticuleMap>()

class GraticuleMap extends graticule.GraticuleMap {
  constructor(options: graticule.GraticuleMapOptions) {
    super(options)
    maps.add(this)
  }

  override remove(): void {
    maps.delete(this)
    super.remove()
  }
}

const kept = {} as Kept
const errors: string[] = []
/** Ids of the sources that are no longer live. */
const ended: string[] = []
let queries = 0

/** The client, with its queries counted while they run. */
function watchedClient(url: string, key: string): graticule.MapClient {
  const client = createClient(url, key)
  const query: graticule.MapClient['datasets']['query'] = async (...question) => {
    queries++
    try {
      return await client.datasets.query(...question)
    } finally {
      queries--
    }
  }
  const { maps, tiles, transformRequest, datasets, styles, places } = client
  return { url: client.url, maps, tiles, styles, places, transformRequest, datasets: { ...datasets, query } }
}

/** A map of the whole page, kept with its state. Its errors are collected. */
function open({ url, key, ...options }: OpenOptions): graticule.GraticuleMap {
  const state = graticule.createState(kept.initial ?? { ui: {} })
  const background = { id: 'background', type: 'background', paint: { 'background-color': '#e8eef2' } } as const
  const map = new GraticuleMap({
    container: 'map',
    client: watchedClient(url, key),
    style: { version: 8, sources: {}, layers: [background] },
    center: [0, 0],
    zoom: 2,
    fadeDuration: 0,
    attributionControl: false,
    state,
    ...options,
  })
  for (const type of ['error', 'sourceerror'] as const)
    map.addEventListener(type, (event) => {
      event.preventDefault()
      errors.push(event.detail.error.message)
    })
  map.addEventListener('liveend', ({ detail }) => ended.push(detail.sourceId))
  Object.assign(kept, { map, state })
  return map
}

let app: Root | undefined

/** Makes the page what it was before a test. */
function clear(): void {
  app?.unmount()
  app = undefined
  for (const map of maps) map.remove()
  for (const name of Object.keys(kept)) delete kept[name as keyof Kept]
  errors.length = 0
  ended.length = 0
}

function renderApp(url: string, key: string, props: Pick<AppProps, 'dataset' | 'light' | 'dark'>): void {
  kept.state = graticule.createState({ ui: { other: null } })
  const element = createElement(App, {
    ...props,
    client: watchedClient(url, key),
    state: kept.state,
    onReady: (map) => Object.assign(kept, { map }),
    onError: (message) => errors.push(message),
  })
  app = createRoot(document.getElementById('root') as HTMLElement)
  app.render(createElement(StrictMode, null, element))
}

/** Resolves when the condition holds, which is looked at with every frame. */
async function until(holds: () => unknown): Promise<void> {
  while (!holds()) await new Promise((resolve) => requestAnimationFrame(resolve))
}

/** Resolves when queries have been answered and the map has loaded and drawn everything there is. */
async function settled(): Promise<void> {
  do {
    await until(() => queries === 0)
    let isIdle = false
    kept.map.gl.once('idle', () => {
      isIdle = true
    })
    // MapLibre draws no frame after tiles that were loaded again and are the same. While it loads, frames would only cost time.
    await until(() => isIdle || (kept.map.gl.loaded() && void kept.map.gl.triggerRepaint()))
  } while (queries > 0)
}

/** Resolves when the style that comes has been loaded and drawn. */
async function restyled(): Promise<void> {
  await new Promise((resolve) => kept.map.gl.once('style.load', resolve))
  await settled()
}

function drawn(id: string): maplibregl.MapGeoJSONFeature[] {
  const { gl } = kept.map
  const layers = gl.getStyle().layers.filter((layer) => 'source' in layer && layer.source === id)
  return gl.queryRenderedFeatures({ layers: layers.map((layer) => layer.id) })
}

/** Points of the source that were missing in a frame since `watchFrames`. */
const missed = new Set<number>()

function watchFrames(id: string, expected: readonly number[]): void {
  missed.clear()
  kept.map.gl.on('render', () => {
    const ids = new Set(drawn(id).map((feature) => feature.id))
    for (const one of expected) if (!ids.has(one)) missed.add(one)
  })
}

/** At how many of the watched places something was drawn, for each frame since `watchPlaces`. */
const drawnPlaces: number[] = []

/**
 * Looks at the pixels of every frame, in the task that has drawn it: later they are gone. Frames are drawn all the time, as if
 * something else were moving, so that nothing can hide between two of them.
 */
function watchPlaces(places: readonly [number, number][]): void {
  const { gl } = kept.map
  const context = gl.getCanvas().getContext('webgl2') as WebGL2RenderingContext
  const pixelAt = (place: [number, number]): string => {
    const { x, y } = gl.project(place).mult(gl.getPixelRatio())
    const pixel = new Uint8Array(4)
    context.readPixels(x, gl.getCanvas().height - y, 1, 1, context.RGBA, context.UNSIGNED_BYTE, pixel)
    return pixel.join()
  }
  drawnPlaces.length = 0
  gl.on('render', () => {
    const nothing = pixelAt([-15, 5])
    drawnPlaces.push(places.filter((place) => pixelAt(place) !== nothing).length)
  })
  const ticking = setInterval(() => gl.triggerRepaint(), 40)
  gl.once('remove', () => clearInterval(ticking))
}

/** Whether a point of the source is drawn within a pixel or two of a place, and nowhere else. */
function isAt(source: string, id: number, place: [number, number]): boolean {
  const wanted = kept.map.gl.project(place)
  const points = drawn(source).filter((feature) => feature.id === id)
  const isNear = ({ geometry }: maplibregl.MapGeoJSONFeature) =>
    geometry.type === 'Point' && kept.map.gl.project(geometry.coordinates as [number, number]).dist(wanted) < 2
  return points.length > 0 && points.every(isNear)
}

const distinct = (values: unknown[]) =>
  [...new Set(values)].sort((one, other) => String(one).localeCompare(String(other), 'en', { numeric: true }))

/** The colour of a picture of one pixel, as #rrggbb. */
async function colourOf(picture: string): Promise<string> {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob())
  const context = new OffscreenCanvas(1, 1).getContext('2d')
  context?.drawImage(image, 0, 0)
  const channels = context?.getImageData(0, 0, 1, 1).data.slice(0, 3) ?? []
  return `#${Array.from(channels, (channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

const tools = {
  ...graticule,
  createClient,
  GraticuleMap,
  renderApp,
  clear,
  kept,
  errors,
  ended,
  open,
  until,
  settled,
  restyled,
  colourOf,
  /** Ids of the features of a source that are drawn. */
  shown: (id: string) => distinct(drawn(id).map((feature) => feature.id)),
  /** Ids of the features of a source that are drawn as selected. */
  selected: (id: string) => distinct(drawn(id).flatMap((feature) => (feature.state.selected ? [feature.id] : []))),
  sourceLayers: (id: string) => distinct(drawn(id).map(({ sourceLayer }) => sourceLayer)),
  isAt,
  watchFrames,
  missedInFrames: () => [...missed],
  watchPlaces,
  drawnPlaces,
  /** How many points each cluster of a source has. */
  clusters: (id: string) => distinct(drawn(id).flatMap(({ properties }) => properties.point_count ?? [])),
}

export type Tools = typeof tools
Object.assign(window, { tools })
