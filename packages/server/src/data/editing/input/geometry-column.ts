// Geometries that are written: GeoJSON or WKT in longitude and latitude, as answers show them, into the column's own system.
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { type Fault, invalid, maxFaults } from '../../../kernel/errors.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'
import { createGeometryWriter } from '../../../query/geometry/encoding/ewkb-writer.ts'
import { type LooseGeometry, writeGeometry } from '../../../query/geometry/encoding/geojson-ewkb.ts'
import { parseWkt } from '../../../query/geometry/encoding/wkt.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { demandFewCrossings, readGeometry } from '../../../query/values/read-geometry.ts'

export type GeometryColumn = {
  /** `Point`, `MultiPolygon`; `Geometry` takes any. */
  readonly kind: string
  /** What positions have: a height, none, or either. */
  readonly height: 'required' | 'none' | 'any'
  readonly hasMeasure: boolean
  /** The system of the values; 0: longitudes and latitudes without a system. */
  readonly srid: number
  /** The column itself has no system: values are stored without one. */
  readonly isUnlocated: boolean
  readonly isGeography: boolean
  /** Nobody has stated the system of the column, and its coordinates are no degrees. */
  readonly isUnknown: boolean
}

const wgs84 = 4326
const most = { longitude: 360, latitude: 90 }

/** `geometry(PointZ,3857)`, and what the dataset knows of a column that does not say it. */
export function geometryColumnOf(dbType: string, attribute: Attribute | undefined): GeometryColumn {
  const [, kind = 'Geometry', dimension = '', srid] = /\((\w+?)(ZM|Z|M)?(?:,(\d+))?\)$/.exec(dbType) ?? []
  const isTyped = dbType.includes('(')
  const isGeography = /^(public\.)?geography/.test(dbType)
  const own = Number(srid ?? (isGeography ? wgs84 : 0))
  return {
    kind,
    height: dimension.includes('Z') ? 'required' : isTyped ? 'none' : 'any',
    hasMeasure: dimension.includes('M'),
    srid: own || (attribute?.srid ?? 0),
    isUnlocated: own === 0 && (isTyped || attribute?.unlocated === true || !attribute?.srid),
    isGeography,
    isUnknown: attribute?.isOutsideDegrees === true,
  }
}

/** The reference system of given geometries. `swapsAxes`: positions are written with y first. */
export type InputCrs = { readonly srid: number; readonly swapsAxes: boolean; readonly isInDegrees: boolean }

const longitudeLatitude: InputCrs = { srid: wgs84, swapsAxes: false, isInDegrees: true }

/** No projection has larger coordinates, and PROJ wraps what is beyond around the earth. */
const mostMetres = 1e9

export type GeometryOptions = {
  /** Also adds or drops heights. */
  readonly repair: boolean
  /** Longitude and latitude by default. */
  readonly crs?: InputCrs | undefined
}

const unknownSystem =
  'cannot be written: the column has no SRID, and its coordinates are not longitudes and latitudes. Set metadata.srid of the dataset to the code of its system, such as 2056'

/** Hexadecimal EWKB in the system that it is given in. Throws a 400 that names the place. */
export function geometryText(value: unknown, column: GeometryColumn, path: string, options: GeometryOptions): string {
  const { repair, crs = longitudeLatitude } = options
  if (column.isUnknown) throw invalid(path, unknownSystem)
  const written = typeof value === 'string' ? wktGeometry(value, path) : (value as LooseGeometry)
  const read = readGeometry(written, path)
  if (repair) demandFewCrossings(read, path)
  const geometry = crs.swapsAxes ? swapped(written) : written
  const { kind, height, hasMeasure } = column
  if (hasMeasure) throw invalid(path, 'is of a type with measures (M), which cannot be written here')
  if (!fits(geometry.type, kind)) throw invalid(path, `must be a ${kind}, not a ${geometry.type}`)
  const isHigh = hasHeights(geometry.coordinates ?? geometry.geometries)
  if (!repair && isHigh && height === 'none')
    throw invalid(path, 'must have positions of two numbers: the column has no heights. repair=true drops them')
  if (!repair && !isHigh && height === 'required')
    throw invalid(path, 'must have positions of three numbers: the column has heights. repair=true adds 0')
  const hasZ = height === 'any' ? isHigh : height === 'required'
  const writer = createGeometryWriter({ srid: crs.srid, hasZ, isMulti: kind.startsWith('Multi') })
  if (!writeGeometry(writer, geometry)) throw invalid(path, 'must be a geometry')
  if (crs.isInDegrees) checkDegrees(writer.box, path)
  else if (writer.box.some((side) => Math.abs(side) > mostMetres))
    throw invalid(path, `must have coordinates from -${mostMetres} to ${mostMetres}`)
  return writer.bytes.toString('hex', 0, writer.length)
}

