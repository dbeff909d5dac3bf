/** A swatch that opens the browser's colour picker. */
import type { ReactElement } from 'react'
import classes from '../panel.module.css'

export interface ColourFieldProps {
  /** The accessible name; shown next to the swatch unless `isBare`. */
  label: string
  value: string
  isBare?: boolean
  onChange(colour: string): void
}

export function ColourField({ label, value, isBare = false, onChange }: ColourFieldProps): ReactElement {
  return (
    <label className={classes.colourField}>
      <span className={classes.swatch}>
        <input type="color" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)} />
      </span>
      {!isBare && label}
    </label>
  )
}
