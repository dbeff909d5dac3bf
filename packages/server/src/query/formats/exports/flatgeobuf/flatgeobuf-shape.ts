// What the header of a FlatGeobuf file says of all its geometries: one type, or any, and whether they have heights and measures.
// GeoPandas opens no file of any type with either, by pyogrio nor by Fiona, so that geometries are brought to one type then.
import { createFlatGeometry, type FlatGeometry } from '../../../geometry/flat/flat-geometry.ts'
import { hasHeights, hasMeasures } from '../../../geometry/flat/flat-geometry-write.ts'
import { geometryCode, geometryTypes } from '../../../geometry/geometry-type.ts'
import { type ExportColumn, geometryIndexOf } from '../export-order.ts'

/** `type` is a number of `geometryCode`, or 0 where every feature says its own. */
export type FlatgeobufShape = { readonly type: number; readonly hasZ: boolean; readonly hasM: boolean }

const anyType = 0

/** What the database says of the geometries before the first row; undefined where only the rows tell it. */
export function declaredShape(columns: readonly ExportColumn[]): FlatgeobufShape | undefined {
  const column = columns[geometryIndexOf(columns)]
  if (!column) return { type: anyType, hasZ: false, hasM: false }
  const { geometryType = '', hasZ, hasM } = column
  const type = (geometryTypes as readonly string[]).indexOf(geometryType) + 1
  if (hasZ === undefined || hasM === undefined) return undefined
  return type === anyType && (hasZ || hasM) ? undefined : { type, hasZ, hasM }
}

/** Collects the types of geometries and whether any has heights or measures, for the header that suits all. */
export function surveyShapes() {
  const types = new Set<number>()
  let [hasZ, hasM] = [false, false]
  return {
    add(geometry: FlatGeometry): void {
      if (isEmptyPoint(geometry)) return
      types.add(geometry.type)
      hasZ ||= hasHeights(geometry)
      hasM ||= hasMeasures(geometry)
    },
    shape: (): FlatgeobufShape => ({
      type: hasZ || hasM || types.size === 1 ? commonType(types) : anyType,
      hasZ,
      hasM,
    }),
  }
}

const multiOffset = geometryCode.MultiPoint - geometryCode.Point
const multiOf = (type: number): number => (type <= geometryCode.Polygon ? type + multiOffset : type)

/** The only type, or that of many where some are single, or that of collections. */
function commonType(types: ReadonlySet<number>): number {
  const [first = anyType, ...others] = types
  if (others.length === 0) return first
  return others.every((type) => multiOf(type) === multiOf(first)) ? multiOf(first) : geometryCode.GeometryCollection
}

/** The geometry as one of the header's type: made many, or put into a collection. It is changed where that is enough. */
export function fitShape(geometry: FlatGeometry, { type }: FlatgeobufShape): FlatGeometry {
  if (type === anyType || type === geometry.type || isEmptyPoint(geometry)) return geometry
  if (type === geometryCode.GeometryCollection) return { ...createFlatGeometry(), type, members: [geometry] }
  geometry.type = type
  if (geometry.vertexCount === 0) geometry.lineEnds = []
  return geometry
}

/** The format has none, so that its feature has no geometry. */
export const isEmptyPoint = ({ type, vertexCount }: FlatGeometry): boolean =>
  type === geometryCode.Point && vertexCount === 0
