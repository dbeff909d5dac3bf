// The page at /: the base map, and over it the datasets that a pasted key may see. The key is kept in this variable alone.
import * as maplibregl from './maplibre-gl.mjs'

const pageSize = 50
const colors = ['#e8590c', '#1c7ed6', '#2f9e44', '#ae3ec9', '#f08c00', '#0c8599']
const element = (id) => document.getElementById(id)
const isDark = matchMedia('(prefers-color-scheme: dark)')
/** Where the server is, also behind a proxy that adds a path. */
const root = new URL('..', import.meta.url).href
const address = (path) => root + path.replace(/^\//, '')

let key = ''
let listed = 0
let isStyleLoaded = false
/** Dataset id → what is drawn of it. */
const shown = new Map()

maplibregl.setWorkerUrl(address('home/maplibre-gl-worker.mjs'))
const map = new maplibregl.Map({
  container: 'map',
  center: [10, 48],
  zoom: 3.2,
  transformRequest: (url) => (url.startsWith(root) && key ? { url, headers: { 'x-api-key': key } } : { url }),
})
map.addControl(new maplibregl.NavigationControl({ showCompass: false }))
map.on('style.load', () => {
  isStyleLoaded = true
  for (const layer of shown.values()) draw(layer)
})
map.on('click', showFeature)
isDark.addEventListener('change', () => void loadBaseStyle())
void loadBaseStyle()

async function loadBaseStyle() {
  const response = await fetch(address(`home/${isDark.matches ? 'dark' : 'light'}.json`))
  const style = await response.json()
  for (const source of Object.values(style.sources)) source.url = address(source.url)
  isStyleLoaded = false
  map.setStyle({ ...style, glyphs: address(style.glyphs), sprite: address(style.sprite) })
}

async function ask(path) {
  const response = await fetch(address(path), { headers: { 'x-api-key': key } })
  const body = await response.json().catch(() => undefined)
  if (!response.ok) throw new Error(body?.detail ?? `The server answered ${response.status}.`)
  return { body, total: Number(response.headers.get('x-total-count')) }
}

const say = (text) => {
  element('status').textContent = text
}

element('access').addEventListener('submit', (event) => {
  event.preventDefault()
  key = element('key').value.trim()
  void begin()
})

let typing
element('phrase').addEventListener('input', () => {
  clearTimeout(typing)
  typing = setTimeout(() => void list(true), 250)
})
element('more').addEventListener('click', () => void list(false))

async function begin() {
  for (const id of [...shown.keys()]) hide(id)
  element('phrase').value = ''
  element('search').hidden = true
  await list(true)
  const first = document.querySelector('#datasets input')
  if (first) first.click()
}

async function list(isNew) {
  const phrase = element('phrase').value.trim()
  const query = new URLSearchParams({
    fields: 'id,name,description,attributes',
    sort: 'name',
    limit: String(pageSize),
    offset: String(isNew ? 0 : listed),
  })
  if (phrase) query.set('filter', JSON.stringify({ name: { $iLike: `%${phrase.replaceAll(/[\\%_]/g, '\\$&')}%` } }))
  say('Loading …')
  try {
    const { body: datasets, total } = await ask(`/api/v1/datasets?${query}`)
    if (isNew) element('datasets').replaceChildren()
    listed = (isNew ? 0 : listed) + datasets.length
    element('datasets').append(...datasets.map(entry))
    element('more').hidden = listed >= total
    element('search').hidden = total <= 10 && !phrase
    say(countText(total))
  } catch (error) {
    element('datasets').replaceChildren()
    element('more').hidden = true
    say(error.message)
  }
}

function countText(total) {
  if (total === 0) return 'No datasets.'
  const datasets = total === 1 ? '1 dataset' : `${total} datasets`
  return listed < total ? `The first ${listed} of ${datasets}` : datasets
}

function entry({ id, name, description, attributes }) {
  const item = document.createElement('li')
  const label = document.createElement('label')
  const isMap = attributes.some(({ type }) => type === 'geometry')
  if (isMap) {
    const box = document.createElement('input')
    box.type = 'checkbox'
    box.checked = shown.has(id)
    box.addEventListener('change', () => void (box.checked ? show(id, name) : hide(id)))
    label.append(box)
  }
  label.append(name)
  item.append(label)
  const about = [description, isMap ? '' : 'No geometry: not on the map.'].filter(Boolean).join(' ')
  if (about) {
    const text = document.createElement('p')
    text.className = 'about'
    text.textContent = about
    item.append(text)
  }
  return item
}

async function show(id, name) {
  try {
    const { body: tiles } = await ask(`/tiles/${id}/index.json`)
    const layer = { id, tiles, color: colors[shown.size % colors.length] }
    shown.set(id, layer)
    draw(layer)
    if (tiles.bounds) map.fitBounds(tiles.bounds, { padding: 40, maxZoom: 12, animate: false })
  } catch (error) {
    say(`${name}: ${error.message}`)
  }
}

function hide(id) {
  shown.delete(id)
  if (!isStyleLoaded) return
  for (const layer of map.getStyle().layers) if (layer.source === id) map.removeLayer(layer.id)
  if (map.getSource(id)) map.removeSource(id)
}

function draw({ id, tiles, color }) {
  if (!isStyleLoaded || map.getSource(id)) return
  const { tiles: addresses, minzoom, maxzoom, bounds, attribution } = tiles
  map.addSource(id, { type: 'vector', tiles: addresses, minzoom, maxzoom, bounds, attribution })
  for (const { id: name } of tiles.vector_layers) {
    const add = (type, kind, paint) =>
      map.addLayer({
        id: `${id} ${name} ${type}`,
        type,
        source: id,
        'source-layer': name,
        filter: ['==', ['geometry-type'], kind],
        paint,
      })
    add('fill', 'Polygon', { 'fill-color': color, 'fill-opacity': 0.35, 'fill-outline-color': color })
    add('line', 'LineString', { 'line-color': color, 'line-width': 1.5 })
    const radius = ['interpolate', ['linear'], ['zoom'], 0, 1.5, 4, 3.5, 10, 6]
    add('circle', 'Point', { 'circle-color': color, 'circle-radius': radius })
  }
}

function showFeature({ point, lngLat }) {
  const corners = [
    [point.x - 4, point.y - 4],
    [point.x + 4, point.y + 4],
  ]
  const [feature] = map.queryRenderedFeatures(corners).filter(({ source }) => shown.has(source))
  if (!feature) return
  const facts = document.createElement('dl')
  for (const [name, value] of Object.entries(feature.properties)) {
    const term = document.createElement('dt')
    term.textContent = name
    const text = document.createElement('dd')
    text.textContent = String(value)
    facts.append(term, text)
  }
  new maplibregl.Popup({ maxWidth: '20rem' }).setLngLat(lngLat).setDOMContent(facts).addTo(map)
}
