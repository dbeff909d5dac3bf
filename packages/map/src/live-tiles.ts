/**
 * Reloads the vector tiles of a dataset in which something changed. The old ones are drawn until the new ones are there, and the
 * others are not asked for again.
 */
import type { Map as MapLibreMap, VectorTileSource } from 'maplibre-gl'
import type { Box, ChangedArea } from './live.ts'
import type { MapClient } from './map-client.ts'

type Coordinates = { readonly z: number; readonly x: number; readonly y: number }

/** Tiles have so much of their neighbours, as a part of their width, and icons of a few pixels more. */
const margin = 1 / 16
const versionPattern = /(?<=[?&]tile-version=)[^&#]*/

/** What to renew: the tiles of a dataset in an area, after a change that the token stands for. */
type Renewal = {
  readonly datasetId: string
  readonly apiKey: string | undefined
  readonly area: ChangedArea
  readonly token: string
}

/** Whether a source has all its tiles, and a layer that is visible at the zoom of the map. */
export function isDrawn({ map: { gl }, id, layerIds }: Drawn): boolean {
  if (!gl.getSource(id) || !gl.isSourceLoaded(id)) return false
  return layerIds.some((layer) => gl.getLayer(layer)?.isHidden(gl.getZoom()) === false)
}
type Drawn = { readonly map: { readonly gl: MapLibreMap }; readonly id: string; readonly layerIds: readonly string[] }

/** Returns whether tiles are reloaded: they are not if the map already has those of the newest version. */
export async function renewTiles(
  { gl, client }: { gl: MapLibreMap; client: MapClient },
  sourceId: string,
  { datasetId, apiKey, area, token }: Renewal,
): Promise<boolean> {
  if (area?.length === 0) return false
  const source = gl.getSource<VectorTileSource>(sourceId)
  // The token makes the server look at the data again, whose version it otherwise believes for a second.
  const version = versionOf(await client.tiles.describe(datasetId, { 'tile-version': token, apiKey }))
  if (!source || gl.getSource(sourceId) !== source || version === versionOf(source)) return false
  reloadTiles(gl, source, version, area)
  return true
}

const versionOf = ({ tiles }: { tiles?: string[] }): string => versionPattern.exec(tiles?.[0] ?? '')?.[0] ?? ''

/**
 * Not by MapLibre's `refreshTiles`, which leaves old tiles in the cache of those that are out of view, nor by `setTiles`, which loads
 * all again: the source says that its content has changed and which tiles are meant, as MapLibre's GeoJSON source does.
 */
function reloadTiles(gl: MapLibreMap, source: VectorTileSource, version: string, area: ChangedArea): void {
  source.tiles = source.tiles.map((address) => address.replace(versionPattern, version))
  Object.assign(source, {
    // Rows may now be where the TileJSON said that nothing is.
    tileBounds: undefined,
    shouldReloadTile: ({ tileID }: { tileID: { canonical: Coordinates } }, boxes: readonly Box[]) =>
      touchesTile(boxes, tileID.canonical),
  })
  const event = { dataType: 'source', sourceDataType: 'content', sourceDataChanged: true }
  // After a frame, because MapLibre ignores it while changes of layers wait to be drawn.
  gl.once('render', () => source.fire('data', { ...event, ...(area && { shouldReloadTileOptions: area }) }))
  gl.triggerRepaint()
}

/** Whether something in the boxes can be visible in the tile, also in neighbouring copies of the world. */
export function touchesTile(boxes: readonly Box[], { z, x, y }: Coordinates): boolean {
  const size = 2 ** z
  const [left, right, top, bottom] = [x - margin, x + 1 + margin, y - margin, y + 1 + margin]
  return boxes.some(([west, south, east, north]) => {
    if (heightOf(north) * size > bottom || heightOf(south) * size < top) return false
    return [-1, 0, 1].some((turn) => (shareOf(west) + turn) * size <= right && (shareOf(east) + turn) * size >= left)
  })
}

const shareOf = (longitude: number): number => (longitude + 180) / 360

/** From 0 at the northern edge of Web Mercator to 1 at the southern one. */
function heightOf(latitude: number): number {
  const sine = Math.sin((Math.max(-85.06, Math.min(85.06, latitude)) * Math.PI) / 180)
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
}
