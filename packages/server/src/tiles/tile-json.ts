import type { VectorLayer } from './archives/archive.ts'
import { centerOf, type Known } from './known-sources.ts'
import { versionParameter } from './tile-request.ts'
import type { Extent } from './tile-source.ts'

/** The layer of a tile that is made of a dataset. */
const layerName = 'geometry'

/** Where things are, as the client sees it. `key` is carried along when it came in the address. */
export type Links = { readonly base: string; readonly key?: string | undefined }

/** An address on this server, with the key when it came by address. */
export function link({ base, key }: Links, path: string, parameters: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries({ ...parameters, ...(key && { 'api-key': key }) })
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return `${base}${path}${query ? `?${query}` : ''}`
}

/** TileJSON 3.0.0. `extra` is the rest of the query: tiles take the same filter as their description. */
export function tileJson(known: Known, links: Links, extra: string): object {
  const { source, version, name, archive } = known
  const { minZoom, maxZoom, extentLngLat, attribution } = source
  const address = link(links, `/tiles/${source.id}/{z}/{x}/{y}.${extensionOf(known)}`, { [versionParameter]: version })
  return {
    tilejson: '3.0.0',
    name,
    ...(archive?.description && { description: archive.description }),
    version: '1.0.0',
    scheme: 'xyz',
    tiles: [extra ? `${address}&${extra}` : address],
    minzoom: minZoom,
    maxzoom: maxZoom,
    bounds: boundsOf(extentLngLat),
    center: placeOf(known),
    ...(attribution && { attribution }),
    ...(isVector(known) && { vector_layers: layersOf(known) }),
    ...(archive?.kind === 'raster' && { format: archive.format }),
  }
}

/** Where a map of it begins: longitude, latitude, zoom. */
export const placeOf = ({ archive, source: { extentLngLat, minZoom, maxZoom } }: Known): readonly number[] =>
  archive?.center ?? centerOf(extentLngLat, minZoom, maxZoom)

export const isVector = ({ archive }: Known): boolean => archive?.kind !== 'raster'

const extensionOf = ({ archive }: Known): string =>
  archive && archive.format !== 'pbf' ? archive.format : archive ? 'pbf' : 'mvt'

/** MapLibre takes no bounds beyond the world: what lies beyond is drawn on the other side. */
function boundsOf([west, south, east, north]: Extent): Extent {
  if (west < -180 || east > 180) return [-180, south, 180, north]
  return [west, south, east, north]
}

export function layersOf({ source, dataset, archive }: Known): VectorLayer[] {
  if (archive) return archive.vectorLayers
  const fields = (dataset?.dtos ?? []).filter(({ type }) => type !== 'geometry' && type !== 'binary')
  return [
    {
      id: layerName,
      description: dataset?.name ?? '',
      minzoom: source.minZoom,
      maxzoom: source.maxZoom,
      fields: Object.fromEntries(fields.map(({ name, type }) => [name, fieldType(type)])),
    },
  ]
}

function fieldType(type: string): string {
  if (type === 'integer' || type === 'number') return 'Number'
  return type === 'boolean' ? 'Boolean' : 'String'
}
