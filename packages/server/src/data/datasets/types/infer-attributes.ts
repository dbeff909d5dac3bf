// Type inference for sources without a schema.
import { invalid } from '../../../kernel/errors.ts'
import type { AttributeType } from '../../../query/values/attribute.ts'
import { geometryOf } from '../../../query/values/geometry-text.ts'
import { canonicalText } from '../../../query/values/value.ts'
import type { AttributeDto } from '../attribute-dto.ts'
import { isObject, type SourceRow } from './json-rows.ts'

const sampleSize = 1_000
/** PostgreSQL's column limit. */
const maxAttributes = 1_600

/**
 * Infers attributes from the first rows. A type is chosen only if all sampled values have it; otherwise one that loses
 * no value.
 */
export function inferAttributes(rows: readonly SourceRow[]): AttributeDto[] {
  const sample = rows.slice(0, sampleSize)
  const columns = new Map<string, unknown[]>()
  for (const row of sample) {
    for (const [name, value] of Object.entries(row)) {
      const values = columns.get(name) ?? []
      if (value !== null && value !== undefined) values.push(value)
      columns.set(name, values)
    }
    if (columns.size > maxAttributes)
      throw invalid('body/source', `must not answer more than ${maxAttributes} attributes`)
  }
  // If only a sample was read, the other rows may hold anything.
  const isWhole = sample.length === rows.length
  return [...columns].map(([name, values]) => toAttribute(name, values, !isWhole || values.length < sample.length))
}

function toAttribute(name: string, values: readonly unknown[], nullable: boolean): AttributeDto {
  const type = typeOf(values)
  const common = { name, type, dbType: '', nullable, primaryKey: false, description: '' }
  return type === 'geometry' ? { ...common, ...geometryFacts(values) } : common
}

/** The narrowest type first: a date is also a datetime. */
const textTypes = ['uuid', 'date', 'datetime', 'time'] as const

function typeOf(values: readonly unknown[]): AttributeType {
  if (values.length === 0) return 'string'
  const isAll = (test: (value: unknown) => boolean) => values.every(test)
  if (isAll((value) => typeof value === 'boolean')) return 'boolean'
  if (isAll(Number.isSafeInteger)) return 'integer'
  if (isAll((value) => typeof value === 'number')) return 'number'
  if (isAll((value) => typeof value === 'string')) {
    return textTypes.find((type) => isAll((value) => canonicalText(type, value) !== undefined)) ?? 'string'
  }
  if (isAll(Array.isArray)) return 'array'
  if (isAll((value) => isObject(value) && geometryOf(value) !== null)) return 'geometry'
  // Integers beside text, such as house numbers, are text; with 1.5 or true beside text the type is json, to keep them.
  return isAll((value) => canonicalText('string', value) !== undefined) ? 'string' : 'json'
}

function geometryFacts(values: readonly unknown[]): Pick<AttributeDto, 'geometryType' | 'srid' | 'dimension'> {
  const types = new Set(values.map((value) => geometryOf(value)?.type))
  const [only = 'Geometry'] = types
  return {
    geometryType: types.size === 1 ? only : 'Geometry',
    srid: 4326,
    dimension: values.some(hasHeight) ? 3 : 2,
  }
}

function hasHeight(geometry: unknown): boolean {
  if (!isObject(geometry)) return false
  if (Array.isArray(geometry.geometries)) return geometry.geometries.some(hasHeight)
  let inner = geometry.coordinates
  while (Array.isArray(inner) && Array.isArray(inner[0])) inner = inner[0]
  return Array.isArray(inner) && inner.length > 2
}
