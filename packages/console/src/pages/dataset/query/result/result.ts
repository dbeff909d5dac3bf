/** Converts the result to columns and features. */
import type { Feature, FeatureCollection, Geometry, JsonObject } from '@graticule/client'
import type { DatasetAttribute } from '../../dataset.ts'

export type ResultColumn = Pick<DatasetAttribute, 'name' | 'type' | 'primaryKey'>

/** The columns of the rows, typed by the attribute of the same name, otherwise by their values. */
export function columnsOf(rows: readonly JsonObject[], attributes: readonly DatasetAttribute[]): ResultColumn[] {
  const names = new Set(rows.slice(0, 100).flatMap((row) => Object.keys(row)))
  return [...names].map((name) => {
    const attribute = attributes.find((one) => one.name === name)
    // Digits of ids are not grouped, even if they are not the key.
    const primaryKey = attribute?.primaryKey || /(^|_)id$/i.test(name)
    if (attribute && fits(attribute, rows)) return { name, type: attribute.type, primaryKey }
    return { name, type: guessType(rows.map((row) => row[name])), primaryKey }
  })
}

/** Whether the values have the attribute's type; an alias may reuse the name for something else. */
function fits({ name, type }: DatasetAttribute, rows: readonly JsonObject[]): boolean {
  const value = rows.find((row) => row[name] !== null && row[name] !== undefined)?.[name]
  return value === undefined || (type === 'geometry') === isGeometry(value)
}

function guessType(values: readonly unknown[]): ResultColumn['type'] {
  const present = values.filter((value) => value !== null && value !== undefined)
  if (present.length === 0) return 'string'
  if (present.every(isGeometry)) return 'geometry'
  if (present.every((value) => typeof value === 'number')) return 'number'
  if (present.every((value) => typeof value === 'boolean')) return 'boolean'
  return present.some((value) => typeof value === 'object') ? 'json' : 'string'
}

const geometryTypes = /^(Point|MultiPoint|LineString|MultiLineString|Polygon|MultiPolygon|GeometryCollection)$/

function isGeometry(value: unknown): value is Geometry {
  return typeof value === 'object' && value !== null && 'type' in value && geometryTypes.test(String(value.type))
}

/** The rows with a geometry in this column; a feature's id is the index of its row. */
export function featuresOf(rows: readonly JsonObject[], column: string): FeatureCollection {
  const features = rows.flatMap((row, index): Feature[] => {
    const { [column]: geometry, ...properties } = row
    return isGeometry(geometry) ? [{ type: 'Feature', id: index, geometry, properties }] : []
  })
  return { type: 'FeatureCollection', features }
}

/** [west, south, east, north], or undefined if there are no positions. */
export function boundsOf({ features }: FeatureCollection): [number, number, number, number] | undefined {
  const bounds: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity]
  const add = (value: unknown): void => {
    if (!Array.isArray(value)) return
    const [x, y] = value
    if (typeof x === 'number' && typeof y === 'number') {
      bounds[0] = Math.min(bounds[0], x)
      bounds[1] = Math.min(bounds[1], y)
      bounds[2] = Math.max(bounds[2], x)
      bounds[3] = Math.max(bounds[3], y)
    } else value.forEach(add)
  }
  const addGeometry = (geometry: Geometry | null): void => {
    if (geometry && 'geometries' in geometry) geometry.geometries.forEach(addGeometry)
    else if (geometry) add(geometry.coordinates)
  }
  for (const { geometry } of features) addGeometry(geometry)
  return Number.isFinite(bounds[0]) ? bounds : undefined
}

/** "Point 8.54, 47.37", "MultiPolygon" */
export function geometryText(value: unknown): string | null {
  if (!isGeometry(value)) return value === null || value === undefined ? null : String(value)
  if (value.type !== 'Point') return value.type
  const [x = Number.NaN, y = Number.NaN] = value.coordinates
  return `Point ${Number(x.toFixed(5))}, ${Number(y.toFixed(5))}`
}
