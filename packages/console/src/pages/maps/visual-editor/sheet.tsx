/** The side panel of the editor: columns on a wide screen, on phones a bottom sheet with three heights. */
import { type PointerEvent, type ReactElement, type ReactNode, useRef, useState } from 'react'
import { Icon } from '../../../components/icon.tsx'
import classes from './visual-editor.module.css'

const heights = ['low', 'half', 'full'] as const
type Height = (typeof heights)[number]
const texts: Record<Height, string> = { low: 'Show more', half: 'Show all', full: 'Show the map' }
/** A shorter drag counts as a tap. */
const tapPixels = 8

interface SheetProps {
  label: string
  children: ReactNode
}

export function Sheet({ label, children }: SheetProps): ReactElement {
  const [height, setHeight] = useState<Height>('half')
  const start = useRef<number | null>(null)
  const move = (by: number) =>
    setHeight((now) => heights[Math.min(Math.max(heights.indexOf(now) + by, 0), heights.length - 1)] ?? now)
  const release = (event: PointerEvent) => {
    const moved = start.current === null ? 0 : event.clientY - start.current
    start.current = null
    if (Math.abs(moved) > tapPixels) move(moved < 0 ? 1 : -1)
  }
  return (
    <section aria-label={label} className={classes.side} data-height={height}>
      <button
        type="button"
        className={classes.handle}
        aria-expanded={height !== 'low'}
        onPointerDown={(event) => {
          start.current = event.clientY
          event.currentTarget.setPointerCapture(event.pointerId)
        }}
        onPointerUp={release}
        onKeyDown={(event) => {
          if (event.key === 'ArrowUp') move(1)
          if (event.key === 'ArrowDown') move(-1)
        }}
        onClick={() => setHeight((now) => heights[(heights.indexOf(now) + 1) % heights.length] ?? now)}
      >
        {label}
        <span>
          {texts[height]} <Icon name={height === 'full' ? 'chevronDown' : 'chevronUp'} />
        </span>
      </button>
      <div className={classes.content}>{children}</div>
    </section>
  )
}
