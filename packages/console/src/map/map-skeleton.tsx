/** The empty frame of a map, for pages that load MapLibre after everything else. */
import type { ReactElement, ReactNode } from 'react'
import classes from './map-frame.module.css'

export function MapSkeleton({ children }: { children?: ReactNode }): ReactElement {
  return (
    <div className={classes.frame}>
      <div className={classes.map}>{children}</div>
    </div>
  )
}