/** As many positions as GeoJSON may have: a list of two numbers each. */
const maxPositions = Math.floor(limits.coordinateValues.value / 3)
/** For each of them two numbers of 17 digits with sign, point and exponent. */
const maxWktLength = maxPositions * 50

function checkWktSize(text: string, path: string): void {
  let positions = 1
  for (let at = text.indexOf(','); at !== -1 && positions <= maxPositions; at = text.indexOf(',', at + 1)) positions++
  if (positions <= maxPositions && text.length <= maxWktLength) return
  const most = limits.coordinateValues.value
  throw overLimit('coordinateValues', most, `must not have more than ${maxPositions} positions`, { path })
}

function wktGeometry(text: string, path: string): LooseGeometry {
  checkWktSize(text, path)
  const read = parseWkt(text)
  if (!read) throw invalid(path, 'must be WKT such as POINT(24.9 60.2), or a GeoJSON geometry')
  if (read.geometry.isCurved)
    throw invalid(path, 'must not have arcs, which cannot be kept; write them as straight lines')
  if (read.geometry.isMeasured) throw invalid(path, 'must not have measures (M), which cannot be kept')
  if ((read.srid ?? wgs84) !== wgs84) throw invalid(path, 'must be in longitude and latitude (SRID 4326)')
  return read.geometry
}

/** `[y, x]` → `[x, y]` in every position. */
const swapped = ({ type, coordinates, geometries }: LooseGeometry): LooseGeometry =>
  Array.isArray(geometries)
    ? { type, geometries: geometries.map(swapped) }
    : { type, coordinates: swappedPositions(coordinates) }

function swappedPositions(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  if (typeof value[0] !== 'number') return value.map(swappedPositions)
  const [y, x, ...rest] = value
  return [x, y, ...rest]
}

const fits = (type: string, kind: string): boolean => kind === 'Geometry' || kind === type || kind === `Multi${type}`

const hasHeights = (value: unknown): boolean => {
  if (!Array.isArray(value)) return isCollected(value) && hasHeights(value.coordinates)
  return typeof value[0] === 'number' ? value.length > 2 : value.some(hasHeights)
}

const isCollected = (value: unknown): value is LooseGeometry =>
  typeof value === 'object' && value !== null && 'coordinates' in value

function checkDegrees([west = 0, south = 0, east = 0, north = 0]: Float64Array, path: string): void {
  const isFar = Math.max(-west, east) > most.longitude || Math.max(-south, north) > most.latitude
  if (isFar) throw invalid(path, 'must be in degrees: [longitude, latitude], with latitudes from -90 to 90')
}

const dimensions: Readonly<Record<string, number>> = { Point: 1, LineString: 2, Polygon: 3 }

/** The value for the column, of a text made by `geometryText`. */
export function geometrySql(text: Sql, column: GeometryColumn, repair: boolean): Sql {
  const { srid, isUnlocated, isGeography } = column
  const geometry = sql`(${text})::geometry`
  const value = repair ? repaired(geometry, column.kind) : geometry
  // A value that is there already comes back as it is.
  const moved = sql`ST_Transform(${value}, ${raw(String(Math.trunc(srid || wgs84)))})`
  if (isGeography) return sql`(${moved})::geography`
  return isUnlocated ? sql`ST_SetSRID(${moved}, 0)` : moved
}

/** A repaired polygon may leave a line behind, which the column would not take. */
function repaired(value: Sql, kind: string): Sql {
  const valid = sql`ST_MakeValid(${value})`
  const isMulti = kind.startsWith('Multi')
  const dimension = dimensions[isMulti ? kind.slice('Multi'.length) : kind]
  if (dimension === undefined) return valid
  const parts = sql`ST_CollectionExtract(${valid}, ${raw(String(dimension))})`
  return isMulti ? sql`ST_Multi(${parts})` : parts
}

export type GeometryInput = { readonly text: string; readonly path: string }

/** SQL for the numbers and reasons of geometries that are not valid. */
export const invalidSql = (geometries: readonly GeometryInput[]): Sql => sql`
  SELECT n::text, ST_IsValidReason(g::geometry) FROM unnest(${geometries.map(({ text }) => text)}::text[]) WITH ORDINALITY AS r(g, n)
  WHERE NOT ST_IsValid(g::geometry) ORDER BY n LIMIT ${maxFaults}::int4`

export const invalidFault = ({ path }: GeometryInput, reason: string): Fault => ({
  path,
  code: 'invalid_geometry',
  message: `is not valid: ${reason}. repair=true makes it valid`,
})
