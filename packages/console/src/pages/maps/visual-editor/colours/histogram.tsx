/** A histogram in the colours of the classes, with draggable breaks. */

import {
  type Distribution,
  type Graduated,
  graduatedClasses,
  numberFormat,
  type Theme,
  tidyBreaks,
} from '@graticule/map/recipe'
import { type KeyboardEvent, type PointerEvent, type ReactElement, useMemo, useRef } from 'react'
import classes from '../panel.module.css'
import { type Axis, axisOf, binsOf, roundedAt } from './histogram-bins.ts'

interface HistogramProps {
  graduated: Graduated
  distribution: Distribution
  theme: Theme
  onBreaks(breaks: number[]): void
}

const barCount = 48

export function Histogram({ graduated, distribution, theme, onBreaks }: HistogramProps): ReactElement {
  const area = useRef<HTMLDivElement>(null)
  const axis = useMemo(() => axisOf(distribution), [distribution])
  const bins = useMemo(() => binsOf(distribution.values, axis, barCount), [distribution, axis])
  const highest = Math.max(...bins, 1)
  const steps = graduatedClasses(graduated, theme)
  const format = numberFormat(graduated)
  const colourAt = (share: number) =>
    steps.findLast(({ from }) => axis.shareOf(from) <= share)?.colour ?? steps[0]?.colour
  const move = (index: number, share: number) => {
    const limited = Math.min(Math.max(share, 0), 1)
    onBreaks(tidyBreaks(graduated.breaks.with(index, roundedAt(axis, limited)), graduated))
  }
  const shareOfPointer = ({ clientX }: PointerEvent): number => {
    const box = area.current?.getBoundingClientRect()
    return box ? (clientX - box.left) / box.width : 0
  }
  return (
    <div className={classes.histogram} ref={area}>
      <svg aria-hidden="true" className={classes.bars} viewBox={`0 0 ${barCount} 1`} preserveAspectRatio="none">
        {bins.map((count, index) => {
          // A square-root scale keeps small counts visible next to large ones.
          const height = Math.sqrt(count / highest)
          const place = { x: index, y: 1 - height, width: 1, height }
          return <rect key={index} {...place} fill={colourAt((index + 0.5) / barCount)} />
        })}
      </svg>
      {graduated.breaks.map((value, index) => (
        <BreakHandle
          key={index}
          label={`Break ${index + 1}`}
          text={format(value)}
          share={axis.shareOf(value)}
          range={[graduated.min, graduated.max]}
          value={value}
          onMove={(share) => move(index, between(share, axis, graduated.breaks, index))}
          shareOfPointer={shareOfPointer}
        />
      ))}
      <div className={classes.ends}>
        <span>{format(graduated.min)}</span>
        {axis.isLogarithmic && <span>logarithmic axis</span>}
        <span>{format(graduated.max)}</span>
      </div>
    </div>
  )
}

/** Clamps a break between its neighbours. */
function between(share: number, axis: Axis, breaks: readonly number[], index: number): number {
  const before = breaks[index - 1]
  const after = breaks[index + 1]
  const low = before === undefined ? 0 : axis.shareOf(before) + 0.01
  const high = after === undefined ? 1 : axis.shareOf(after) - 0.01
  return Math.min(Math.max(share, low), Math.max(low, high))
}

interface BreakHandleProps {
  label: string
  text: string
  share: number
  range: readonly [number, number]
  value: number
  onMove(share: number): void
  shareOfPointer(event: PointerEvent): number
}

const keySteps: Record<string, number> = {
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  PageDown: -0.1,
  PageUp: 0.1,
}

function BreakHandle({ label, text, share, range, value, onMove, shareOfPointer }: BreakHandleProps): ReactElement {
  const press = (event: KeyboardEvent) => {
    const step = keySteps[event.key]
    if (step === undefined) return
    event.preventDefault()
    onMove(share + step)
  }
  return (
    <div
      role="slider"
      tabIndex={0}
      className={classes.break}
      style={{ left: `${Math.min(Math.max(share, 0), 1) * 100}%` }}
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={range[0]}
      aria-valuemax={range[1]}
      aria-valuetext={text}
      title={text}
      onKeyDown={press}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onMove(shareOfPointer(event))
      }}
    />
  )
}
