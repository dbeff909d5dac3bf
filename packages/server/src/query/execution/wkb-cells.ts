// WKB decoding and reprojection for engines without PostGIS, which send geometries as hexadecimal WKB in the column's
// own reference system.

import proj4 from 'proj4'
import type { ValueRow } from '../filter/expression-value.ts'
import { parseWkb } from '../geometry/encoding/wkb-geojson.ts'
import type { Attribute } from '../values/attribute.ts'
import { geometryText, projectedGeometry } from '../values/geometry-text.ts'
import type { Definitions, PositionProjection } from '../values/projection.ts'

import type { GeometryForm } from './dialect.ts'

const wgs84 = 4326
/** The same precision as spatial answers from PostGIS. */
const decimals = 9

/** A function that writes a cell of the column. Null if it is no geometry, or lies where its system is not defined. */
export function geometryWriter(
  { srid }: Attribute,
  shape: GeometryForm,
  definitions: Definitions,
): (hex: string) => string | null {
  const project = projectionBetween(srid || wgs84, shape.srid, definitions)
  return (hex) => {
    const geometry = parseWkb(Buffer.from(hex, 'hex'))?.geometry
    return geometry ? geometryText(geometry, shape.geometry, project) : null
  }
}

/** Decodes a cell directly to GeoJSON in 4326; null if it is no geometry. */
function geometryReader({ srid }: Attribute, definitions: Definitions): (hex: string) => object | null {
  const project = projectionBetween(srid || wgs84, wgs84, definitions)
  return (hex) => projectedGeometry(parseWkb(Buffer.from(hex, 'hex'))?.geometry, project)
}

/** Decodes cells, in the order of the attributes, to a JSON row for plan-rows.ts, with geometry as GeoJSON in 4326. */
export function rowReader(
  attributes: readonly Attribute[],
  definitions: Definitions,
): (cells: readonly (string | null)[]) => ValueRow {
  const readers = attributes.map((attribute) => [attribute.name, valueReader(attribute, definitions)] as const)
  return (cells) =>
    Object.fromEntries(
      readers.map(([name, read], index) => {
        const cell = cells[index] ?? null
        return [name, cell === null ? null : read(cell)]
      }),
    )
}

function valueReader(attribute: Attribute, definitions: Definitions): (cell: string) => unknown {
  if (attribute.type === 'json' || attribute.type === 'array') return (cell) => JSON.parse(cell)
  if (attribute.type !== 'geometry') return (cell) => cell
  return geometryReader(attribute, definitions)
}

function projectionBetween(from: number, to: number, definitions: Definitions): PositionProjection {
  if (from === to) return ([x = 0, y = 0, ...heights]) => [rounded(x), rounded(y), ...heights]
  const { forward } = proj4(definitionOf(from, definitions), definitionOf(to, definitions))
  return ([x = 0, y = 0, ...heights]) => {
    const [east = Number.NaN, north = Number.NaN] = forward([x, y])
    return [rounded(east), rounded(north), ...heights]
  }
}

const scale = 10 ** decimals

/** Below this, degrees times `scale` are exact to a thousandth, so that rounding is exact except at ties. */
const degreesAtMost = 1_000

/** Rounds like `toFixed`, but ten times faster. */
export function rounded(value: number): number {
  const scaled = value * scale
  const whole = Math.round(scaled)
  const isSure = Math.abs(value) < degreesAtMost && Math.abs(scaled - whole) < 0.499
  return isSure ? whole / scale : Number(value.toFixed(decimals))
}

/** proj4 would look up anything but a PROJ definition as a name. */
export function definitionOf(srid: number, definitions: Definitions): string {
  if (srid === wgs84) return 'EPSG:4326'
  const text = definitions[srid]
  if (!text || !/^\s*\+proj=/.test(text)) throw new Error(`No definition of the reference system ${srid}`)
  return text
}
