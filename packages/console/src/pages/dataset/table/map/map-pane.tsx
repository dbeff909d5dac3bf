/** The map next to the table: the filtered rows as tiles, with the selected features highlighted on top. */
import type { Client, Dataset, JsonObject } from '@graticule/client'
import type { GraticuleMap } from '@graticule/map'
import { DataSource } from '@graticule/map/react'
import { useQuery } from '@tanstack/react-query'
import type { MapMouseEvent } from 'maplibre-gl'
import {
  type ReactElement,
  type RefObject,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { ErrorNote } from '../../../../components/error-note.tsx'
import { Skeleton } from '../../../../components/note.tsx'
import { liveMapClient } from '../../../../live/live-map-client.ts'
import lookClasses from '../../../../look/look.module.css'
import { LookCard } from '../../../../look/look-card.tsx'
import { sourceLook } from '../../../../look/source-look.ts'
import type { DatasetLook } from '../../../../look/telling-attribute.ts'
import { useLook } from '../../../../look/use-look.ts'
import type { LngLatBox } from '../../../../map/fit/fit-control.ts'
import { MapView } from '../../../../map/map-view.tsx'
import { queryKeys } from '../../../../query-keys.ts'
import { useClient } from '../../../../session/session.tsx'
import { useTheme } from '../../../../theme.ts'
import { keyOf } from '../../dataset.ts'
import { DrawOnMap } from '../../edit/drawing/draw-on-map.tsx'
import type { DrawnKind } from '../../edit/drawing/drawn-geometry.ts'
import { type Click, type RowId, rowId } from '../selection.ts'
import { boundsOf } from './feature-bounds.ts'
import { boxOf } from './map-view-box.ts'
import type { SelectedFeatures } from './selected-features.ts'
import { selectedLayers } from './selected-layers.ts'

const rowLayers = ['rows-fill', 'rows-outline', 'rows-line', 'rows-point']
/** Click tolerance in pixels, for small points. */
const tolerance = 4
const flightMs = 800

export interface Flight {
  /** `show` moves the camera only if no selected feature is visible. */
  kind: 'show' | 'fly'
  /** Distinguishes flights. */
  number: number
}

export interface MapPaneProps {
  dataset: Dataset
  where: JsonObject | undefined
  selected: SelectedFeatures
  flight: Flight | null
  view: RefObject<LngLatBox | null>
  onFeature(id: RowId, click: Pick<Click, 'isAdded'>): void
}

export function MapPane({ dataset, where, selected, flight, view, onFeature }: MapPaneProps): ReactElement {
  const client = useClient()
  const theme = useTheme()
  const [map, setMap] = useState<GraticuleMap | null>(null)
  const key = useMemo(() => keyOf(dataset), [dataset])
  const tiles = useQuery({
    queryKey: queryKeys.tiles.one(dataset.id, 'bounds'),
    queryFn: ({ signal }) => client.tiles.describe<{ bounds?: LngLatBox }>(dataset.id, { signal }),
  })
  const access = useLook(dataset)
  const { look } = access
  const rowsClient = useRowsClient(map, dataset, where, look)
  useView(map, view)
  useFlight(map, selected, flight)
  const [drawn, setDrawn] = useState<DrawnKind | null>(null)
  useFeatureClicks(map, drawn === null, (properties, isAdded) => {
    const id = rowId(properties, key)
    if (id !== undefined) onFeature(id, { isAdded })
  })
  const layers = useMemo(() => selectedLayers(theme), [theme])
  if (tiles.error) return <ErrorNote error={tiles.error} onRetry={() => void tiles.refetch()} />
  if (!tiles.data) return <Skeleton height="100%" />
  return (
    <MapView label={`Map of ${dataset.name}`} client={rowsClient} bounds={tiles.data.bounds} onReady={setMap}>
      <DataSource id="rows" src={dataset.id} type="vector" live={dataset.type === 'table'} {...sourceLook(look)} />
      <DataSource id="selected" src={selected.features as never} type="geojson" layers={layers} />
      <div className={lookClasses.cards}>
        <DrawOnMap map={map} dataset={dataset} kind={drawn} onKind={setDrawn} />
        <LookCard {...access} dataset={dataset} sourceId="rows" map={map} />
      </div>
    </MapView>
  )
}

/** A client whose tiles have the filtered rows with their keys and what the look shows. */
function useRowsClient(
  map: GraticuleMap | null,
  { id, attributes }: Dataset,
  where: JsonObject | undefined,
  { colour, size }: DatasetLook,
): Client {
  const client = useClient()
  const key = attributes.filter(({ primaryKey }) => primaryKey).map(({ name }) => name)
  const drawn = [...new Set([...key, colour, size])].filter((name) => name !== null)
  const params = { ...(key.length > 0 && { attributes: drawn }), ...(where && { filter: where }) }
  const text = JSON.stringify(params)
  const latest = useRef(text)
  const sent = useRef<string>(null)
  const rowsClient = useMemo(() => {
    return liveMapClient(client, () => {
      sent.current = latest.current
      return JSON.parse(latest.current)
    })
  }, [client])
  useLayoutEffect(() => {
    latest.current = text
    // The source asks for its address only when it is made, or told to.
    if (map && sent.current !== null && sent.current !== text) map.getSource('rows')?.setSrc(id)
  }, [map, id, text])
  return rowsClient
}

function useView(map: GraticuleMap | null, view: RefObject<LngLatBox | null>): void {
  useEffect(() => {
    if (!map) return
    const note = () => {
      const bounds = map.gl.getBounds()
      view.current = boxOf(bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth())
    }
    note()
    map.gl.on('moveend', note)
    return () => {
      view.current = null
    }
  }, [map, view])
}

/** Runs each flight once, when the map and the geometry are loaded. */
function useFlight(map: GraticuleMap | null, { features, areCurrent }: SelectedFeatures, flight: Flight | null): void {
  const flown = useRef<number>(null)
  useEffect(() => {
    if (!map || !areCurrent || !flight || flown.current === flight.number) return
    flown.current = flight.number
    const bounds = boundsOf(features)
    if (!bounds) return
    const [west, south, east, north] = bounds
    const middle: [number, number] = [(west + east) / 2, (south + north) / 2]
    if (flight.kind === 'fly') map.fit(bounds, { padding: 48, duration: flightMs })
    else if (!map.gl.getBounds().contains(middle)) map.gl.easeTo({ center: middle, duration: flightMs })
  }, [map, features, areCurrent, flight])
}

function useFeatureClicks(
  map: GraticuleMap | null,
  isOn: boolean,
  onClick: (properties: JsonObject, isAdded: boolean) => void,
): void {
  const click = useEffectEvent(({ point: { x, y }, originalEvent }: MapMouseEvent) => {
    const gl = map?.gl
    const layers = rowLayers.filter((id) => gl?.getLayer(id))
    const around: [[number, number], [number, number]] = [
      [x - tolerance, y - tolerance],
      [x + tolerance, y + tolerance],
    ]
    const feature = gl?.queryRenderedFeatures([x, y], { layers })[0] ?? gl?.queryRenderedFeatures(around, { layers })[0]
    if (!feature) return
    const isAdded = originalEvent.ctrlKey || originalEvent.metaKey || originalEvent.shiftKey
    onClick({ ...(feature.id !== undefined && { id: feature.id }), ...feature.properties } as JsonObject, isAdded)
  })
  useEffect(() => {
    if (!map || !isOn) return
    const listen = (event: MapMouseEvent) => click(event)
    const point = (event: MapMouseEvent) => {
      const layers = rowLayers.filter((id) => map.gl.getLayer(id))
      const isOver = layers.length > 0 && map.gl.queryRenderedFeatures(event.point, { layers }).length > 0
      map.gl.getCanvas().style.cursor = isOver ? 'pointer' : ''
    }
    map.gl.on('click', listen)
    map.gl.on('mousemove', point)
    return () => {
      map.gl.off('click', listen)
      map.gl.off('mousemove', point)
    }
  }, [map, isOn])
}
