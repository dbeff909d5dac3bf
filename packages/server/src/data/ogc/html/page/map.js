/** Shows the features of a page on the base map that comes with the server. */
import { Map as MapView, NavigationControl, setWorkerUrl } from './maplibre-gl.mjs'

// A file, because the content security policy forbids blob workers.
setWorkerUrl(new URL('./maplibre-gl-worker.mjs', import.meta.url).href)

/** The server's own address, wherever a proxy puts it. */
const server = new URL('../../../', import.meta.url)
const element = document.getElementById('map')
const { features, tiles, bounds } = element.dataset
const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'

/** The style's addresses are relative to the server. */
function absolute(value) {
  if (typeof value === 'string') return value.startsWith('/') ? decodeURI(new URL(value.slice(1), server).href) : value
  if (Array.isArray(value)) return value.map(absolute)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, absolute(item)]))
}

const json = async (address) => (await fetch(address)).json()

/** Less than about a kilometre: the bundled base map shows where it lies, to zoom 9. */
const isTiny = ([west, south, east, north]) => Math.max(east - west, north - south) < 0.01

function boxOf(geojson) {
  const box = [180, 90, -180, -90]
  const visit = (value) => {
    if (!Array.isArray(value)) return
    if (typeof value[0] !== 'number') return value.forEach(visit)
    const [x, y] = value
    box[0] = Math.min(box[0], x)
    box[1] = Math.min(box[1], y)
    box[2] = Math.max(box[2], x)
    box[3] = Math.max(box[3], y)
  }
  for (const { geometry } of geojson.features ?? [geojson]) {
    for (const part of geometry?.geometries ?? [geometry]) visit(part?.coordinates)
  }
  return box[0] <= box[2] ? box : undefined
}

/** Draws the features of a source; `layer` is the one in its tiles. */
function draw(map, source, layer = {}) {
  const colour = '#d9480f'
  map.addSource('features', source)
  const add = (id, type, geometry, paint) =>
    map.addLayer({ id, type, source: 'features', ...layer, filter: ['==', ['geometry-type'], geometry], paint })
  add('areas', 'fill', 'Polygon', { 'fill-color': colour, 'fill-opacity': 0.25 })
  add('edges', 'line', 'Polygon', { 'line-color': colour, 'line-width': 1 })
  add('lines', 'line', 'LineString', { 'line-color': colour, 'line-width': 2 })
  add('points', 'circle', 'Point', {
    'circle-color': colour,
    'circle-radius': source.type === 'vector' ? 3 : 5,
    'circle-stroke-color': '#fff',
    'circle-stroke-width': 1,
  })
}

async function start() {
  // The page may be in another reference system; a map needs degrees.
  const address = features && new URL(features)
  address?.searchParams.delete('crs')
  const [style, data] = await Promise.all([
    json(new URL(`console/base/${theme}.json`, server)),
    address ? json(address) : undefined,
  ])
  const { glyphs, sprite, sources } = style
  const box = (data && boxOf(data)) ?? bounds?.split(',').map(Number)
  const map = new MapView({
    container: element,
    style: { ...style, glyphs: absolute(glyphs), sprite: absolute(sprite), sources: absolute(sources) },
    ...(box && { bounds: box, fitBoundsOptions: { padding: 40, maxZoom: isTiny(box) ? 9 : 14 } }),
    attributionControl: { compact: true },
  })
  map.addControl(new NavigationControl({ showCompass: false }))
  map.on('load', () => {
    if (data) draw(map, { type: 'geojson', data })
    if (tiles) draw(map, { type: 'vector', url: tiles }, { 'source-layer': 'geometry' })
    map.once('idle', () => element.setAttribute('data-ready', ''))
  })
}

start().catch(() => element.setAttribute('hidden', ''))
