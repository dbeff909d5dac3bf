import type { FlatGeometry } from '../../geometry/flat/flat-geometry.ts'
import { geometryCode } from '../../geometry/geometry-type.ts'

/** The geometry as KML, in degrees. Heights are above the sea. An empty geometry is none. */
export function kmlGeometry(geometry: FlatGeometry): string {
  const parts = partsOf(geometry)
  return parts.length > 1 || geometry.type > geometryCode.Polygon
    ? parts.length === 0
      ? ''
      : `<MultiGeometry>${parts.join('')}</MultiGeometry>`
    : (parts[0] ?? '')
}

function partsOf(geometry: FlatGeometry): string[] {
  const { type, vertexCount, lineEnds, partEnds, members } = geometry
  if (type === geometryCode.GeometryCollection) return members.map(kmlGeometry)
  if (vertexCount === 0) return []
  const mode = geometry.hasZ ? '<altitudeMode>absolute</altitudeMode>' : ''
  const run = (from: number, to: number): string => `<coordinates>${positions(geometry, from, to)}</coordinates>`
  const line = (index: number): string => run(lineEnds[index - 1] ?? 0, lineEnds[index] ?? 0)
  const ring = (index: number, from: number): string => {
    const side = index === from ? 'outerBoundaryIs' : 'innerBoundaryIs'
    return `<${side}><LinearRing>${line(index)}</LinearRing></${side}>`
  }
  const polygon = (from: number, to: number): string => {
    const rings = Array.from({ length: to - from }, (_, offset) => ring(from + offset, from))
    return `<Polygon>${mode}${rings.join('')}</Polygon>`
  }
  switch (type) {
    case geometryCode.Point:
    case geometryCode.MultiPoint:
      return Array.from({ length: vertexCount }, (_, vertex) => `<Point>${mode}${run(vertex, vertex + 1)}</Point>`)
    case geometryCode.LineString:
    case geometryCode.MultiLineString:
      return lineEnds.map((_, index) => `<LineString>${mode}${line(index)}</LineString>`)
    case geometryCode.Polygon:
      return [polygon(0, lineEnds.length)]
    default:
      return partEnds.map((end, part) => polygon(partEnds[part - 1] ?? 0, end))
  }
}

function positions({ xy, z, hasZ }: FlatGeometry, from: number, to: number): string {
  const texts: string[] = []
  for (let vertex = from; vertex < to; vertex++) {
    texts.push(`${xy[vertex * 2]},${xy[vertex * 2 + 1]}${hasZ ? `,${z[vertex]}` : ''}`)
  }
  return texts.join(' ')
}
