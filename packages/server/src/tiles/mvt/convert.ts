import proj4 from 'proj4'

/** A place in one reference system → in another; NaN where it is not defined. */
export type Convert = (x: number, y: number) => readonly [x: number, y: number]

const nowhere = [Number.NaN, Number.NaN] as const

export function converter(from: string, to: string): Convert {
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
