// The GeoJSON types (RFC 7946) that responses use; assignable to those of @types/geojson.

type Position = number[]

export type Geometry =
  | { type: 'Point'; coordinates: Position }
  | { type: 'MultiPoint' | 'LineString'; coordinates: Position[] }
  | { type: 'MultiLineString' | 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'GeometryCollection'; geometries: Geometry[] }

export interface Feature<Properties = Record<string, unknown>> {
  type: 'Feature'
  /** `undefined` too, as the types of others have it. */
  id?: string | number | undefined
  geometry: Geometry
  properties: Properties
}

export interface FeatureCollection<Properties = Record<string, unknown>> {
  type: 'FeatureCollection'
  features: Feature<Properties>[]
}
