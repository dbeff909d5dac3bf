/** A range slider for the zooms. Two native sliders, so that arrow keys work. */
import type { ReactElement } from 'react'
import { highestZoom } from './tile-draft.ts'
import classes from './tiles.module.css'

export interface ZoomBarProps {
  minZoom: number
  maxZoom: number
  isDisabled: boolean
  onChange(zooms: { minZoom: number; maxZoom: number }): void
}

export function ZoomBar({ minZoom, maxZoom, isDisabled, onChange }: ZoomBarProps): ReactElement {
  const percent = (zoom: number) => `${(zoom / highestZoom) * 100}%`
  const range = { type: 'range', min: 0, max: highestZoom, step: 1, disabled: isDisabled } as const
  return (
    <div className={classes.zooms}>
      <p>
        Zoom {minZoom} to {maxZoom}
      </p>
      <div className={classes.zoomBar}>
        <span className={classes.track} />
        <span className={classes.range} style={{ left: percent(minZoom), right: percent(highestZoom - maxZoom) }} />
        <input
          {...range}
          aria-label="Lowest zoom"
          value={minZoom}
          onChange={({ target }) => onChange({ minZoom: Math.min(target.valueAsNumber, maxZoom), maxZoom })}
        />
        <input
          {...range}
          aria-label="Highest zoom"
          value={maxZoom}
          onChange={({ target }) => onChange({ minZoom, maxZoom: Math.max(target.valueAsNumber, minZoom) })}
        />
      </div>
    </div>
  )
}
