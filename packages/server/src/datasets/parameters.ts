import { joinSql, raw, type Sql, sql } from '../db/sql.ts'
import { type ApiError, invalid } from '../errors.ts'
import type { AttributeType, ScalarType } from '../query/attribute.ts'
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
  if (names.length > maxMarkers) throw invalid('source', `There are more than ${maxMarkers} places for parameters.`)
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
    throw invalid('source', `":${name.slice(0, 80)}" is no parameter: a name has letters, digits and _, at most 63.`)
  }
  if (reservedParameterNames.has(name)) throw reserved('source', name)
  return name
}

const reserved = (path: string, name: string): ApiError =>
  invalid(path, `"${name}" has a meaning of its own in a query; give the parameter another name.`)

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
  for (const name of names) {
    const declaration = declarations.get(name) ?? { type: 'string', preset: null, required: true }
    const raw = given && Object.hasOwn(given, name) ? given[name] : undefined
    const value = given ? readValue(name, declaration, raw) : declaration.preset
    values.set(name, { type: declaration.type, value })
  }
  if (values.size > maxParameters) throw invalid('source', `There are more than ${maxParameters} parameters.`)
  return values
}

function readValue(name: string, { type, preset, required }: Declaration, raw: unknown): string | null {
  if (raw === undefined || raw === null) {
    if (required) throw invalid(name, 'The parameter is required.')
    return preset
  }
  if (typeof raw === 'object') throw invalid(name, 'The parameter must be given once, as a plain value.')
  const value = canonicalText(type, raw)
  if (value === undefined) throw invalid(name, `The value is no ${type}.`)
  // PostgreSQL has no such characters.
  if (value.includes('\0') || !value.isWellFormed()) throw invalid(name, 'The value is no valid text.')
  return value
}

/** Also for use when a dataset is written: throws unless `metadata.parameters` is absent or well-formed. */
export function readDeclarations(declared: unknown): ReadonlyMap<string, Declaration> {
  const declarations = new Map<string, Declaration>()
  if (declared === undefined || declared === null) return declarations
  const root = 'metadata.parameters'
  if (!Array.isArray(declared)) throw invalid(root, 'This must be a list of {name, type, default?, required?}.')
  if (declared.length > maxParameters) throw invalid(root, `There are more than ${maxParameters} parameters.`)
  for (const [index, item] of declared.entries()) {
    const path = `${root}/${index}`
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw invalid(path, 'This must be an object.')
    const { name, declaration } = readDeclaration(path, item as Record<string, unknown>)
    if (declarations.has(name)) throw invalid(`${path}/name`, `"${name}" is declared twice.`)
    declarations.set(name, declaration)
  }
  return declarations
}

const known = new Set(['name', 'type', 'default', 'required', 'description'])

function readDeclaration(path: string, item: Record<string, unknown>): { name: string; declaration: Declaration } {
  const { name, type = 'string', default: preset, required, description } = item
  const stranger = Object.keys(item).find((key) => !known.has(key))
  if (stranger !== undefined) throw invalid(`${path}/${stranger}`, 'A parameter has no such field.')
  if (typeof name !== 'string' || !parameterName.test(name)) {
    throw invalid(`${path}/name`, 'A name has letters, digits and _, begins with no digit and has at most 63 of them.')
  }
  if (reservedParameterNames.has(name)) throw reserved(`${path}/name`, name)
  if (typeof type !== 'string' || !isScalarType(type as AttributeType)) {
    throw invalid(`${path}/type`, 'The type is one of string, integer, number, boolean, date, datetime, time, uuid.')
  }
  if (required !== undefined && typeof required !== 'boolean')
    throw invalid(`${path}/required`, 'This is true or false.')
  if (description !== undefined && typeof description !== 'string')
    throw invalid(`${path}/description`, 'This is text.')
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

/** The tenant's text with a bound value at every marker. In parentheses, so that no marker grows onto what is beside it. */
export function parameterisedSql(text: string, parameters: ReadonlyMap<string, ParameterValue>): Sql {
  const { pieces, names } = splitMarkers(text)
  const parts = names.map((name, index) => {
    const parameter = parameters.get(name)
    if (!parameter) throw invalid(name, 'The parameter is required.')
    return sql`(${parameter.value}::${sqlTypes[parameter.type]})${raw(pieces[index + 1] ?? '')}`
  })
  return joinSql([raw(pieces[0] ?? ''), ...parts], '')
}
