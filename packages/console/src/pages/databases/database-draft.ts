/** The draft of a database connection, and its requests. Which fields it has is what its driver's form says. */
import type { Database, DatabaseCreate, DatabasePatch } from '@graticule/client'
import {
  type DriverForm,
  defaultsOf,
  type FormField,
  type FormValues,
  fieldsOfWay,
  isShown,
  metadataKey,
  valuesOf,
  wayOf,
} from './driver-form.ts'

export interface ConnectionDraft {
  name: string
  description: string
  isDefault: boolean
  /** The way of the form that is chosen; empty where there is one only. */
  way: string
  values: FormValues
}

export const newDraft = (form: DriverForm): ConnectionDraft => ({
  name: '',
  description: '',
  isDefault: false,
  way: form.ways?.choices[0]?.name ?? '',
  values: defaultsOf(form),
})

export function draftOf(form: DriverForm, { name, description, ...database }: Database): ConnectionDraft {
  const values = valuesOf(form, { name, description, ...database })
  return { name, description, isDefault: database.default, way: wayOf(form, values), values }
}

/** What is typed stays, but for fields that mean something else in the other way. */
export function inWay(form: DriverForm, draft: ConnectionDraft, way: string): ConnectionDraft {
  const taken = new Set(fieldsOfWay(form, draft.way).flatMap((field) => (field.way ? [field.name] : [])))
  const cleared = fieldsOfWay(form, way).filter((field) => field.way && taken.has(field.name))
  return { ...draft, way, values: { ...draft.values, ...Object.fromEntries(cleared.map(({ name }) => [name, ''])) } }
}

/** Hidden fields are empty, whatever was typed before they were hidden. */
const typedIn = ({ values }: Pick<ConnectionDraft, 'values'>, field: FormField): string =>
  isShown(field, values) ? (values[field.name] ?? '') : ''

const isBlank = (field: FormField, text: string): boolean =>
  field.kind === 'password' ? text === '' : text.trim() === ''

function sentValue({ kind }: FormField, text: string): unknown {
  if (kind === 'password') return text
  if (kind === 'integer') return Number(text)
  if (kind !== 'lines') return text.trim()
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter(Boolean)
}

/** Fields of the record, with those of its metadata below `metadata`. */
function bodyOf(entries: readonly (readonly [name: string, value: unknown])[]): object {
  const metadata = entries.flatMap(([name, value]) => {
    const key = metadataKey(name)
    return key === undefined ? [] : [[key, value] as const]
  })
  const own = entries.filter(([name]) => metadataKey(name) === undefined)
  return { ...Object.fromEntries(own), ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }) }
}

export function createOf(type: string, form: DriverForm, draft: ConnectionDraft): DatabaseCreate {
  const { name, description, isDefault } = draft
  const fields = fieldsOfWay(form, draft.way).filter((field) => !isBlank(field, typedIn(draft, field)))
  return {
    type: type as Database['type'],
    name: name.trim(),
    ...(description.trim() && { description: description.trim() }),
    ...(isDefault && { default: true }),
    ...bodyOf(fields.map((field) => [field.name, sentValue(field, typedIn(draft, field))])),
  }
}

/** Only the differences. The server requires the password again if the server or the user changes. */
export function patchOf(form: DriverForm, draft: ConnectionDraft, stored: Database): DatabasePatch {
  const old = draftOf(form, stored)
  const { name, description, isDefault } = draft
  const changes = fieldsOfWay(form, draft.way).flatMap((field) => changeOf(field, draft, old))
  return {
    ...(name.trim() !== old.name && { name: name.trim() }),
    ...(description.trim() !== old.description && { description: description.trim() }),
    ...(isDefault !== old.isDefault && { default: isDefault }),
    ...bodyOf(changes),
  }
}

/** A secret that is left empty stays. Null takes a key out of the metadata. */
function changeOf(field: FormField, draft: ConnectionDraft, old: ConnectionDraft): [string, unknown][] {
  const text = typedIn(draft, field)
  const before = old.values[field.name] ?? ''
  if (isBlank(field, text)) {
    if (field.secret || isBlank(field, before)) return []
    return [[field.name, metadataKey(field.name) === undefined ? '' : null]]
  }
  const value = sentValue(field, text)
  return JSON.stringify(value) === JSON.stringify(sentValue(field, before)) ? [] : [[field.name, value]]
}

const listOf = new Intl.ListFormat('en-GB', { type: 'conjunction' })

/** Why the draft cannot be sent yet, if anything is missing. */
export function missingOf(form: DriverForm, draft: ConnectionDraft, stored: Database | null): string | undefined {
  if (draft.name.trim() === '') return 'Give it a name.'
  const shown = fieldsOfWay(form, draft.way).filter((field) => isShown(field, draft.values))
  const missing = shown.filter((field) => field.required && isBlank(field, typedIn(draft, field)))
  const labels = missing.filter(({ name }) => name !== 'password' || !stored?.passwordSet).map(({ label }) => label)
  if (labels.length > 0) return `${listOf.format(labels)} ${labels.length === 1 ? 'is' : 'are'} required.`
  const wrong = shown.find((field) => field.kind === 'integer' && !/^\s*\d*\s*$/.test(typedIn(draft, field)))
  return wrong && `${wrong.label} must be a whole number.`
}
