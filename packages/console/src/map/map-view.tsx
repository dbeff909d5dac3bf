/** A map with a neat line. Shows the base map unless a style is given; data sources are children. */
import 'maplibre-gl/dist/maplibre-gl.css'
import type { Client } from '@graticule/client'
import type { GraticuleMap as MapObject } from '@graticule/map'
import { GraticuleMap, PlaceSearch } from '@graticule/map/react'
import {
  AttributionControl,
  type CameraOptions,
  NavigationControl,
  type StyleSpecification,
  setWorkerUrl,
} from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'
import { type ReactElement, type ReactNode, useRef } from 'react'
import { ErrorNote } from '../components/error-note.tsx'
import { useClient } from '../session/session.tsx'
import { useTheme } from '../theme.ts'
import { useBaseStyleQuery } from './base-style.ts'
import { collapseCredits } from './collapse-credits.ts'
import { fitPadding, type LngLatBox } from './fit/fit-control.ts'
import { isMotionReduced, useFit } from './fit/use-fit.ts'
import { MapFaults, useMapFaults } from './map-faults.tsx'
import classes from './map-frame.module.css'
import { toServer } from './map-requests.ts'
import './maplibre.css'
import { NeatLine } from './neat-line.tsx'
import { hasWebGl, NoWebGl } from './no-web-gl.tsx'
import { type MapRequest, StatusLine } from './status-line.tsx'

// The worker is a file, because the content security policy forbids blob workers.
setWorkerUrl(workerUrl)

export interface MapViewProps {
  /** The accessible name: "Map of cities". */
  label: string
  /** @defaultValue the session's */
  client?: Client | undefined
  /** The id of a style or a style itself. @defaultValue the base map of the theme */
  style?: string | StyleSpecification | undefined
  /** [west, south, east, north] of the data, which the map fits when they are known, and again by its button. */
  bounds?: LngLatBox | undefined
  /** What the bounds are of: the map fits others again, wherever it was moved to. */
  boundsOf?: string | undefined
  onReady?: ((map: MapObject) => void) | undefined
  /** The page's last query, for the status line. @defaultValue the last tile */
  request?: MapRequest | undefined
  /** At the end of the status line. */
  statusExtra?: ReactNode
  /** `DataSource`s of `@graticule/map/react`, and anything that lies over the map. */
  children?: ReactNode
}

const world: CameraOptions = { center: [10, 30], zoom: 1.2 }

export function MapView(props: MapViewProps): ReactElement {
  const { label, style, bounds, boundsOf = '', onReady, request, statusExtra, children } = props
  const ownClient = useClient()
  const client = props.client ?? ownClient
  const theme = useTheme()
  const base = useBaseStyleQuery(style === undefined)
  const { faults, report, dismiss } = useMapFaults()
  // A change of theme creates a new map, which starts at the camera of the previous one.
  const camera = useRef<CameraOptions | null>(null)
  const shown = style ?? base.data
  const { bindTo, isFitted } = useFit(bounds, boundsOf)
  return (
    <div className={classes.frame}>
      {!shown && (
        <div className={classes.map}>{base.error && <ErrorNote error={base.error} onRetry={base.refetch} />}</div>
      )}
      {!hasWebGl && <NoWebGl />}
      {shown && hasWebGl && (
        <GraticuleMap
          className={classes.map ?? ''}
          containerStyle={mapStyle}
          client={client}
          transformRequest={toServer(client)}
          style={shown}
          theme={style ? undefined : theme}
          attributionControl={false}
          fadeDuration={isMotionReduced() ? 0 : 200}
          locale={{ 'Map.Title': label }}
          fitBoundsOptions={{ padding: fitPadding }}
          {...(camera.current ?? (bounds ? { bounds: [...bounds] as [number, number, number, number] } : world))}
          onError={({ detail }) => report(detail.error)}
          onSourceError={({ detail }) => report(detail.error)}
          onReady={(map) => {
            addControls(map)
            bindTo(map, camera.current !== null && isFitted())
            map.gl.on('moveend', () => {
              camera.current = { center: map.gl.getCenter(), zoom: map.gl.getZoom() }
            })
            onReady?.(map)
          }}
        >
          <PlaceSearch />
          <NeatLine />
          <StatusLine request={request}>{statusExtra}</StatusLine>
          <MapFaults faults={faults} onDismiss={dismiss} />
          {children}
        </GraticuleMap>
      )}
    </div>
  )
}

/** The style sheet places it. */
const mapStyle = { position: 'absolute' } as const

function addControls({ gl }: MapObject): void {
  // The compass resets a rotated map to north.
  gl.addControl(new NavigationControl({ showCompass: true, visualizePitch: true }))
  gl.addControl(new AttributionControl({ compact: true }))
  collapseCredits(gl)
}
