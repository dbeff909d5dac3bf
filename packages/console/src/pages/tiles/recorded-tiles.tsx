/** The tiles on the map, loaded through the recorder; vector tiles in one colour, images as they are. */
import { useMap } from '@graticule/map/react'
import type { LayerSpecification, Map as MapLibreMap } from 'maplibre-gl'
import { useEffect } from 'react'
import { geometryLayers } from '../../map/geometry-layers.ts'
import { useTheme } from '../../theme.ts'
import type { TileRecorder } from './tile-recorder.ts'
import { isVector, type TileJson, tileSizeOf } from './tile-set.ts'

const sourceId = 'recorded-tiles'
const colours = { light: ['#0b6b5f', '#ffffff'], dark: ['#5cc9b7', '#10141a'] } as const

interface RecordedTilesProps {
  tileJson: TileJson
  recorder: TileRecorder
}

export function RecordedTiles({ tileJson, recorder }: RecordedTilesProps): null {
  const map = useMap()
  const theme = useTheme()
  useEffect(() => {
    const stop = recorder.start()
    const { gl } = map
    const add = () => addTiles(gl, tileJson, recorder, layersFor(tileJson, colours[theme]))
    if (gl.getStyle()) add()
    gl.on('style.load', add)
    return () => {
      gl.off('style.load', add)
      removeTiles(gl)
      stop()
    }
  }, [map, theme, tileJson, recorder])
  return null
}

function layersFor(tileJson: TileJson, [colour, edge]: readonly [string, string]): LayerSpecification[] {
  if (!isVector(tileJson)) return [{ id: sourceId, type: 'raster', source: sourceId }]
  return (tileJson.vector_layers ?? []).flatMap(({ id }) =>
    geometryLayers(colour, edge).map(
      (layer) =>
        ({
          ...layer,
          id: `${sourceId}-${id}-${layer.type}`,
          source: sourceId,
          'source-layer': id,
        }) as LayerSpecification,
    ),
  )
}

function addTiles(
  gl: MapLibreMap,
  tileJson: TileJson,
  recorder: TileRecorder,
  layers: readonly LayerSpecification[],
): void {
  if (gl.getSource(sourceId)) return
  const { minzoom, maxzoom, bounds, attribution } = tileJson
  gl.addSource(sourceId, {
    ...(isVector(tileJson) ? { type: 'vector' } : { type: 'raster', tileSize: tileSizeOf(tileJson) }),
    tiles: tileJson.tiles.map((address) => recorder.recorded(address)),
    minzoom,
    maxzoom,
    bounds,
    ...(attribution && { attribution }),
  })
  for (const layer of layers) gl.addLayer(layer)
}

/** The map itself may already be removed. */
function removeTiles(gl: MapLibreMap): void {
  if (!gl.getStyle()) return
  for (const layer of gl.getStyle().layers) if ('source' in layer && layer.source === sourceId) gl.removeLayer(layer.id)
  if (gl.getSource(sourceId)) gl.removeSource(sourceId)
}
