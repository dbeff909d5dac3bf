// TileJSON descriptions of tile sources.
import { type CellAggregate, cellColumns } from '../../../query/plan/cell-aggregate.ts'
import type { VectorLayer } from '../archives/archive.ts'
import type { TileExtent } from '../source/tile-bounds.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { versionParameter } from './tile-request.ts'

/** The layer name of tiles made from a dataset. */
const layerName = 'geometry'

/** The public base URL. `key` is the API key if it came in the URL, to be repeated in links. */
export type Links = { readonly base: string; readonly key?: string | undefined }

/** A URL on this server, with the API key if it came in the URL. */
export function link({ base, key }: Links, path: string, parameters: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries({ ...parameters, ...(key && { 'api-key': key }) })
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return `${base}${path}${query ? `?${query}` : ''}`
}

/** TileJSON 3.0.0. `extra` is the rest of the query string: tiles take the same filter as their TileJSON. */
export function tileJson(loadedSource: LoadedTileSource, links: Links, extra: string, cells?: CellAggregate): object {
  const { source, version, name, archive } = loadedSource
  const { minZoom, maxZoom, extentLngLat, attribution } = source
  const address = link(links, `/tiles/${source.id}/{z}/{x}/{y}.${extensionOf(loadedSource)}`, {
    [versionParameter]: version,
  })
  return {
    tilejson: '3.0.0',
    name,
    ...(archive?.description && { description: archive.description }),
    version: '1.0.0',
    scheme: 'xyz',
    tiles: [extra ? `${address}&${extra}` : address],
    minzoom: minZoom,
    maxzoom: maxZoom,
    // A cell reaches beyond the rows that it holds.
    bounds: cells ? everywhere : boundsOf(extentLngLat),
    center: coverageOf(loadedSource),
    ...(attribution && { attribution }),
    ...(isVector(loadedSource) && { vector_layers: layersOf(loadedSource, cells) }),
    ...(loadedSource.layer && { dataset: { id: loadedSource.layer.dataset.id, lastChange: loadedSource.lastChange } }),
    ...(archive?.kind === 'raster' && { format: archive.format }),
  }
}

/** The initial view: longitude, latitude, zoom. */
export const coverageOf = ({
  archive,
  source: { extentLngLat, minZoom, maxZoom },
}: LoadedTileSource): readonly number[] => archive?.center ?? centerOf(extentLngLat, minZoom, maxZoom)

export const isVector = ({ archive }: LoadedTileSource): boolean => archive?.kind !== 'raster'

const extensionOf = ({ archive }: LoadedTileSource): string =>
  archive && archive.format !== 'pbf' ? archive.format : archive ? 'pbf' : 'mvt'

const everywhere: TileExtent = [-180, -90, 180, 90]

/** MapLibre accepts no bounds beyond the world; what lies beyond appears on the other side. */
function boundsOf([west, south, east, north]: TileExtent): TileExtent {
  if (west < -180 || east > 180) return [-180, south, 180, north]
  return [west, south, east, north]
}

export function layersOf({ source, layer, archive }: LoadedTileSource, cells?: CellAggregate): VectorLayer[] {
  if (archive) return archive.vectorLayers
  const attributes: readonly { name: string; type: string }[] = cells
    ? cellColumns(cells)
    : (layer?.dataset.attributes ?? [])
  const fields = attributes.filter(({ type }) => type !== 'geometry' && type !== 'binary')
  return [
    {
      id: layerName,
      description: layer?.dataset.name ?? '',
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

/** About a kilometre: what is smaller says nothing of where it lies, so a map of it begins where the bundled base map still does. */
const tinySpan = 0.01 / 360
const closestToPoint = 9

/** The centre of an extent, and a zoom that shows all of it. */
function centerOf([west, south, east, north]: TileExtent, minZoom: number, maxZoom: number): [number, number, number] {
  const span = Math.max((east - west) / 360, (north - south) / 170, 1e-9)
  const closest = span < tinySpan ? closestToPoint : maxZoom
  const zoom = Math.max(minZoom, Math.min(maxZoom, closest, Math.floor(-Math.log2(span))))
  return [(west + east) / 2, (south + north) / 2, zoom]
}
