import proj4 from 'proj4'

/** A place in one reference system → in another; NaN where it is not defined. */
export type PointConversion = (x: number, y: number) => readonly [x: number, y: number]

const nowhere = [Number.NaN, Number.NaN] as const

export function converter(from: string, to: string): PointConversion {
  const { forward } = proj4(from, to)
  return (x, y) => {
    try {
      const [east = Number.NaN, north = Number.NaN] = forward([x, y]) ?? nowhere
      return [east, north]
    } catch {
      return nowhere
    }
  }
}

/** Into web mercator. What does not come back to where it was is no place of the system. */
export function mercatorConverter(definition: string): PointConversion {
  const there = converter(definition, 'EPSG:3857')
  if (/\+proj=longlat\b/.test(definition)) return there
  const back = converter('EPSG:3857', definition)
  return (x, y) => {
    const place = there(x, y)
    const [returnedX, returnedY] = back(...place)
    const isSame = Math.hypot(returnedX - x, returnedY - y) <= 1e-6 * (1 + Math.hypot(x, y))
    return isSame ? place : nowhere
  }
}
