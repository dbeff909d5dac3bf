/// <reference lib="dom" />
/// <reference types="vite/client" />
// A page with a map of one dataset; its title says how many features are drawn.
import { createClient } from '@graticule/client'
import { DataSource, GraticuleMap } from '@graticule/map'
import { setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'

// MapLibre looks for its worker beside its own file, which bundlers move.
setWorkerUrl(workerUrl)
const address = new URLSearchParams(location.search)
const map = new GraticuleMap({
  container: 'map',
  client: createClient(address.get('url') ?? '', address.get('key')),
  style: { version: 8, sources: {}, layers: [] },
  center: [13.4, 52.5],
  zoom: 9,
})
new DataSource({ id: 'cities', svcMap: map, src: address.get('dataset') ?? '', type: 'geojson' })
map.gl.on('idle', () => {
  document.title = `${map.gl.queryRenderedFeatures().length} drawn`
})
