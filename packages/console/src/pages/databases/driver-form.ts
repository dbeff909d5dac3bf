/** Reads the form that a driver declares: which fields it shows, and what a record says in them. */
import type { Database, DatabaseDriver } from '@graticule/client'

export type DriverForm = Pick<DatabaseDriver, 'fields' | 'ways'>
export type FormField = DriverForm['fields'][number]

/** What is typed, by the name of the field. */
export type FormValues = Readonly<Record<string, string>>

const metadataPrefix = 'metadata.'

/** The key of the metadata that a field is; undefined for a field of the record itself. */
export const metadataKey = (name: string): string | undefined =>
  name.startsWith(metadataPrefix) ? name.slice(metadataPrefix.length) : undefined

const holds = (when: FormField['when'], values: FormValues): boolean =>
  when === undefined || new RegExp(when.pattern).test(values[when.field] ?? '')

export const isShown = ({ when }: FormField, values: FormValues): boolean => holds(when, values)

/** The fields of a way, hidden ones too. */
export const fieldsOfWay = ({ fields }: DriverForm, way: string): FormField[] =>
  fields.filter((field) => field.way === undefined || field.way === way)

/** Before anything is typed. */
export const defaultsOf = ({ fields }: DriverForm): FormValues =>
  Object.fromEntries(fields.map((field) => [field.name, String(field.default ?? '')]))

/** The way that these values were given in: the first where nothing tells ways apart. */
export const wayOf = ({ ways }: DriverForm, values: FormValues): string =>
  ways?.choices.find(({ when }) => holds(when, values))?.name ?? ''

/** Where values tell the ways apart, a stored record stays in its own: its secret belongs there. */
export const isWayFixed = ({ ways }: DriverForm): boolean => ways?.choices.some(({ when }) => when) ?? true

/** What a record says, as it is typed. Secrets are never told. */
export function valuesOf({ fields }: DriverForm, database: Database): FormValues {
  return Object.fromEntries(
    fields.map((field) => [field.name, field.secret ? '' : textOf(storedValue(database, field.name))]),
  )
}

function storedValue(database: Database, name: string): unknown {
  const key = metadataKey(name)
  return key === undefined ? (database as unknown as Record<string, unknown>)[name] : database.metadata[key]
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join('\n')
  return value === undefined || value === null ? '' : String(value)
}

/** One line for a database: its driver's, with the record's values in place of the names in braces. */
export function summaryOf(database: Database, driver: DatabaseDriver | undefined): string {
  if (!driver) return [database.host, database.db].filter(Boolean).join('/') || database.type
  return driver.summary.replaceAll(/\{(.*?)\}/g, (_, name: string) => textOf(storedValue(database, name)))
}

export type Fact = readonly [term: string, value: string]

/** What a record says, in the words of its form. */
export function factsOf(database: Database, driver: DriverForm): Fact[] {
  const values = valuesOf(driver, database)
  return fieldsOfWay(driver, wayOf(driver, values)).flatMap((field): Fact[] => {
    const value = factOf(field, values[field.name] ?? '', database)
    return value === '' ? [] : [[field.label, value]]
  })
}

function factOf(field: FormField, text: string, { passwordSet }: Database): string {
  if (field.secret) return passwordSet ? 'Stored, not shown' : 'None'
  return (field.choices?.find(({ value }) => value === text)?.label ?? text).replaceAll('\n', ', ')
}
