import { joinSql, raw, type Sql, sql } from '../db/sql.ts'
import { type ApiError, FaultCollector, invalid } from '../errors.ts'
import { unknownName } from '../nearest-name.ts'
import type { AttributeType, ScalarType } from '../query/attribute.ts'
import { show } from '../query/fault.ts'
import { canonicalText, isScalarType } from '../query/value.ts'
import { lexSql, type Token } from './sql-lexer.ts'

/** Names with a meaning of their own in a query. */
export const reservedParameterNames: ReadonlySet<string> = new Set(
  'format explain attributes filter sort limit offset filename timeout srid api-key where order group sample distinct'.split(
    ' ',
  ),
)

export type ParameterValue = { readonly type: ScalarType; readonly value: string | null }

type Declaration = { readonly type: ScalarType; readonly preset: string | null; readonly required: boolean }

const parameterName = /^[A-Za-z_]\w{0,62}$/
const maxParameters = 100
const maxMarkers = 1000

/**
 * Cuts SQL at its `:name` markers: a name stands between each two pieces. A closing semicolon is taken off.
 *
 * No markers: whatever is in quotes or comments; `::` and `:=`; a colon with a blank after it; a colon directly after
 * a quote (`JSON_OBJECT('k':v)`); and, inside brackets, a colon directly after a name, a number or a bracket, for that
 * is a slice. `a[1:n]` is a slice up to the column n, `a[1 : :n]` one up to the parameter, `a[:n]` the n-th item.
 */
export function splitMarkers(text: string): { pieces: string[]; names: string[] } {
  const pieces: string[] = []
  const names: string[] = []
  let from = 0
  let brackets = 0
  let before: Token | undefined
  let colon: Token | undefined
  for (const token of lexSql(text)) {
    brackets += token.text === '[' ? 1 : token.text === ']' ? -1 : 0
    if (colon && token.kind === 'word' && token.start === colon.start + 1) {
      pieces.push(text.slice(from, colon.start))
      names.push(checkName(token.text))
      from = token.start + token.text.length
    }
    colon = token.text === ':' && !isGlued(before, token, brackets > 0) ? token : undefined
    before = token
  }
  if (names.length > maxMarkers)
    throw invalid('body/source', `must not have more than ${maxMarkers} places for parameters`)
  pieces.push(text.slice(from, before?.text === ';' ? before.start : text.length))
  return { pieces, names }
}

function isGlued(before: Token | undefined, colon: Token, inBrackets: boolean): boolean {
  if (!before || before.start + before.text.length !== colon.start) return false
  if (before.kind === 'quoted') return true
  return inBrackets && (before.kind === 'word' || before.kind === 'number' || /^[\])]$/.test(before.text))
}

function checkName(name: string): string {
  if (!parameterName.test(name)) {
    throw invalid(
      'body/source',
      `":${name.slice(0, 80)}" cannot be a parameter: its name must be at most 63 letters (A-Z), digits and _`,
    )
  }
  if (reservedParameterNames.has(name)) throw reserved('body/source', name)
  return name
}

const reserved = (path: string, name: string): ApiError =>
  invalid(path, `"${name}" is a parameter of every query; give the dataset's parameter another name`)

/**
 * The values of the parameters `names`, which are the markers of a source: given, or the declared default. What is not
 * declared is text and required. `declared` is `metadata.parameters`; names that are declared but not used are ignored.
 * With `given` undefined nothing is required: to find out what a query answers, null will do.
 */
export function readParameters(
  declared: unknown,
  names: readonly string[],
  given: Readonly<Record<string, unknown>> | undefined,
): ReadonlyMap<string, ParameterValue> {
  const declarations = readDeclarations(declared)
  const values = new Map<string, ParameterValue>()
  const faults = new FaultCollector()
  for (const name of names) {
    const declaration = declarations.get(name) ?? undeclared
    const raw = given && Object.hasOwn(given, name) ? given[name] : undefined
    const value = given ? faults.attempt(() => readValue(`query/${name}`, declaration, raw)) : declaration.preset
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
  // PostgreSQL has no such characters.
  if (value.includes('\0') || !value.isWellFormed()) {
    throw invalid(path, 'must be text without NUL and half surrogate pairs')
  }
  return value
}

/** Also for use when a dataset is written: throws unless `metadata.parameters` is absent or well-formed. */
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

const known = new Set(['name', 'type', 'default', 'required', 'description'])

function readDeclaration(path: string, item: Record<string, unknown>): { name: string; declaration: Declaration } {
  const { name, type = 'string', default: preset, required, description } = item
  const stranger = Object.keys(item).find((key) => !known.has(key))
  if (stranger !== undefined) {
    throw invalid(`${path}/${stranger.slice(0, 80)}`, unknownName('a field of a parameter', stranger, known))
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

const sqlTypes: { readonly [type in ScalarType]: Sql } = {
  string: raw('text'),
  integer: raw('int8'),
  number: raw('numeric'),
  boolean: raw('bool'),
  date: raw('date'),
  datetime: raw('timestamptz'),
  time: raw('time'),
  uuid: raw('uuid'),
}

const typeNames = Object.keys(sqlTypes)

/**
 * What an author whose SQL does not type-check is told of its parameters without a declaration: they are text, and
 * `population > text` is what the database complains of.
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

/** The tenant's text with a bound value at every marker. In parentheses, so that no marker grows onto what is beside it. */
export function parameterisedSql(text: string, parameters: ReadonlyMap<string, ParameterValue>): Sql {
  const { pieces, names } = splitMarkers(text)
  const parts = names.map((name, index) => {
    const parameter = parameters.get(name)
    if (!parameter) throw invalid(`query/${name}`, 'is required')
    return sql`(${parameter.value}::${sqlTypes[parameter.type]})${raw(pieces[index + 1] ?? '')}`
  })
  return joinSql([raw(pieces[0] ?? ''), ...parts], '')
}
