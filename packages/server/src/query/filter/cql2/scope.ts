// What CQL2 names mean: the attributes a filter may name, and how its geometries are read.
import { ApiError, type FaultCollector } from '../../../kernel/errors.ts'
import { unknownName } from '../../../kernel/nearest-name.ts'
import type { Attribute, Attributes } from '../../values/attribute.ts'
import { allOf, type Filter } from '../filter-tree.ts'
import type { ToDegrees } from './filter-crs.ts'
import { type FunctionCall, type JsonPath, type Node, refuse } from './syntax.ts'

export type FilterScope = {
  readonly attributes: Attributes
  readonly faults: FaultCollector
  readonly toDegrees: ToDegrees
  /** How many attributes are folded; each brings a map of characters into the query. */
  folds: number
}

export function attributeOf({ attributes }: FilterScope, { name, jsonPath }: Node & { kind: 'property' }): Attribute {
  const attribute = attributes.get(name)
  if (!attribute) throw refuse(jsonPath, 'unknown_attribute', unknownName('a property', name, attributes.keys()))
  return attribute
}

/** Collects a fault and continues, so that a filter in JSON gets all its faults at once. */
export const attempt = ({ faults }: FilterScope, work: () => Filter): Filter => faults.attempt(work) ?? allOf([])

/** The arguments of a call, of which there must be as many as named. */
export function argumentsOf<Names extends readonly string[]>(
  { name, args, jsonPath }: FunctionCall,
  ...names: Names
): { [index in keyof Names]: Node } {
  if (args.length !== names.length) {
    const wanted = names.length === 1 ? 'one argument' : `${names.length} arguments`
    throw refuse(jsonPath, 'invalid_value', `${name} takes ${wanted} (${names.join(', ')}), not ${args.length}`)
  }
  return args as unknown as { [index in keyof Names]: Node }
}

/** Names the place in text of a fault that was found inside a literal. */
export function locating<T>(jsonPath: JsonPath, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const [fault] = error instanceof ApiError ? error.faults : []
    throw fault && jsonPath.character !== undefined ? refuse(jsonPath, fault.code, fault.message) : error
  }
}
