import Type, { type TObject, type TProperties, type TSchema } from 'typebox'
import { freeValue, ignoringOthers } from '../http/input/bounded-schemas.ts'
import { isInputField, isShown, type Resource, type ResourceField } from './resource.ts'

const openness = ({ ignoresUnknown = false }: Resource) => ({
  additionalProperties: ignoresUnknown,
  ...(ignoresUnknown && ignoringOthers),
})

/** A record as it is returned. */
export function outputSchema(resource: Resource): TObject {
  const properties: TProperties = {}
  for (const [name, field] of Object.entries(resource.fields)) {
    if (field.mode === 'readOnly') properties[name] = { ...field.schema, readOnly: true } as TSchema
    else if (isShown(field)) properties[name] = field.schema
  }
  for (const [name, join] of Object.entries(resource.joins)) {
    const related = Type.Unsafe<unknown>({ $ref: `#/components/schemas/${'many' in join ? join.many : join.one}` })
    const schema = 'many' in join ? Type.Array(related) : Type.Union([related, Type.Null()])
    properties[name] = Type.Optional({
      ...schema,
      readOnly: true,
      description: `Loaded by \`join=${name}\``,
    } as TSchema)
  }
  return Type.Object(properties, { title: resource.title })
}

/** The body of a create. Read-only fields are accepted and overwritten, as SPEC.md says. */
export function createSchema(resource: Resource): TObject {
  return bodySchema(resource, isInputField, ({ required }) => required, {
    examples: [resource.example],
  })
}

/** The body of PUT. */
export function replaceSchema(resource: Resource): TObject {
  const isRequired = ({ required }: ResourceField) => required && resource.replacement === 'full'
  return bodySchema(resource, isChangeable, isRequired, { examples: [resource.example] })
}

/** The body of PATCH: any changeable field, or null to reset it. The result is validated again. */
export function patchSchema(resource: Resource): TObject {
  const isChanged = (name: string) => isChangeable(resource.fields[name] ?? { mode: 'readOnly' })
  const properties = Object.fromEntries(
    knownNames(resource).map((name) => [name, Type.Optional(isChanged(name) ? freeValue('bodyBytes') : ignored)]),
  )
  const example = Object.fromEntries(Object.entries(resource.example).slice(0, 1))
  return Type.Object(properties, { ...openness(resource), examples: [example] })
}

/** The changed fields of a record, whatever way they came about. */
export function changesSchema(resource: Resource): TObject {
  return bodySchema(resource, isChangeable, () => false)
}

export const isChangeable = ({ mode }: Pick<ResourceField, 'mode'>): boolean =>
  mode === 'writable' || mode === 'writeOnly'

function bodySchema(
  resource: Resource,
  isRead: (field: ResourceField) => boolean,
  isRequired: (field: ResourceField) => boolean,
  options: object = {},
): TObject {
  const properties: TProperties = {}
  for (const name of knownNames(resource)) {
    const field = resource.fields[name]
    if (!field || !isRead(field)) properties[name] = Type.Optional(ignored)
    else properties[name] = isRequired(field) ? writable(field) : Type.Optional(writable(field))
  }
  return Type.Object(properties, { ...openness(resource), ...options })
}

const ignored = Type.Unknown({ description: 'Set by the service; ignored when given', readOnly: true })

const writable = (field: ResourceField): TSchema =>
  field.mode === 'writeOnly' ? ({ ...field.schema, writeOnly: true } as TSchema) : (field.input ?? field.schema)

const knownNames = (resource: Resource): string[] => [...Object.keys(resource.fields), ...Object.keys(resource.joins)]
