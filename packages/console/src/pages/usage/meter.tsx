/** How much of a limit is used. From 80 % on it warns. */
import type { ReactElement } from 'react'
import classes from './usage.module.css'

interface MeterProps {
  /** The accessible name. */
  label: string
  /** "1.2 GB of 10 GB". */
  text: string
  value: number
  limit: number
}

const warnsFrom = 0.8

export function Meter({ label, text, value, limit }: MeterProps): ReactElement {
  const share = value / limit
  return (
    <meter
      aria-label={label}
      aria-valuetext={text}
      min={0}
      max={limit}
      value={Math.min(value, limit)}
      className={classes.meter}
      data-kind={share >= 1 ? 'danger' : share >= warnsFrom ? 'warn' : 'ok'}
    />
  )
}
