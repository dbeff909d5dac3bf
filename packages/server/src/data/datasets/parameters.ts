// Parameters of datasets: declarations, values and their binding into SQL.
import { joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { type ApiError, FaultCollector, invalid } from '../../kernel/errors.ts'
import { unknownName } from '../../kernel/nearest-name.ts'
import { parameterName, reserved, reservedParameterNames, splitMarkers } from '../../query/execution/sql-markers.ts'
import type { AttributeType, ScalarType } from '../../query/values/attribute.ts'
import { show } from '../../query/values/fault.ts'
import { canonicalText, isScalarType } from '../../query/values/value.ts'

export type ParameterValue = { readonly type: ScalarType; readonly value: string | null }

type Declaration = { readonly type: ScalarType; readonly preset: string | null; readonly required: boolean }

const maxParameters = 100

/**
 * The values of the parameters `names`, which are the markers of a source: given, or the declared default. An
 * undeclared parameter is text and required. `declared` is `metadata.parameters`; declared but unused names are
 * ignored. With `given` undefined nothing is required: null is enough to inspect a query.
 */
export function readParameters(
  declared: unknown,
  names: readonly string[],
  inputs: Readonly<Record<string, unknown>> | undefined,
): ReadonlyMap<string, ParameterValue> {
  const declarations = readDeclarations(declared)
  const values = new Map<string, ParameterValue>()
  const faults = new FaultCollector()
  for (const name of names) {
    const declaration = declarations.get(name) ?? undeclared
    const raw = inputs && Object.hasOwn(inputs, name) ? inputs[name] : undefined
    const value = inputs ? faults.attempt(() => readValue(`query/${name}`, declaration, raw)) : declaration.preset
    values.set(name, { type: declaration.type, value: value ?? null })
  }
  faults.finish()
  if (values.size > maxParameters) throw tooMany('body/source')
  return values
}

const undeclared: Declaration = { type: 'string', preset: null, required: true }

const tooMany = (path: string): ApiError => invalid(path, `must not have more than ${maxParameters} parameters`)

function readValue(path: string, { type, preset, required }: Declaration, raw: unknown): string | null {
  if (raw === undefined || raw === null) {
    if (required) throw invalid(path, `is required: a parameter of this dataset, of type ${type}`)
    return preset
  }
  if (typeof raw === 'object') throw invalid(path, 'must be given once, as a plain value')
  const value = canonicalText(type, raw)
  if (value === undefined) throw invalid(path, `must be of type ${type}, not ${show(raw)}`)
  // PostgreSQL text can hold neither NUL nor lone surrogates.
  if (value.includes('\0') || !value.isWellFormed()) {
    throw invalid(path, 'must be text without NUL and half surrogate pairs')
  }
  return value
}

/** Throws unless `metadata.parameters` is absent or well-formed. Also used when a dataset is written. */
export function readDeclarations(declared: unknown): ReadonlyMap<string, Declaration> {
  const declarations = new Map<string, Declaration>()
  if (declared === undefined || declared === null) return declarations
  const root = 'body/metadata/parameters'
  if (!Array.isArray(declared)) throw invalid(root, `must be a list such as ${example}`)
  if (declared.length > maxParameters) throw tooMany(root)
  for (const [index, item] of declared.entries()) {
    const path = `${root}/${index}`
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      throw invalid(path, 'must be an object such as {"name": "min", "type": "integer"}')
    }
    const { name, declaration } = readDeclaration(path, item as Record<string, unknown>)
    if (declarations.has(name)) throw invalid(`${path}/name`, `"${name}" is declared twice`)
    declarations.set(name, declaration)
  }
  return declarations
}

const example = '[{"name": "min", "type": "integer", "default": 0}]'

const members = new Set(['name', 'type', 'default', 'required', 'description'])

function readDeclaration(path: string, item: Record<string, unknown>): { name: string; declaration: Declaration } {
  const { name, type = 'string', default: preset, required, description } = item
  const unknownKey = Object.keys(item).find((key) => !members.has(key))
  if (unknownKey !== undefined) {
    throw invalid(`${path}/${unknownKey.slice(0, 80)}`, unknownName('a field of a parameter', unknownKey, members))
  }
  if (typeof name !== 'string' || !parameterName.test(name)) {
    throw invalid(`${path}/name`, 'must be at most 63 letters (A-Z), digits and _, and must not begin with a digit')
  }
  if (reservedParameterNames.has(name)) throw reserved(`${path}/name`, name)
  if (typeof type !== 'string' || !isScalarType(type as AttributeType)) {
    throw invalid(`${path}/type`, unknownName('a type of parameters', String(type), typeNames))
  }
  if (required !== undefined && typeof required !== 'boolean')
    throw invalid(`${path}/required`, 'must be true or false')
  if (description !== undefined && typeof description !== 'string') throw invalid(`${path}/description`, 'must be text')
  const scalar = type as ScalarType
  const hasPreset = preset !== undefined
  const declaration = {
    type: scalar,
    preset: readPreset(`${path}/default`, scalar, preset),
    required: required ?? !hasPreset,
  }
  return { name, declaration }
}

function readPreset(path: string, type: ScalarType, preset: unknown): string | null {
  if (preset === undefined || preset === null) return null
  return readValue(path, { type, preset: null, required: false }, preset)
}

const typeNames: readonly ScalarType[] = ['string', 'integer', 'number', 'boolean', 'date', 'datetime', 'time', 'uuid']

/**
 * A hint for an author whose SQL does not type-check: undeclared parameters are text, and `population > text` is what
 * the database complains about.
 */
export function declarationHint(declared: unknown, names: readonly string[]): string {
  const declarations = readDeclarations(declared)
  const [first] = names.filter((name) => !declarations.has(name))
  if (first === undefined) return ''
  return (
    ` The parameter :${first} is text unless its type is declared in metadata.parameters: ` +
    `[{"name": "${first}", "type": "integer"}].`
  )
}

/**
 * The tenant's text with a bound value at every marker, in parentheses so that it cannot merge with the text around it.
 */
export function parameterisedSql(
  text: string,
  parameters: ReadonlyMap<string, ParameterValue>,
  types: Readonly<Record<ScalarType, string>>,
): Sql {
  const { pieces, names } = splitMarkers(text)
  const parts = names.map((name, index) => {
    const parameter = parameters.get(name)
    if (!parameter) throw invalid(`query/${name}`, 'is required')
    return sql`(${parameter.value}::${raw(types[parameter.type])})${raw(pieces[index + 1] ?? '')}`
  })
  return joinSql([raw(pieces[0] ?? ''), ...parts], '')
}
