// JSON Schemas of a collection: all properties, those that filters may name, and those that can be sorted by.

import type { AttributeType } from '../../../query/values/attribute.ts'
import { isScalarType } from '../../../query/values/value.ts'
import type { AttributeDto } from '../../datasets/attribute-dto.ts'
import { timeOf } from '../../datasets/time-setting.ts'
import { type CollectionDataset, geometryOf, keyOf } from './collections.ts'

type Json = Readonly<Record<string, unknown>>

const types: { readonly [type in Exclude<AttributeType, 'geometry'>]: Json } = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  datetime: { type: 'string', format: 'date-time' },
  time: { type: 'string', format: 'time' },
  uuid: { type: 'string', format: 'uuid' },
  json: { type: 'object' },
  array: { type: 'array' },
  binary: { type: 'string', contentEncoding: 'base64' },
}

/** Documents and bytes have no operators in filters. */
export const isQueryable = (type: AttributeType): boolean => type !== 'binary' && type !== 'json'

/** The three schemas, with the properties that each of them has. */
export const schemaKinds = {
  schema: { title: 'Properties', has: () => true },
  queryables: { title: 'Queryables', has: ({ type }) => isQueryable(type) },
  sortables: { title: 'Sortables', has: ({ type }) => isScalarType(type) },
} as const satisfies Record<string, { title: string; has(attribute: AttributeDto): boolean }>

export type SchemaKind = keyof typeof schemaKinds

/** `id` is the address of the schema, without a query. */
export function propertySchema(kind: SchemaKind, dataset: CollectionDataset, id: string) {
  const shown = dataset.attributes.filter(schemaKinds[kind].has)
  const rolesOf = roles(dataset)
  const properties = shown.map((attribute, index): [string, Json] => [
    attribute.name,
    { ...describe(attribute), ...rolesOf(attribute), ...(kind === 'schema' && { 'x-ogc-propertySeq': index + 1 }) },
  ])
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: id,
    type: 'object',
    title: `${schemaKinds[kind].title} of ${dataset.name}`,
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  }
}

function describe(attribute: AttributeDto): Json {
  const { name, description, type } = attribute
  return {
    title: name,
    ...(description && { description }),
    ...(type === 'geometry' ? { format: geometryFormat(attribute) } : types[type]),
  }
}

/** `MultiPolygonZ` → `geometry-multipolygon`; what may be anything is `geometry-any`. */
function geometryFormat({ geometryType = '' }: AttributeDto): string {
  const name = geometryType.toLowerCase().replace(/z?m?$/, '')
  return /^(multi)?(point|linestring|polygon)$|^geometrycollection$/.test(name) ? `geometry-${name}` : 'geometry-any'
}

/** What a property is to its feature. */
function roles(dataset: CollectionDataset): (attribute: AttributeDto) => Json {
  const [key, geometry, time] = [keyOf(dataset)?.name, geometryOf(dataset)?.name, timeOf(dataset)]
  return ({ name }) => {
    if (name === key) return { 'x-ogc-role': 'id' }
    if (name === geometry) return { 'x-ogc-role': 'primary-geometry' }
    if (!time) return {}
    if (time.start === time.end) return name === time.start ? { 'x-ogc-role': 'primary-instant' } : {}
    if (name === time.start) return { 'x-ogc-role': 'primary-interval-start' }
    return name === time.end ? { 'x-ogc-role': 'primary-interval-end' } : {}
  }
}

/** GDAL 3.6 reads the queryables from this list; later versions read the schema. */
export const queryableList = ({ attributes }: CollectionDataset) =>
  attributes
    .filter(schemaKinds.queryables.has)
    .map((attribute) => ({ id: attribute.name, type: String(describe(attribute).type ?? 'geometry') }))
