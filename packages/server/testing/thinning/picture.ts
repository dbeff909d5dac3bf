// Pictures as they are compared: how much ink there is in each square of a few pixels, blurred.

/** Ink of squares in rows from the north west, from 0 to 1. */
export type Picture = { readonly width: number; readonly height: number; readonly ink: Float64Array }

/** Blurred by a Gaussian of this width, in squares; ink beyond the edges is as that on them. */
export function blurred({ width, height, ink }: Picture, sigma: number): Picture {
  const across = blurLines(ink, { count: height, length: width, step: 1, next: width }, sigma)
  return { width, height, ink: blurLines(across, { count: width, length: height, step: width, next: 1 }, sigma) }
}

type Lines = { readonly count: number; readonly length: number; readonly step: number; readonly next: number }

function blurLines(ink: Float64Array, { count, length, step, next }: Lines, sigma: number): Float64Array {
  const reach = Math.ceil(3 * sigma)
  const kernel = Array.from({ length: 2 * reach + 1 }, (_, at) => Math.exp(-((at - reach) ** 2) / (2 * sigma ** 2)))
  const whole = kernel.reduce((sum, weight) => sum + weight, 0)
  const made = new Float64Array(ink.length)
  for (let line = 0; line < count; line++) {
    for (let place = 0; place < length; place++) {
      const sum = kernel.reduce((total, weight, at) => {
        const from = Math.max(0, Math.min(length - 1, place + at - reach))
        return total + weight * (ink[line * next + from * step] ?? 0)
      }, 0)
      made[line * next + place * step] = sum / whole
    }
  }
  return made
}

const sumOf = (ink: Float64Array): number => ink.reduce((sum, value) => sum + value, 0)

/** The part of the ink that is missing, and of what is left the part that is in another place. */
export function compare(seen: Picture, whole: Picture): { missing: number; misplaced: number } {
  const ratio = sumOf(seen.ink) / sumOf(whole.ink)
  const apart = whole.ink.reduce((sum, value, at) => sum + Math.abs(value - (seen.ink[at] ?? 0) / ratio), 0)
  return { missing: 1 - ratio, misplaced: apart / 2 / sumOf(whole.ink) }
}
