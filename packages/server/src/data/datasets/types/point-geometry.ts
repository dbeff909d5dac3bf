// Point geometries from latitude and longitude fields.
import { invalid } from '../../../kernel/errors.ts'
import { unknownName } from '../../../kernel/nearest-name.ts'
import type { AttributeDto } from '../attribute-dto.ts'
import { isObject, type SourceRow } from './json-rows.ts'

/** The latitude and longitude fields; dotted paths for nested ones. */
export type PointFields = { readonly lat: string; readonly lon: string }

/** The name of the added geometry. */
const geometryName = 'geometry'

const latitudeName = /^(lat|latitude)$/i
const longitudeName = /^(lon|lng|long|longitude)$/i

/** Adds a point made from two fields to each row; null if they hold no position. */
export function withPoints(rows: readonly SourceRow[], point: PointFields): SourceRow[] {
  return rows.map((row) => ({ ...row, [geometryName]: pointOf(row, point) }))
}

function pointOf(row: SourceRow, { lat, lon }: PointFields): SourceRow | null {
  const [x, y] = [numberOf(fieldOf(row, lon)), numberOf(fieldOf(row, lat))]
  if (x === undefined || y === undefined || Math.abs(x) > 180 || Math.abs(y) > 90) return null
  return { type: 'Point', coordinates: [x, y] }
}

function numberOf(value: unknown): number | undefined {
  const isText = typeof value === 'string' && value.trim() !== ''
  const number = isText ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** The field with exactly this name, or the value at the path `location.lat`. */
function fieldOf(row: SourceRow, name: string): unknown {
  if (Object.hasOwn(row, name)) return row[name]
  let inner: unknown = row
  for (const step of name.split('.')) inner = isObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined
  return inner
}

/** Throws if rows already have a geometry, or no row has one of the fields. */
export function checkPointFields(rows: readonly SourceRow[], point: PointFields): void {
  if (rows.length === 0) return
  const path = 'body/metadata/rest/point'
  if (rows.some((row) => Object.hasOwn(row, geometryName))) {
    throw invalid(path, `must be left out: the rows have a field called ${geometryName} already`)
  }
  for (const [member, name] of Object.entries(point)) {
    if (rows.every((row) => fieldOf(row, name) === undefined)) {
      const names = new Set(rows.flatMap((row) => Object.keys(row)))
      throw invalid(`${path}/${member}`, unknownName('a field of the rows', name, names))
    }
  }
}

/** Adds a hint to the descriptions of two attributes that look like a point. */
export function withPointHint(attributes: readonly AttributeDto[]): AttributeDto[] {
  const isNumeric = ({ type }: AttributeDto) => type === 'number' || type === 'integer'
  const named = (pattern: RegExp) => attributes.filter((one) => isNumeric(one) && pattern.test(one.name))
  const [[lat, otherLat], [lon, otherLon]] = [named(latitudeName), named(longitudeName)]
  const isPlain = !attributes.some(({ type }) => type === 'geometry')
  if (!isPlain || !lat || !lon || otherLat || otherLon) return [...attributes]
  const setting = JSON.stringify({ lat: lat.name, lon: lon.name })
  const description = `Looks like a coordinate. metadata.rest.point ${setting} makes a point of each row.`
  return attributes.map((one) => (one === lat || one === lon ? { ...one, description } : one))
}
