import proj4 from 'proj4'
import { invalid } from '../errors.ts'

/** A position in 4326 → the same place in another system, its heights as they are. */
export type Projection = (position: readonly number[]) => number[]

/** As many as spatial answers of SQL have. */
const decimals = 9

/** `definition` is what PostGIS has in `spatial_ref_sys.proj4text`. */
export function projectionOf(definition: string): Projection {
  const forward = converter(definition)
  return ([x = 0, y = 0, ...heights]) => {
    const [east, north] = forward([x, y]) ?? []
    if (!Number.isFinite(east) || !Number.isFinite(north)) {
      throw invalid('query/srid', 'must be a reference system that covers all geometries of the answer')
    }
    return [rounded(Number(east)), rounded(Number(north)), ...heights]
  }
}

const rounded = (value: number): number => Number(value.toFixed(decimals))

function converter(definition: string): (position: [number, number]) => readonly number[] | undefined {
  // Anything else could be a name that the library looks up.
  if (!/^\s*\+proj=/.test(definition)) throw unsupported()
  try {
    const { forward } = proj4('EPSG:4326', definition)
    // Some systems fail only when they are used, such as those that need a grid.
    forward([0, 0])
    return (position) => attempt(() => forward(position))
  } catch (error) {
    throw unsupported(error)
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

const unsupported = (cause?: unknown) =>
  Object.assign(
    invalid('query/srid', 'must be a reference system that this type of dataset supports; leave it out for 4326'),
    { cause },
  )
