/** A split view with a divider that can be dragged or moved with the arrow keys. */
import { type KeyboardEvent, type PointerEvent, type ReactElement, type ReactNode, useRef, useState } from 'react'
import classes from './split.module.css'

const least = 20
const most = 85
const step = 5
/** Survives navigation. */
let kept = 60

interface SplitProps {
  start: ReactNode
  end: ReactNode | null
}

export function Split({ start, end }: SplitProps): ReactElement {
  const frame = useRef<HTMLDivElement>(null)
  const [share, setShare] = useState(kept)
  const set = (next: number) => {
    kept = Math.min(most, Math.max(least, next))
    setShare(kept)
  }
  const drag = (event: PointerEvent) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId) || !frame.current) return
    const { left, width } = frame.current.getBoundingClientRect()
    set((100 * (event.clientX - left)) / width)
  }
  const press = (event: KeyboardEvent) => {
    const next = { ArrowLeft: share - step, ArrowRight: share + step, Home: least, End: most }[event.key]
    if (next === undefined) return
    event.preventDefault()
    set(next)
  }
  return (
    <div
      ref={frame}
      className={classes.split}
      style={{ gridTemplateColumns: end ? `minmax(0, ${share}fr) 7px minmax(0, ${100 - share}fr)` : 'minmax(0, 1fr)' }}
    >
      <div className={classes.pane}>{start}</div>
      {end && (
        <>
          {/* biome-ignore lint/a11y/useSemanticElements: a movable separator is a widget; <hr> is not */}
          <div
            role="separator"
            tabIndex={0}
            aria-label="Edge between table and map"
            aria-orientation="vertical"
            aria-valuenow={Math.round(share)}
            aria-valuemin={least}
            aria-valuemax={most}
            className={classes.edge}
            onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
            onPointerMove={drag}
            onKeyDown={press}
          />
          <div className={classes.pane}>{end}</div>
        </>
      )}
    </div>
  )
}
