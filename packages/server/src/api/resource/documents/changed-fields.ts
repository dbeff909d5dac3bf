import { isDeepStrictEqual } from 'node:util'
import type { Entity, Resource } from '../resource.ts'
import { isChangeable } from '../schemas.ts'

/**
 * The names of the fields that a change of a record sets to another value, for the audit log. A secret cannot be compared: it
 * counts as changed when it is given.
 */
export function changedFields({ fields }: Resource, current: Entity, next: Entity, input: Entity): string[] {
  const writesHidden = Object.keys(next).some((name) => fields[name]?.mode === 'hidden')
  return Object.entries(fields).flatMap(([name, field]) => {
    if (!isChangeable(field)) return []
    const isNew = name in next && (field.mode === 'writeOnly' || !isDeepStrictEqual(next[name], current[name]))
    return isNew || (writesHidden && name in input) ? [name] : []
  })
}

/** The names of the fields that a new record is given. */
export const inputFields = ({ fields }: Resource, input: Entity): string[] =>
  Object.keys(input).filter((name) => Object.hasOwn(fields, name) && fields[name]?.mode !== 'readOnly')
