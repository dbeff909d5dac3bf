// WKT and BBOX literals in CQL2 text.
import type { JsonPath, Node } from './syntax.ts'
import { advance, expectSymbol, isSymbol, readItems, type TokenReader, takeSymbol, unexpected } from './token-reader.ts'

/** GeoJSON's name of each type, and how deep its positions are nested. */
const types = {
  POINT: ['Point', 0],
  LINESTRING: ['LineString', 1],
  MULTIPOINT: ['MultiPoint', 1],
  POLYGON: ['Polygon', 2],
  MULTILINESTRING: ['MultiLineString', 2],
  MULTIPOLYGON: ['MultiPolygon', 3],
} as const

const collection = 'GEOMETRYCOLLECTION'

type TypeName = keyof typeof types

const isTypeName = (name: string): name is TypeName => Object.hasOwn(types, name)

export const isGeometryName = (name: string): boolean => isTypeName(name) || name === collection

/** The geometry behind its type's name, which is stepped over already. */
export function readGeometryLiteral(reader: TokenReader, name: string, jsonPath: JsonPath): Node {
  return { kind: 'geometry', value: readTagged(reader, name), jsonPath }
}

function readTagged(reader: TokenReader, name: string): unknown {
  if (reader.token.kind === 'name' && /^z$/i.test(reader.token.text)) advance(reader)
  expectSymbol(reader, '(')
  if (!isTypeName(name)) return { type: 'GeometryCollection', geometries: readItems(reader, () => readMember(reader)) }
  const [type, depth] = types[name]
  if (type === 'MultiPoint') return { type, coordinates: readItems(reader, () => readPoint(reader)) }
  return { type, coordinates: readCoordinates(reader, depth) }
}

function readMember(reader: TokenReader): unknown {
  const name = reader.token.kind === 'name' ? reader.token.text.toUpperCase() : ''
  if (!isTypeName(name)) throw unexpected(reader, 'a geometry such as POINT (24.9 60.2)')
  advance(reader)
  return readTagged(reader, name)
}

/** Behind the opening bracket. */
function readCoordinates(reader: TokenReader, depth: number): unknown {
  if (depth === 0) {
    const position = readPosition(reader)
    expectSymbol(reader, ')')
    return position
  }
  return readItems(reader, () => {
    if (depth === 1) return readPosition(reader)
    expectSymbol(reader, '(')
    return readCoordinates(reader, depth - 1)
  })
}

/** The points of a multipoint may have brackets of their own. */
function readPoint(reader: TokenReader): readonly number[] {
  if (!takeSymbol(reader, '(')) return readPosition(reader)
  const position = readPosition(reader)
  expectSymbol(reader, ')')
  return position
}

function readPosition(reader: TokenReader): readonly number[] {
  const numbers = [readNumber(reader), readNumber(reader)]
  if (!isSymbol(reader, ',') && !isSymbol(reader, ')')) numbers.push(readNumber(reader))
  return numbers
}

function readNumber(reader: TokenReader): number {
  const sign = takeSymbol(reader, '-') ? -1 : 1
  if (sign > 0) takeSymbol(reader, '+')
  if (reader.token.kind !== 'number') throw unexpected(reader, 'a number')
  return sign * Number(advance(reader).text)
}

/** The four or six numbers of a box behind its opening bracket. */
export function readBoxLiteral(reader: TokenReader, jsonPath: JsonPath): Node {
  return { kind: 'bbox', numbers: readItems(reader, () => readNumber(reader)), jsonPath }
}

/** Whether the current token can follow the name of a geometry type. */
export const opensGeometry = (reader: TokenReader): boolean =>
  isSymbol(reader, '(') || (reader.token.kind === 'name' && /^z$/i.test(reader.token.text))
