// Makes polygons valid on the integer grid of a tile, by snap rounding and the winding rule.

import { clearParts, createShape, endPart, reserveNumbers, shapeKind, type TileShape, type Window } from '../shape.ts'
import { createEdges, reserveEdges, span } from './edges.ts'
import { nodeEdges } from './noding.ts'
import { fault, findFaults, type PolygonFaults, putRingEdges } from './polygon-faults.ts'
import { type FillRule, subdivide } from './subdivision.ts'
import { traceRings } from './trace-rings.ts'

/** Windows that are wider cannot be made valid. */
export const widestWindow = span - 1

const untangled = createShape()
const united = createShape()
const overlapping = createShape()

/**
 * Polygons as renderers and the format need them: rings that cross neither themselves nor each other, holes inside their outer
 * ring, nothing covered twice. A polygon covers what an odd number of its rings is around, which is what ST_MakeValid makes of
 * it; several polygons cover what any of them does. A valid shape comes back as it is, another one until the next call.
 */
export function makeValid(shape: TileShape, window: Window): TileShape {
  const isTriangle = shape.parts === 1 && shape.ends[0] - shape.starts[0] <= 6
  const faults = isTriangle ? undefined : findFaults(shape, window)
  if (!faults?.kinds) return shape
  if ((faults.kinds & fault.itself) === 0) return unite(shape, window, faults)
  const isOne = faults.polygons === 1
  const tidy = untangle(shape, window, faults)
  if (isOne) return tidy
  const rest = findFaults(tidy, window)
  return rest && (rest.kinds & fault.others) !== 0 ? unite(tidy, window, rest) : tidy
}

/** The polygons with each that is at odds with itself drawn anew, by the even-odd rule. */
function untangle(shape: TileShape, { least }: Window, { polygonOf, faults }: PolygonFaults): TileShape {
  startPolygons(untangled)
  for (let part = 0; part < shape.parts; ) {
    const polygon = polygonOf[part]
    let end = part + 1
    while (end < shape.parts && polygonOf[end] === polygon) end++
    if ((faults[polygon] & fault.itself) === 0) copyParts(shape, part, end, untangled)
    else redraw(shape, part, end, least, 'even-odd', untangled)
    part = end
  }
  return untangled
}

/** The polygons with those that overlap as one. */
function unite(shape: TileShape, { least }: Window, { polygonOf, faults }: PolygonFaults): TileShape {
  startPolygons(united)
  startPolygons(overlapping)
  for (let part = 0; part < shape.parts; part++) {
    const isAlone = (faults[polygonOf[part]] & fault.others) === 0
    copyParts(shape, part, part + 1, isAlone ? united : overlapping)
  }
  redraw(overlapping, 0, overlapping.parts, least, 'nonzero', united)
  return united
}

function startPolygons(shape: TileShape): void {
  clearParts(shape)
  shape.kind = shapeKind.polygons
}

const redrawn = createEdges()

/** Adds what some parts cover to a shape; where they cross each other too often to be untangled, the parts as they are. */
function redraw(shape: TileShape, start: number, end: number, least: number, rule: FillRule, into: TileShape): void {
  redrawn.count = 0
  holes.clear()
  for (let part = start; part < end; part++) {
    if (rule === 'even-odd' && isRepeatedHole(shape, part)) continue
    const [from, to] = [shape.starts[part], shape.ends[part]]
    reserveEdges(redrawn, (to - from) / 2)
    putRingEdges(redrawn, shape.xy, from, to, least, part)
  }
  const noded = nodeEdges(redrawn)
  if (noded) traceRings(subdivide(noded, rule), least, into)
  else copyParts(shape, start, end, into)
}

/** Holes by their first point. */
const holes = new Map<number, number>()

/** A hole that is there twice is cut out once. */
function isRepeatedHole({ xy, starts, ends, isHole }: TileShape, part: number): boolean {
  if (isHole[part] === 0) return false
  const start = starts[part]
  const place = xy[start] * span + xy[start + 1]
  const other = holes.get(place)
  holes.set(place, part)
  if (other === undefined) return false
  const from = starts[other]
  const length = ends[part] - start
  if (ends[other] - from !== length) return false
  for (let index = 0; index < length; index++) if (xy[start + index] !== xy[from + index]) return false
  return true
}

function copyParts({ xy, starts, ends, isHole }: TileShape, start: number, end: number, into: TileShape): void {
  for (let part = start; part < end; part++) {
    const from = starts[part]
    const length = ends[part] - from
    const target = reserveNumbers(into, length)
    const at = into.length
    for (let index = 0; index < length; index++) target[at + index] = xy[from + index]
    into.length = at + length
    endPart(into, at, isHole[part] === 1)
  }
}
