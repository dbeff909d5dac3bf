// Map projections with proj4, from 4326 to another reference system.
import proj4 from 'proj4'
import { invalid } from '../../kernel/errors.ts'

/** Projects a position from 4326; heights stay unchanged. */
export type PositionProjection = (position: readonly number[]) => number[]

/** SRID → PROJ definition. */
export type Definitions = Readonly<Record<number, string>>

/** The same precision as spatial answers from SQL. */
const decimals = 9

/** `definition` is a PROJ text, as in PostGIS's `spatial_ref_sys.proj4text`. */
export function projectionOf(definition: string): PositionProjection {
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
  // proj4 would look up anything else as a name.
  if (!/^\s*\+proj=/.test(definition)) throw unsupported()
  try {
    const { forward } = proj4('EPSG:4326', definition)
    // Try it once: some systems fail only when used, such as those that need a grid file.
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
