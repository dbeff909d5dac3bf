/** The preview map: the tiles over the base map, their extent, and the grid. */
import type { GraticuleMap } from '@graticule/map'
import { DataSource } from '@graticule/map/react'
import { type ReactElement, useMemo } from 'react'
import { Legend } from '../../map/legend.tsx'
import { MapView } from '../../map/map-view.tsx'
import { RecordedTiles } from './recorded-tiles.tsx'
import type { TileSetExtent } from './tile-draft.ts'
import { gridLegend, TileGrid } from './tile-grid.tsx'
import type { TileAddress } from './tile-pyramid.ts'
import type { TileRecorder } from './tile-recorder.ts'
import { type TileJson, tileSizeOf } from './tile-set.ts'
import classes from './tiles.module.css'

export interface TileMapProps {
  tileJson: TileJson
  recorder: TileRecorder
  /** The extent of the draft. */
  extent: TileSetExtent | undefined
  selected: TileAddress | undefined
  onSelect(tile: TileAddress): void
  onView(tiles: readonly TileAddress[]): void
  onReady(map: GraticuleMap): void
}

export function TileMap({
  tileJson,
  recorder,
  extent,
  selected,
  onSelect,
  onView,
  onReady,
}: TileMapProps): ReactElement {
  const { minzoom: minZoom, maxzoom: maxZoom } = tileJson
  const zooms = { minZoom, maxZoom, tileSize: tileSizeOf(tileJson) }
  const [west, south, east, north] = extent ?? []
  const rectangle = useMemo(() => rectangleOf([west, south, east, north]), [west, south, east, north])
  return (
    <MapView label={`Map of the tiles of ${tileJson.name}`} bounds={tileJson.bounds} onReady={onReady}>
      <RecordedTiles tileJson={tileJson} recorder={recorder} />
      <DataSource id="extent" src={rectangle} layers={extentLayers} />
      <TileGrid zooms={zooms} recorder={recorder} selected={selected} onSelect={onSelect} onView={onView} />
      <div className={classes.legend}>
        <Legend title="Size of tiles" items={gridLegend} />
      </div>
    </MapView>
  )
}

/** Only an outline, so that the colours inside do not change. */
const extentLayers = (theme: 'light' | 'dark') => [
  {
    type: 'line' as const,
    paint: { 'line-color': theme === 'dark' ? '#e8ebe6' : '#1b1f23', 'line-width': 1.5, 'line-dasharray': [4, 3] },
  },
]

type Side = number | undefined

function rectangleOf([west, south, east, north]: readonly [Side, Side, Side, Side]) {
  if (west === undefined || south === undefined || east === undefined || north === undefined)
    return { type: 'FeatureCollection' as const, features: [] }
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  const geometry = { type: 'LineString' as const, coordinates: ring }
  return { type: 'FeatureCollection' as const, features: [{ type: 'Feature' as const, properties: {}, geometry }] }
}
