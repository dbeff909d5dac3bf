/** The empty frame of a map, for pages that load MapLibre after everything else. */
import type { ReactElement, ReactNode } from 'react'
import classes from './map-frame.module.css'

interface MapSkeletonProps {
  children?: ReactNode
}

export function MapSkeleton({ children }: MapSkeletonProps): ReactElement {
  return (
    <div className={classes.frame}>
      <div className={classes.map}>{children}</div>
    </div>
  )
}
