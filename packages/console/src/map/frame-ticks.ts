/** The pixel positions of the degree ticks along the frame of an unrotated Web Mercator map. */
import { latitudeLabel, longitudeLabel, tickStep, ticksBetween } from './graticule.ts'

export interface FrameView {
  west: number
  south: number
  east: number
  north: number
  width: number
  height: number
}

export interface Tick {
  at: number
  label: string
}

export interface Side {
  ticks: Tick[]
  /** The dark segments between ticks, from and to. */
  segments: [from: number, to: number][]
}

/** Labels are about 45 px wide; the rest is spacing. */
const minPixels = 84
const maxLatitude = 85.051_129

export function longitudeSide({ west, east, width }: FrameView): Side {
  const perDegree = width / (east - west)
  const step = tickStep(perDegree, minPixels)
  return sideOf({
    step,
    from: west,
    to: east,
    length: width,
    at: (longitude) => (longitude - west) * perDegree,
    label: longitudeLabel,
  })
}

/** The step is chosen at the latitude nearest to the equator, where degrees are shortest on the map. */
export function latitudeSide({ south, north, height }: FrameView): Side {
  const top = mercator(north)
  const perUnit = height / (top - mercator(south))
  const at = (latitude: number) => (top - mercator(latitude)) * perUnit
  const nearest = south <= 0 && north >= 0 ? 0 : Math.min(Math.abs(south), Math.abs(north))
  const perDegree = (perUnit * Math.PI) / 180 / Math.cos((nearest * Math.PI) / 180)
  const side = sideOf({
    step: tickStep(perDegree, minPixels),
    from: Math.max(south, -maxLatitude),
    to: Math.min(north, maxLatitude),
    length: height,
    at,
    label: latitudeLabel,
  })
  return side
}

const mercator = (latitude: number): number => {
  const clamped = Math.min(maxLatitude, Math.max(-maxLatitude, latitude))
  return Math.log(Math.tan(Math.PI / 4 + (clamped * Math.PI) / 360))
}

interface Axis {
  step: number
  from: number
  to: number
  length: number
  at(degree: number): number
  label(degree: number, step: number): string
}

function sideOf({ step, from, to, length, at, label }: Axis): Side {
  const ticks = ticksBetween(from, to, step).map((degree) => ({ at: at(degree), label: label(degree, step) }))
  const first = Math.floor(from / step)
  const count = Math.ceil(to / step) - first
  const clip = (degree: number) => Math.min(length, Math.max(0, at(degree)))
  const segments: Side['segments'] = []
  for (let index = first; index < first + count; index++) {
    // Even ones are dark, so that segments do not change colour when the map moves.
    if (index % 2 === 0) segments.push(ordered(clip(index * step), clip((index + 1) * step)))
  }
  return { ticks, segments }
}

const ordered = (one: number, other: number): [number, number] => (one < other ? [one, other] : [other, one])
