/** A small map that shows the geometry of the row form and, for a point, takes clicks. */
import type { FeatureCollection } from '@graticule/client'
import type { GraticuleMap } from '@graticule/map'
import { DataSource } from '@graticule/map/react'
import { useQuery } from '@tanstack/react-query'
import type { MapMouseEvent } from 'maplibre-gl'
import { type ReactElement, useEffect, useEffectEvent, useMemo, useState } from 'react'
import type { LngLatBox } from '../../../map/fit/fit-control.ts'
import { MapView } from '../../../map/map-view.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { useTheme } from '../../../theme.ts'
import { useDataset } from '../dataset.ts'
import { boundsOf } from '../table/map/feature-bounds.ts'
import { selectedLayers } from '../table/map/selected-layers.ts'
import classes from './edit.module.css'

export interface PointMapProps {
  label: string
  /** A GeoJSON geometry. */
  geometry: object | null
  /** [longitude, latitude] */
  onPick: ((position: readonly [number, number]) => void) | undefined
}

export function PointMap({ label, geometry, onPick }: PointMapProps): ReactElement {
  const theme = useTheme()
  const [map, setMap] = useState<GraticuleMap | null>(null)
  const features = useMemo(() => featuresOf(geometry), [geometry])
  const [first] = useState(() => boundsOf(features))
  const rows = useRowsBounds()
  const layers = useMemo(() => selectedLayers(theme), [theme])
  usePick(map, onPick)
  useShown(map, features)
  const begins = first ?? rows
  return (
    <div className={classes.map} data-picks={onPick !== undefined}>
      {begins !== undefined && (
        <MapView label={label} bounds={begins ?? undefined} onReady={setMap}>
          <DataSource id="selected" src={features as never} type="geojson" layers={layers} />
        </MapView>
      )}
    </div>
  )
}

const nothing: FeatureCollection = { type: 'FeatureCollection', features: [] }

/** What is typed may be anything; the map gets only what it can draw. */
function featuresOf(value: object | null): FeatureCollection {
  // Numbers with digits of their own become doubles.
  const geometry = JSON.parse(JSON.stringify(value))
  if (!geometryTypes.test(geometry?.type)) return nothing
  const features = { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry }] }
  const [west = 0, south = 0, east = 0, north = 0] = boundsOf(features as FeatureCollection) ?? [999]
  const isOnEarth = west >= -360 && east <= 360 && south >= -90 && north <= 90
  return isOnEarth ? (features as FeatureCollection) : nothing
}

const geometryTypes = /^((Multi)?(Point|LineString|Polygon)|GeometryCollection)$/

/** Where the rows of the dataset are; null if nobody knows, undefined while it is asked. */
export function useRowsBounds(): LngLatBox | null | undefined {
  const client = useClient()
  const { id } = useDataset()
  const { data, error } = useQuery({
    queryKey: queryKeys.tiles.one(id, 'bounds'),
    queryFn: ({ signal }) => client.tiles.describe<{ bounds?: LngLatBox }>(id, { signal }),
  })
  if (error) return null
  return data && (isNarrow(data.bounds) ? data.bounds : null)
}

/** A table without rows has the bounds of the world, which do not fit a small map. */
const isNarrow = (bounds: LngLatBox | undefined): bounds is LngLatBox =>
  bounds !== undefined && bounds[2] - bounds[0] < 180

function usePick(map: GraticuleMap | null, onPick: PointMapProps['onPick']): void {
  const pick = useEffectEvent(({ lngLat }: MapMouseEvent) => {
    const { lng, lat } = lngLat.wrap()
    onPick?.([lng, lat])
  })
  useEffect(() => {
    if (!map) return
    const listen = (event: MapMouseEvent) => pick(event)
    map.gl.on('click', listen)
    return () => {
      map.gl.off('click', listen)
    }
  }, [map])
}

/** A geometry that is typed outside of the view moves the map to it. */
function useShown(map: GraticuleMap | null, features: FeatureCollection): void {
  useEffect(() => {
    const bounds = boundsOf(features)
    if (!map || !bounds) return
    const [west, south, east, north] = bounds
    if (map.gl.getBounds().contains([(west + east) / 2, (south + north) / 2])) return
    map.fit(bounds, { animate: false })
  }, [map, features])
}
