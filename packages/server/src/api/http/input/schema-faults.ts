import type { TSchema } from 'typebox'
import { type Fault, maxFaults } from '../../../kernel/errors.ts'
import { didYouMean, shortList, unknownName } from '../../../kernel/nearest-name.ts'

/** An error of the schema library, before it becomes a fault with our message and path. */
export type SchemaError = {
  keyword: string
  schemaPath: string
  instancePath: string
  params: Readonly<Record<string, unknown>>
  message: string
}

const shownLength = 64

/** The value that failed, and its path in the request. */
type Failed = { readonly schema: TSchema; readonly value: unknown; readonly where: string }

export function schemaFaults(failed: Failed, errors: readonly SchemaError[]): Fault[] {
  return (
    withoutBranches(errors)
      // An unknown property also fails the schema `false`; one fault is enough.
      .filter(({ keyword }) => keyword !== 'boolean')
      .flatMap((error) => faultsOf(failed, error))
  )
}

/**
 * One error for each value that fits no branch of a union. The branch that takes values of its type speaks for the union;
 * where there is none, or more than one, the types of all do.
 */
function withoutBranches(errors: readonly SchemaError[]): readonly SchemaError[] {
  let left = errors
  for (const union of errors.filter(({ keyword }) => keyword === 'anyOf')) {
    const isInside = ({ schemaPath, instancePath }: SchemaError) =>
      schemaPath.startsWith(`${union.schemaPath}/anyOf/`) && instancePath.startsWith(union.instancePath)
    const inside = left.filter(isInside)
    const messages = errorsOfUnion(union, inside)
    left = left.flatMap((error) => (error === union ? messages : isInside(error) ? [] : [error]))
  }
  return left
}

function errorsOfUnion(union: SchemaError, inside: readonly SchemaError[]): readonly SchemaError[] {
  const branchOf = ({ schemaPath }: SchemaError) => schemaPath.slice(union.schemaPath.length).split('/')[2]
  const branches = [...Map.groupBy(inside, branchOf).values()]
  const isOfOtherType = (branch: readonly SchemaError[]) =>
    branch.some(({ keyword, instancePath }) => keyword === 'type' && instancePath === union.instancePath)
  const fitting = branches.filter((branch) => !isOfOtherType(branch))
  const [only] = fitting
  if (only && fitting.length === 1) return only
  const forms = (fitting.length > 0 ? fitting : branches).flatMap(([first]) => (first ? [formOf(first)] : []))
  return [{ ...union, message: `must be ${[...new Set(forms)].join(' or ')}` }]
}

/** The expected form of a value, to stand after "must be". */
function formOf({ keyword, params, message }: SchemaError): string {
  if (keyword === 'type') return typeNouns[String(params.type)] ?? String(params.type)
  if (keyword === 'const') return JSON.stringify(params.allowedValue)
  if (keyword === 'enum') return `one of ${shortList(textsOf(params.allowedValues))}`
  return message.replace(/^must be /, '')
}

const typeNouns: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a text',
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'a date-time such as 2027-01-31T12:00:00Z',
  email: 'an e-mail address',
  uri: 'an address such as https://example.org/',
  url: 'an address such as https://example.org/',
  uuid: 'a UUID such as 123e4567-e89b-42d3-a456-426614174000',
}

function faultsOf({ schema, value, where }: Failed, error: SchemaError): Fault[] {
  const { keyword, params, instancePath } = error
  const path = where + instancePath
  if (keyword === 'required') {
    return textsOf(params.requiredProperties).map((name) => fault(`${path}/${name}`, 'required', 'is required'))
  }
  if (keyword === 'additionalProperties') {
    const names = knownProperties(schema, error.schemaPath)
    return textsOf(params.additionalProperties)
      .slice(0, maxFaults)
      .map((name) =>
        fault(`${path}/${name.slice(0, shownLength)}`, 'unknown', unknownName('a known field', name, names)),
      )
  }
  return [fault(path, keyword, messageOf(error, valueAt(value, instancePath), schema))]
}

const fault = (path: string, code: string, message: string): Fault => ({ path, code, message })

function messageOf(error: SchemaError, value: unknown, schema: TSchema): string {
  const { keyword, params, message } = error
  if (keyword === 'type' || keyword === 'const') return `must be ${formOf(error)}`
  if (keyword === 'enum') {
    const near = typeof value === 'string' ? didYouMean(value, textsOf(params.allowedValues)) : ''
    return `must be ${formOf(error)}.${near}`
  }
  if (keyword === 'format') return `must be ${formats[String(params.format)] ?? `of the form ${params.format}`}`
  const { name, instead } = limitOf(error, schema)
  if (name && instead) return `${message}. ${instead}`
  if (keyword === 'minLength' && params.limit === 1) return 'must not be empty'
  if (keyword === 'pattern') {
    const { examples } = schemaAt(schema, error.schemaPath) as { examples?: readonly unknown[] }
    if (examples?.[0] !== undefined) return `must be of the form ${examples[0]}`
  }
  return message
}

type NamedLimit = { readonly name?: string; readonly instead?: string }

const bounds = new Set(['maximum', 'maxItems', 'maxLength', 'maxProperties'])

/** Of a value that is over a limit of limits.ts: which one, and what to do instead. */
function limitOf({ keyword, schemaPath }: SchemaError, schema: TSchema): NamedLimit {
  if (!bounds.has(keyword)) return {}
  return (schemaAt(schema, schemaPath) as { 'x-limit'?: NamedLimit })['x-limit'] ?? {}
}

/** The limit that a value is over, for the body of the answer. */
export function exceededLimit(schema: TSchema, errors: readonly SchemaError[]): Record<string, unknown> {
  for (const error of errors) {
    const { name } = limitOf(error, schema)
    if (name) return { limit: error.params.limit, limitName: name }
  }
  return {}
}

/** The properties that a client can set, for suggestions; read-only ones are accepted but do not help. */
function knownProperties(schema: TSchema, schemaPath: string): string[] {
  const { properties = {} } = schemaAt(schema, schemaPath) as { properties?: Record<string, { readOnly?: boolean }> }
  return Object.entries(properties).flatMap(([name, { readOnly }]) => (readOnly ? [] : [name]))
}

/** The part of the schema that failed. */
function schemaAt(schema: TSchema, schemaPath: string): object {
  let inner: unknown = schema
  for (const step of schemaPath.split('/').slice(1)) inner = (inner as Record<string, unknown>)?.[step]
  return (inner ?? {}) as object
}

/** What a JSON pointer leads to. */
function valueAt(root: unknown, pointer: string): unknown {
  let inner = root
  for (const step of pointer.split('/').slice(1)) {
    inner = (inner as Record<string, unknown>)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return inner
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
