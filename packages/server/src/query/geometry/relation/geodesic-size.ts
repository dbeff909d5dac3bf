// Areas and lengths along the ellipsoid.
import geographicLib from 'geographiclib-geodesic'
import type { Geometry, Position } from '../geojson.ts'

const { WGS84 } = geographicLib.Geodesic

/** Of the polygons in a geometry, in square metres along the ellipsoid, as ST_Area has it of geography. */
export function geodesicArea(geometry: Geometry): number {
  switch (geometry.type) {
    case 'Polygon':
      return polygonArea(geometry.coordinates)
    case 'MultiPolygon':
      return total(geometry.coordinates.map(polygonArea))
    case 'GeometryCollection':
      return total(geometry.geometries.map(geodesicArea))
    default:
      return 0
  }
}

/** Of the lines in a geometry, in metres along the ellipsoid, as ST_Length has it of geography. */
export function geodesicLength(geometry: Geometry): number {
  switch (geometry.type) {
    case 'LineString':
      return lineLength(geometry.coordinates)
    case 'MultiLineString':
      return total(geometry.coordinates.map(lineLength))
    case 'GeometryCollection':
      return total(geometry.geometries.map(geodesicLength))
    default:
      return 0
  }
}

const total = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0)

function polygonArea([outer = [], ...holes]: readonly (readonly Position[])[]): number {
  return ringArea(outer) - total(holes.map(ringArea))
}

/** Whichever way round it runs. */
function ringArea(ring: readonly Position[]): number {
  const polygon = WGS84.Polygon(false)
  for (const [lon, lat] of ring.slice(0, -1)) polygon.AddPoint(onEarth(lat), lon)
  return Math.abs(polygon.Compute(false, true).area ?? 0)
}

function lineLength(line: readonly Position[]): number {
  let length = 0
  for (let index = 1; index < line.length; index++) {
    const [[lon1, lat1], [lon2, lat2]] = [line[index - 1], line[index]]
    length += WGS84.Inverse(onEarth(lat1), lon1, onEarth(lat2), lon2).s12 ?? 0
  }
  return length
}

/** Beyond a pole it goes down on the other side, as PostGIS has it. */
function onEarth(latitude: number): number {
  if (Math.abs(latitude) <= 90) return latitude
  return (Math.asin(Math.sin((latitude * Math.PI) / 180)) * 180) / Math.PI
}
