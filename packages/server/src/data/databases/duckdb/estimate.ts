import proj4 from 'proj4'
import type { TableEstimate } from '../../../query/execution/introspection.ts'
import { wrapExtent } from '../../../query/geometry/antimeridian.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { DuckdbTable } from './package.ts'

/** Rows and extent as the metadata of the file tell them: none is read. */
export function estimateOf(
  { rows, columns }: DuckdbTable,
  geometry: Attribute | undefined,
  definition: string | undefined,
): TableEstimate {
  const extent = columns.find(({ name }) => name === geometry?.name)?.geometry?.extent
  if (!geometry || !extent) return { rows, extent: null }
  const isDegrees = !geometry.srid || geometry.srid === 4326
  if (!isDegrees && !definition) return { rows, extent: null }
  const degrees = isDegrees ? extent : inDegrees(extent, definition ?? '')
  if (!degrees.every(Number.isFinite)) return { rows, extent: null }
  const [west = 0, south = 0, east = 0, north = 0] = degrees
  const box = wrapExtent({ west, south, east, north })
  return { rows, extent: [box.west, box.south, box.east, box.north].map((value) => Number(value.toFixed(6))) }
}

const steps = 8

/** Along the edges, because a box bends when it is transformed. */
function inDegrees(
  [west, south, east, north]: readonly [number, number, number, number],
  definition: string,
): number[] {
  const { forward } = proj4(definition, 'EPSG:4326')
  const places = Array.from({ length: (steps + 1) ** 2 }, (_, index) =>
    forward([
      west + ((east - west) * (index % (steps + 1))) / steps,
      south + ((north - south) * Math.floor(index / (steps + 1))) / steps,
    ]),
  )
  const longitudes = places.map(([x = Number.NaN]) => x)
  const latitudes = places.map(([, y = Number.NaN]) => y)
  return [Math.min(...longitudes), Math.min(...latitudes), Math.max(...longitudes), Math.max(...latitudes)]
}
