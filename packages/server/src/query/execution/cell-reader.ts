// Reads attributes of JSON rows as cells (query/formats/cell.ts) and as grouping keys.
import type { ValueRow } from '../filter/expression-value.ts'
import type { Attribute } from '../values/attribute.ts'
import { type GeometryNotation, geometryText } from '../values/geometry-text.ts'
import type { PositionProjection } from '../values/projection.ts'
import { canonicalText, isScalarType } from '../values/value.ts'

/** A function that writes an attribute of a JSON row as a cell (see query/formats/cell.ts). */
export function cellReader(
  { name, type }: Attribute,
  notation: GeometryNotation,
  projection?: PositionProjection,
): (row: ValueRow) => string | null {
  const read = rawReader(name)
  if (type === 'number') return (row) => plainNumber(canonicalText('number', read(row)))
  if (isScalarType(type)) return (row) => canonicalText(type, read(row)) ?? null
  switch (type) {
    case 'geometry':
      return (row) => geometryText(read(row), notation, projection)
    case 'array':
      return (row) => {
        const value = read(row)
        return Array.isArray(value) ? JSON.stringify(value) : null
      }
    case 'binary':
      return (row) => {
        const value = read(row)
        return typeof value === 'string' ? value : null
      }
    default:
      return (row) => {
        const value = read(row)
        return value === null ? null : JSON.stringify(value)
      }
  }
}

/** A function that gives two rows the same text exactly when SQL treats their values as equal. */
export function keyReader(attribute: Attribute): (row: ValueRow) => string | null {
  if (attribute.type === 'json' || attribute.type === 'array') {
    const read = rawReader(attribute.name)
    return (row) => {
      const value = read(row)
      return value === null ? null : JSON.stringify(value, sorted)
    }
  }
  const cell = cellReader(attribute, 'geojson')
  if (attribute.type !== 'number') return cell
  return (row) => {
    const text = cell(row)
    return text === null ? null : String(Number(text))
  }
}

/** Own properties only: an attribute may have the name of an inherited one, such as `constructor`. */
export const rawReader =
  (name: string) =>
  (row: ValueRow): unknown =>
    Object.hasOwn(row, name) ? (row[name] ?? null) : null

/** JSON.stringify replacer that sorts object keys, because objects are equal in any key order. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Normalizes a number to JSON's spelling: sources may also send `+1`, `.5`, `5.` or `007`. */
function plainNumber(text: string | undefined): string | null {
  if (text === undefined) return null
  const [, sign = '', whole = '', fraction = '', exponent = ''] =
    /^([+-]?)0*(\d*?)(?:\.(\d*))?(e[+-]?\d+)?$/i.exec(text) ?? []
  return `${sign === '-' ? '-' : ''}${whole || '0'}${fraction && `.${fraction}`}${exponent}`
}
