/** Samples the colours for a number of classes from a ramp. */
import { type RampName, rampNamed } from './palettes.ts'
import type { Theme } from './recipe.ts'

export interface RampUse {
  ramp: RampName
  isReversed: boolean
  theme: Theme
  /** The position of a diverging ramp's centre: a class index, or a half between two. */
  centre?: number | undefined
}

/** The faint end of sequential ramps is skipped, because it would be invisible on the base map. */
const faintShare = 0.2

export function rampColours(count: number, { ramp, isReversed, theme, centre }: RampUse): string[] {
  const { kind, colours } = rampNamed(ramp)
  if (kind === 'qualitative') return distinctColours(isReversed ? colours.toReversed() : colours, count)
  if (kind === 'diverging') {
    return divergingShares(count, centre).map((share) => colourAt(colours, isReversed ? 1 - share : share))
  }
  // On a dark base map the ramp is reversed, so that the highest values are the most visible.
  const fromFaint = theme === 'dark' ? colours.toReversed() : colours
  const ordered = sequentialShares(count).map((share) => colourAt(fromFaint, share))
  return isReversed ? ordered.toReversed() : ordered
}

function sequentialShares(count: number): number[] {
  if (count === 1) return [0.6]
  return Array.from({ length: count }, (_, index) => faintShare + ((1 - faintShare) * index) / (count - 1))
}

/** Equal steps on both sides of the centre, so the side with fewer classes does not reach the ramp's end. */
function divergingShares(count: number, centre = (count - 1) / 2): number[] {
  const reach = Math.max(centre, count - 1 - centre, 0.5)
  return Array.from({ length: count }, (_, index) => 0.5 + (0.45 * (index - centre)) / reach)
}

/** Repeats the colours, lighter, if there are more classes. */
function distinctColours(colours: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const colour = colours[index % colours.length] ?? '#888888'
    return index < colours.length ? colour : mix(colour, '#ffffff', 0.45)
  })
}

/** Linear interpolation along the ramp; `share` is 0 to 1. */
function colourAt(colours: readonly string[], share: number): string {
  const place = Math.min(Math.max(share, 0), 1) * (colours.length - 1)
  const index = Math.min(Math.floor(place), colours.length - 2)
  return mix(colours[index] ?? '#000000', colours[index + 1] ?? '#000000', place - index)
}

const channels = (hex: string): number[] => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))

function mix(from: string, to: string, share: number): string {
  const end = channels(to)
  const mixed = channels(from).map((value, index) => Math.round(value + ((end[index] ?? 0) - value) * share))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

/** A perceived lightness of 50 % (L* = 50) is a relative luminance of 0.18. */
const darkBelow = 0.18

/** Whether a hex colour is dark; other notations count as light. */
export function isDark(hex: string): boolean {
  if (!/^#[\da-f]{6}$/i.test(hex)) return false
  const [red = 0, green = 0, blue = 0] = channels(hex).map((value) => linear(value / 255))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < darkBelow
}

/** From sRGB to linear light. */
const linear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
