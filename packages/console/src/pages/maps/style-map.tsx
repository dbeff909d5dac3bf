/** The live map of the editor. Changes of colours, sizes and filters are applied without reloading the style. */
import type { GraticuleMap } from '@graticule/map'
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { type ReactElement, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { absoluteStyle } from '../../map/absolute-style.ts'
import { MapView } from '../../map/map-view.tsx'
import { applyDifference, styleDifference } from './style-difference.ts'

export interface StyleMapProps {
  label: string
  style: StyleSpecification
  /** The initial bounds, unless the style has a camera. */
  bounds?: readonly [number, number, number, number] | undefined
  onReady?: (map: GraticuleMap) => void
  children?: ReactNode
}

export function StyleMap({ label, style, bounds, onReady, children }: StyleMapProps): ReactElement {
  // The style's camera is used only initially; later changes must not move the map.
  const { center, zoom } = style
  const wanted = useMemo(() => withoutCamera(absoluteStyle(style)), [style])
  const [loaded, setLoaded] = useState(wanted)
  const map = useRef<GraticuleMap | null>(null)
  const applied = useRef(wanted)
  useEffect(() => {
    if (applied.current === wanted) return
    const difference = styleDifference(applied.current, wanted)
    if (difference && map.current) applyDifference(map.current.gl, difference)
    else setLoaded(wanted)
    applied.current = wanted
  }, [wanted])
  return (
    <MapView
      label={label}
      style={loaded}
      bounds={bounds}
      onReady={(ready) => {
        map.current = ready
        if (center && zoom !== undefined) ready.gl.jumpTo({ center: center as [number, number], zoom })
        // Applies changes made while the map was being created.
        const missed = styleDifference(loaded, applied.current)
        if (missed) applyDifference(ready.gl, missed)
        onReady?.(ready)
      }}
    >
      {children}
    </MapView>
  )
}

function withoutCamera({
  center: _,
  zoom: __,
  bearing: ___,
  pitch: ____,
  ...style
}: StyleSpecification): StyleSpecification {
  return style
}
