/** A thumbnail of a dataset's extent: a box on a world of 56 pixels. */
import type { ReactElement } from 'react'
import classes from './data.module.css'

/** Plate carrée, two degrees a unit, from 84° N to 60° S: the land of the base map, simplified to 1 kB. */
const width = 180
const height = 72
const north = 84
const land =
  'M162 48l5 7-2 6-4 0-3-1 1-2-1 1-2-1-8 1 0-1-1-5 6-4 2 1 1-2 4 3 2-3zM157 42l7 3 1 2-4-1-5-2-1-1 2-1zM148 39l2 0-2 4-3 0 0-2 3-2zM115 48l-1 6-2 1 0-4 3-3zM47 6l1-1 4 1 6 3-2 0 2 1-2 1-5-1 2-1 0-1-7-1-1-2 3 0-1 1zM55 0l4 1-8 1 2 1-4 0 2 1-6 0 3-1-2 0 3 0-2-1 5-1-8 0 11-1zM43 6l3 2 3 0-6 2 2 0-2 2 1 2 5 0 1 3 1-6 2 0 3 2 2-1 3 3-1 0 2 1-9 3 4-2 3 2-4 1-4 3 0 1-3 2 1 3-3-2-5 1 0 5 4-2 0 3 2 0 1 4 3 0 2-2 0 1 1-1 4 1 5 3 0 3 2-1 7 4-3 7-4 2-3 4-2-1 1 2-5 2-1 6-3 0-1-3 2-1 1-12-6-7 2-7-13-5-5-7 2 5-7-9 1-5-6-4-9-1 1-1-7 4 4-3-3 1-2-2 3-1-4-1 4 0-3-1 5-2 30 3 1-3zM33 6l4-1 1 2-6 0 2 0-3 0 2-1zM75 0l9 1-4 1-1 1 2 1-2 0 1 1-4 0 3 2-4 0 4 0-9 2-3 3-4-3 2-1-2 0 2-1-2 0 1-1-10-3 21-3zM99 12l-3 2-4-3 10-4 8 1-4 0 3 2 3-1 0-1 12 0-1-2 3 0 1 2-3 1 2 0 3-1-2-1 0-1 5 1-2-2 12-2 5 1-4 2 36 1 1 2-3 1 3 1-8 1-4 4 0-2 4-3-11 1-3 3 3 1-3 4-4 2 1 2-2 1-2-3-2 0 2 1-1 2 1 2-3 4-5 1 1 4-2 2-2-3 2 6-3-3 0-4-2 0-2-4-5 4-1 4-2-7-4-2-9-2 2 3 2-1 2 2-8 5-6-9 5 9 5 1-6 7 0 5-3 3 1 2-4 5-4 0-4-8 1-3-2-8-3-1-6 1-5-5 1-5 5-6 8-1 0 2 4 2 2-1 6 0 1-2-4 0-1-2 8-1-3-2 2-1-3 2-1-2-2 4-3 0 1 2-5-5 2 3-1 1-4-3-5 4-3-1-1-3 5-1-2-1 7-3-1-2 3 2 8-3-4 0 2-2-2-1-2 2 0 1z'
/** Smaller boxes would be invisible. */
const leastSize = 8

export type ThumbnailExtent = readonly [west: number, south: number, east: number, north: number]

interface ExtentThumbnailProps {
  extent: ThumbnailExtent
}

export function ExtentThumbnail({ extent }: ExtentThumbnailProps): ReactElement {
  const label = `From ${degrees(extent[0], 'E', 'W')}, ${degrees(extent[1], 'N', 'S')} to ${degrees(extent[2], 'E', 'W')}, ${degrees(extent[3], 'N', 'S')}`
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`} className={classes.extent}>
      <title>{label}</title>
      <path d={land} className={classes.land} />
      <rect {...boxOf(extent)} className={classes.box} />
    </svg>
  )
}

function boxOf([west, south, east, top]: ThumbnailExtent): { x: number; y: number; width: number; height: number } {
  const across = span((west + 180) / 2, (east + 180) / 2, width)
  const down = span((north - top) / 2, (north - south) / 2, height)
  return { x: across.start, y: down.start, width: across.size, height: down.size }
}

/** Clamps a range to the picture and to the minimum size. */
function span(from: number, to: number, limit: number): { start: number; size: number } {
  const size = Math.min(limit, Math.max(leastSize, to - from))
  const start = (from + to - size) / 2
  return { start: Math.max(0, Math.min(limit - size, start)), size }
}

const degrees = (value: number, positive: string, negative: string): string =>
  `${Math.abs(value).toFixed(1)}° ${value < 0 ? negative : positive}`
