// Vector algebra on the unit sphere.
import type { Position } from '../geojson.ts'

/** A position on the unit sphere. */
export type Vector = readonly [number, number, number]

/** Two positions, and the straight way between them through the sphere. */
export type Approach = { readonly chord: number; readonly from?: Vector; readonly to?: Vector }

const radians = Math.PI / 180

export function vectorOf([lon, lat]: Position): Vector {
  const flat = Math.cos(lat * radians)
  return [flat * Math.cos(lon * radians), flat * Math.sin(lon * radians), Math.sin(lat * radians)]
}

export function positionOf([x, y, z]: Vector): Position {
  return [Math.atan2(y, x) / radians, Math.atan2(z, Math.hypot(x, y)) / radians]
}

export function nearer(best: Approach, from: Vector, to: Vector): Approach {
  const chord = distance(from, to)
  return chord < best.chord ? { chord, from, to } : best
}

/** From the corners of the first line to anywhere on the second. */
export function nearestOfCorners(corners: readonly Vector[], line: readonly Vector[], best: Approach): Approach {
  let nearest = best
  for (const corner of corners) {
    let start = line[0]
    for (const end of line) {
      nearest = nearer(nearest, corner, nearestOnEdge(corner, start, end))
      start = end
    }
  }
  return nearest
}

/** The foot of the perpendicular if it is on the edge, and otherwise the nearer end. */
function nearestOnEdge(position: Vector, start: Vector, end: Vector): Vector {
  const normal = unit(cross(difference(end, start), sum(end, start)))
  const middle = unit(sum(start, end))
  if (!normal || !middle) return start
  const height = dot(position, normal)
  const [x, y, z] = normal
  const foot = unit([position[0] - x * height, position[1] - y * height, position[2] - z * height])
  if (foot && dot(foot, middle) >= dot(start, middle)) return foot
  return distance(position, start) <= distance(position, end) ? start : end
}

/** Whether an edge of the first line crosses one of the second. */
export function doLinesCross(line: readonly Vector[], other: readonly Vector[]): boolean {
  let a = line[0]
  for (const b of line) {
    let c = other[0]
    for (const d of other) {
      if (doCross(a, b, c, d)) return true
      c = d
    }
    a = b
  }
  return false
}

function doCross(a: Vector, b: Vector, c: Vector, d: Vector): boolean {
  const first = cross(a, b)
  const side = -dot(first, c)
  if (side * dot(first, d) <= 0) return false
  const second = cross(c, d)
  return side * -dot(second, b) > 0 && side * dot(second, a) > 0
}

/** The angle between the directions to two positions. */
export function angleAt(position: Vector, start: Vector, end: Vector): number {
  const ahead = dot(start, end) - dot(start, position) * dot(end, position)
  return Math.atan2(dot(position, cross(start, end)), ahead)
}

export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
export const sum = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
const difference = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]

export function distance(a: Vector, b: Vector): number {
  const [x, y, z] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
  return Math.sqrt(x * x + y * y + z * z)
}

export function unit([x, y, z]: Vector): Vector | undefined {
  const length = Math.sqrt(x * x + y * y + z * z)
  return length > 0 ? [x / length, y / length, z / length] : undefined
}
