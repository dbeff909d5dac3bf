import { limits } from '../../src/kernel/limits/limits.ts'

/** A schema as JSON, such as a document of OpenAPI has it. */
export type JsonSchema = { readonly [name: string]: unknown }

/** Resolves the address of a part of the document. */
export type Resolve = (reference: string) => JsonSchema

const noReferences: Resolve = (reference) => {
  throw new Error(`${reference} leads nowhere`)
}

/**
 * The paths in a schema at which a value may be of any size: lists without maxItems, objects with free keys without
 * maxProperties, texts without maxLength, and values of any form that no limit is named for.
 */
export function unboundedParts(schema: unknown, path = '', resolve = noReferences): string[] {
  if (schema === false) return []
  if (typeof schema !== 'object' || schema === null) return [`${path}: any value`]
  const part = schema as JsonSchema
  // Ignored when it is given.
  if (part.readOnly === true || 'enum' in part || 'const' in part) return []
  if (typeof part.$ref === 'string') return unboundedParts(resolve(part.$ref), path, resolve)
  const branches = [part.anyOf, part.oneOf, part.allOf].flatMap((list) => (Array.isArray(list) ? list : []))
  if (branches.length > 0) {
    return branches.flatMap((branch, index) => unboundedParts(branch, `${path}<${index}>`, resolve))
  }
  return partsOf(part, path, resolve)
}

function partsOf(part: JsonSchema, path: string, resolve: Resolve): string[] {
  switch (part.type) {
    case 'boolean':
    case 'integer':
    case 'null':
    case 'number':
      return []
    case 'string':
      return isBounded(part, 'maxLength') ? [] : [`${path}: a text without maxLength`]
    case 'array':
      return [
        ...(isBounded(part, 'maxItems') ? [] : [`${path}: a list without maxItems`]),
        ...(part.items === undefined ? [`${path}/*: any value`] : unboundedParts(part.items, `${path}/*`, resolve)),
      ]
    case 'object':
      return propertiesOf(part, path, resolve)
    default:
      return isLimited(part) ? [] : [`${path}: any value without x-bounded-by`]
  }
}

function propertiesOf(part: JsonSchema, path: string, resolve: Resolve): string[] {
  const { properties = {}, patternProperties = {}, additionalProperties = true } = part
  const patterns = Object.values(patternProperties as JsonSchema)
  const isFree = patterns.length > 0 || additionalProperties !== false
  const others = [...patterns, ...(typeof additionalProperties === 'object' ? [additionalProperties] : [])]
  const isAny = additionalProperties === true && patterns.length === 0
  return [
    ...(isFree && !isBounded(part, 'maxProperties') ? [`${path}: an object with free keys without maxProperties`] : []),
    ...(isAny && !isLimited(part) ? [`${path}: an object of any values without x-bounded-by`] : []),
    ...others.flatMap((other) => unboundedParts(other, `${path}/*`, resolve)),
    ...Object.entries(properties as JsonSchema).flatMap(([name, inner]) =>
      unboundedParts(inner, `${path}/${name}`, resolve),
    ),
  ]
}

const isBounded = (part: JsonSchema, bound: 'maxLength' | 'maxItems' | 'maxProperties'): boolean =>
  Number.isInteger(part[bound]) || isLimited(part)

/** The value is bounded as a whole, by a limit of the table. */
const isLimited = (part: JsonSchema): boolean => Object.hasOwn(limits, String(part['x-bounded-by']))
