/** The graticule: step, positions and labels of the degrees along a map's frame. */

/** Divisors of 360, so that light and dark segments also alternate across the date line. */
const wholeSteps = [1, 2, 5, 10, 15, 20, 30, 45, 60, 90]
/** Below one degree, steps are decimal, like the coordinates in the status line. */
const finestStep = 0.000_01

/** The smallest step whose ticks are at least so many pixels apart. */
export function tickStep(pixelsPerDegree: number, minPixels: number): number {
  const isWide = (step: number) => step * pixelsPerDegree >= minPixels
  for (let power = finestStep; power < 1; power *= 10) {
    const step = [1, 2, 5].map((digit) => rounded(digit * power, power)).find(isWide)
    if (step !== undefined && step < 1) return step
  }
  return wholeSteps.find(isWide) ?? 90
}

/** Removes floating-point noise such as 0.09999999999999999. */
const rounded = (value: number, power: number): number =>
  Number(value.toFixed(Math.max(0, Math.round(-Math.log10(power)))))

/** The multiples of the step from one degree to another, both included. */
export function ticksBetween(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step - 1e-9)
  const last = Math.floor(to / step + 1e-9)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => cleaned((first + index) * step))
}

const cleaned = (value: number): number => Number(value.toFixed(6)) + 0

/** Wraps a longitude to -180…180. */
export const wrappedLongitude = (longitude: number): number =>
  longitude === 180 ? 180 : cleaned(((((longitude + 180) % 360) + 360) % 360) - 180)

const degrees = (value: number, digits: number): string => Math.abs(value).toFixed(digits)
const digitsOf = (step: number): number => Math.max(0, Math.min(6, Math.ceil(-Math.log10(step) - 1e-9)))

/** 10°W, 0°, 8.5°E; the date line belongs to neither side. */
export function longitudeLabel(longitude: number, step: number): string {
  const value = wrappedLongitude(longitude)
  if (Math.abs(value) === 180) return '180°'
  return `${degrees(value, digitsOf(step))}°${side(value, 'W', 'E')}`
}

export const latitudeLabel = (latitude: number, step: number): string =>
  `${degrees(latitude, digitsOf(step))}°${side(latitude, 'S', 'N')}`

function side(value: number, negative: string, positive: string): string {
  if (value === 0) return ''
  return value < 0 ? negative : positive
}

/** 8.54° E 47.37° N, with the precision of one pixel at this zoom. */
export function coordinateText(longitude: number, latitude: number, zoom: number): string {
  const digits = Math.min(6, Math.max(2, Math.ceil(zoom / 3)))
  const value = wrappedLongitude(longitude)
  const text = (number: number, negative: string, positive: string) =>
    `${degrees(number, digits)}° ${side(number, negative, positive) || positive}`
  return `${text(value, 'W', 'E')} ${text(latitude, 'S', 'N')}`
}
