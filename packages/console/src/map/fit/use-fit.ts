/** Fits a map to its data: at first, when other data come, and by its button. */
import type { GraticuleMap } from '@graticule/map'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { FitControl, fitTo, type LngLatBox } from './fit-control.ts'

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)')
export const isMotionReduced = (): boolean => reducedMotion.matches

/** `bindTo` is told of each map; `isKept`: it begins where the one before it was. */
export function useFit(
  bounds: LngLatBox | undefined,
  boundsOf: string,
): { bindTo(map: GraticuleMap, isKept: boolean): void; isFitted(): boolean } {
  const [bound, setBound] = useState<{ map: GraticuleMap; control: FitControl } | null>(null)
  const latest = useRef(bounds)
  const fitted = useRef<string | null>(null)
  /** The user has moved the map before its data were known. */
  const isMoved = useRef(false)
  const fit = useEffectEvent((map: GraticuleMap) => {
    if (!bounds || fitted.current === boundsOf) return
    const isFirst = fitted.current === null
    fitted.current = boundsOf
    if (!(isFirst && isMoved.current)) fitTo(map, bounds, !isFirst && !isMotionReduced())
  })
  const text = JSON.stringify(bounds)
  useEffect(() => {
    latest.current = bounds
    bound?.control.show()
    if (bound) fit(bound.map)
  }, [bound, text, boundsOf])
  return {
    bindTo(map, isKept) {
      const control = new FitControl(
        map,
        () => latest.current,
        () => !isMotionReduced(),
      )
      map.gl.addControl(control)
      map.gl.on('movestart', ({ originalEvent }) => {
        if (originalEvent) isMoved.current = true
      })
      if (!isKept && latest.current) {
        // Before the first frame, so that nothing is loaded of the world.
        fitted.current = boundsOf
        fitTo(map, latest.current, false)
      }
      setBound({ map, control })
    },
    isFitted: () => fitted.current !== null,
  }
}
