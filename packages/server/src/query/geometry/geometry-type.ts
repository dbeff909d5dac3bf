/** The types of simple features, and the numbers that WKB gives them. */
export const geometryCode = {
  Point: 1,
  LineString: 2,
  Polygon: 3,
  MultiPoint: 4,
  MultiLineString: 5,
  MultiPolygon: 6,
  GeometryCollection: 7,
} as const

export type GeometryType = keyof typeof geometryCode

/** By their numbers, less one. */
export const geometryTypes = Object.keys(geometryCode) as readonly GeometryType[]

export function isGeometryType(type: string): type is GeometryType {
  return Object.hasOwn(geometryCode, type)
}

export type Extent = [west: number, south: number, east: number, north: number]

/** How a column wants its geometries: single ones made multi, all with a Z (0 where they have none) or none. */
export type GeometryColumnType = { readonly srid: number; readonly hasZ: boolean; readonly isMulti: boolean }
