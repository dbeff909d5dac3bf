// The `bbox` parameter: four or six numbers in CRS84 or `bbox-crs`, also across the antimeridian.
import type { Db } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { invalid } from '../../../kernel/errors.ts'
import { anyOf, type Filter, orNull } from '../../../query/filter/filter-tree.ts'
import { bboxOperand, geometryOperand } from '../../../query/filter/spatial-operand.ts'
import type { Geometry } from '../../../query/geometry/geojson.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { Crs } from '../collections/crs.ts'

const path = 'query/bbox'
const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

type Corners = readonly [minX: number, minY: number, maxX: number, maxY: number]

/** The corners with x first. Of six numbers the heights are left out: features are selected by their place. */
function readBox(text: string, { swapsAxes }: Pick<Crs, 'swapsAxes'>): Corners {
  const items = text.split(',').map((item) => item.trim())
  const numbers = items.map(Number)
  const isValid = items.every((item) => number.test(item)) && numbers.every(Number.isFinite)
  if (!isValid || (items.length !== 4 && items.length !== 6)) throw malformed()
  const flat = numbers.length === 4 ? numbers : [0, 1, 3, 4].map((index) => numbers[index])
  const [a = 0, b = 0, c = 0, d = 0] = flat
  return swapsAxes ? [b, a, d, c] : [a, b, c, d]
}

const malformed = () => invalid(path, 'must be 4 numbers (or 6, with heights): the lower corner, then the upper one')

/** The condition of a box on the geometries of features. */
export type BoxFilter = { readonly geometry: Attribute; readonly inside: Filter }

/** The features that intersect the box; undefined if features have no geometry. */
export async function boxFilter(
  text: string,
  crs: Crs,
  geometry: Attribute | undefined,
  db: Pick<Db, 'query'>,
): Promise<BoxFilter | undefined> {
  const parts = await areasOf(readBox(text, crs), crs, db)
  if (!geometry) return undefined
  return { geometry, inside: anyOf(parts.map((part) => ({ kind: 'intersects', attribute: geometry, geometry: part }))) }
}

/** Features without a geometry match every box. */
export const insideOrUnplaced = ({ geometry, inside }: BoxFilter): Filter => orNull(geometry, inside)

/** The areas in degrees that a box covers: two where it crosses the antimeridian. */
async function areasOf(corners: Corners, { srid }: Crs, db: Pick<Db, 'query'>): Promise<readonly Geometry[]> {
  if (srid === 4326 || srid === 4979) return inDegrees(corners)
  const [minX, minY, maxX, maxY] = corners
  if (minX > maxX || minY > maxY) throw invalid(path, 'must have its lower corner first')
  if (srid === 3857) return inDegrees([longitudeAt(minX), latitudeAt(minY), longitudeAt(maxX), latitudeAt(maxY)])
  return [await transformed(corners, srid, db)]
}

const inDegrees = (corners: Corners): readonly Geometry[] =>
  bboxOperand([...corners], path).filter((part) => part !== undefined)

const earthRadius = 6_378_137
const longitudeAt = (x: number): number => (x / earthRadius) * (180 / Math.PI)
const latitudeAt = (y: number): number => (2 * Math.atan(Math.exp(y / earthRadius)) - Math.PI / 2) * (180 / Math.PI)

/** An edge that is straight in one system is a curve in another; it is split into this many pieces. */
const pieces = 64

async function transformed([minX, minY, maxX, maxY]: Corners, srid: number, db: Pick<Db, 'query'>): Promise<Geometry> {
  const step = Math.max(maxX - minX, maxY - minY) / pieces || 1
  const float = (value: number) => sql`${String(value)}::float8`
  const rows = await db
    .query<{ area: string }>(sql`
      SELECT ST_AsGeoJSON(ST_Transform(ST_Segmentize(ST_MakeEnvelope(
        ${float(minX)}, ${float(minY)}, ${float(maxX)}, ${float(maxY)}, ${srid}::int4), ${float(step)}), 4326), 12) AS area`)
    .catch(() => [])
  const [row] = rows
  if (!row) throw outside()
  return geometryOperand(row.area, path)
}

const outside = () => invalid(path, 'must lie in the area that the reference system of bbox-crs is for')
