/**
 * The status line of a map: pointer coordinates, zoom, duration of the last tile or query. The parts that change with each
 * pointer move bypass React.
 */
import { useMap } from '@graticule/map/react'
import type { Map as MapLibreMap, MapMouseEvent, MapSourceDataEvent } from 'maplibre-gl'
import { type ReactElement, type ReactNode, useEffect, useRef } from 'react'
import { CopyButton } from '../components/copyable.tsx'
import { formatMs } from '../format.ts'
import { coordinateText } from './graticule.ts'
import classes from './map-frame.module.css'

export interface MapRequest {
  /** How long it took. */
  ms: number
  /** The request id, for the server's log. */
  id?: string | undefined
}

export interface MapStatusLineProps {
  /** The page's last request; without one, tiles are timed. */
  request?: MapRequest | undefined
  children?: ReactNode
}

export function StatusLine({ request, children }: MapStatusLineProps): ReactElement {
  const { gl } = useMap()
  const coordinate = useRef<HTMLSpanElement>(null)
  const zoom = useRef<HTMLSpanElement>(null)
  const tiles = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const write = (element: HTMLElement | null, text: string) => {
      if (element) element.textContent = text
    }
    const stopPointer = followPointer(gl, (text) => write(coordinate.current, text))
    const stopZoom = followZoom(gl, (text) => write(zoom.current, text))
    const stopTiles = timeTiles(gl, (ms) => write(tiles.current, `tiles ${formatMs(ms)}`))
    return () => {
      stopPointer()
      stopZoom()
      stopTiles()
    }
  }, [gl])
  return (
    <div className={classes.status}>
      <span ref={coordinate} className={classes.coordinate} />
      <span ref={zoom} />
      <span ref={tiles} hidden={request !== undefined} />
      {request && <span>{`query ${formatMs(request.ms)}`}</span>}
      {request?.id && (
        <span className={classes.requestId}>
          <code title={request.id}>{request.id.slice(0, 8)}…</code>
          <CopyButton text={request.id} label="request id" />
        </span>
      )}
      <span className={classes.extra}>{children}</span>
    </div>
  )
}

/** Follows the pointer, or the map's centre while the pointer is elsewhere, for keyboard users. */
function followPointer(gl: MapLibreMap, write: (text: string) => void): () => void {
  let isOver = false
  const text = ({ lng, lat }: { lng: number; lat: number }) => coordinateText(lng, lat, gl.getZoom())
  const onMove = ({ lngLat }: MapMouseEvent) => {
    isOver = true
    write(text(lngLat))
  }
  const onOut = () => {
    isOver = false
    onView()
  }
  const onView = () => !isOver && write(`Centre ${text(gl.getCenter())}`)
  gl.on('mousemove', onMove)
  gl.on('mouseout', onOut)
  gl.on('move', onView)
  onView()
  return () => {
    gl.off('mousemove', onMove)
    gl.off('mouseout', onOut)
    gl.off('move', onView)
  }
}

function followZoom(gl: MapLibreMap, write: (text: string) => void): () => void {
  const onZoom = () => write(`z ${gl.getZoom().toFixed(1)}`)
  gl.on('zoom', onZoom)
  onZoom()
  return () => gl.off('zoom', onZoom)
}

/**
 * Measures the loading time of tiles. The page's resource timing does not see them, because workers fetch them; MapLibre's
 * `collectResourceTiming` does, but fails a tile that two world copies request at once.
 */
function timeTiles(gl: MapLibreMap, write: (ms: number) => void): () => void {
  const begun = new WeakMap<object, number>()
  const onBegin = ({ tile }: MapSourceDataEvent) => tile && begun.set(tile, performance.now())
  const onEnd = ({ tile }: MapSourceDataEvent) => {
    const since = tile && begun.get(tile)
    if (since === undefined) return
    begun.delete(tile)
    write(performance.now() - since)
  }
  gl.on('sourcedataloading', onBegin)
  gl.on('sourcedata', onEnd)
  return () => {
    gl.off('sourcedataloading', onBegin)
    gl.off('sourcedata', onEnd)
  }
}
