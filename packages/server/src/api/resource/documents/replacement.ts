// What a PUT makes of the fields that it leaves out.
import type { Entity, Resource, ResourceField } from '../resource.ts'
import { isChangeable } from '../schemas.ts'

/** PUT: required fields keep their value when they are not given, others return to their default. */
export function replacement(resource: Resource, input: Entity): Entity {
  const values: Entity = {}
  for (const [name, field] of Object.entries(resource.fields)) {
    if (!isChangeable(field)) continue
    if (input[name] !== undefined) values[name] = input[name]
    else if (!staysOnReplace(name, field)) values[name] = field.default
  }
  return values
}

const staysOnReplace = (name: string, field: ResourceField): boolean =>
  field.required || field.isKeptOnReplace === true || field.mode === 'writeOnly' || name === 'metadata'

/** What the documentation says of it. */
export function keepingNote({ fields }: Resource): string {
  const reset = Object.entries(fields).flatMap(([name, field]) =>
    isChangeable(field) && !staysOnReplace(name, field) ? [`\`${name}\``] : [],
  )
  if (reset.length === 0) return 'Fields that are left out keep their value.'
  return `Fields that are left out keep their value, but ${reset.join(', ')}: back to the default.`
}
