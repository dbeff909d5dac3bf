import type { TObject, TSchema } from 'typebox'
import { type ApiError, type FaultCollector, faulty, invalid, maxFaults } from '../../../kernel/errors.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'
import { unknownName } from '../../../kernel/nearest-name.ts'
import { keyParameter } from '../../access/credentials.ts'

/** A decoded query string: deep-object brackets become nesting, repeated names become lists. No prototype. */
export type QueryTree = { [name: string]: QueryValue }
type QueryValue = string | QueryValue[] | QueryTree

const maxPairs = limits.queryParameters.value
const maxDepth = limits.queryDepth.value

/** Everything before the first question mark. */
export function pathOf(address: string): string {
  const mark = address.indexOf('?')
  return mark === -1 ? address : address.slice(0, mark)
}

/** The query string: everything after the first question mark. */
export function queryOf(address: string): string {
  const mark = address.indexOf('?')
  return mark === -1 ? '' : address.slice(mark + 1)
}

/** The tree of every address without a query string. */
export const noQuery: QueryTree = Object.freeze(Object.create(null))

/** `a=1&b[c]=2&d[]=3` → `{a: '1', b: {c: '2'}, d: ['3']}`. Nothing is dropped: what cannot be read is a 400. */
export function parseQueryString(text: string): QueryTree {
  if (text === '') return noQuery
  const tree: QueryTree = Object.create(null)
  const pairs = text.split('&')
  if (pairs.length > maxPairs)
    throw overLimit('queryParameters', maxPairs, `has more than ${maxPairs} parameters`, { path: 'query' })
  for (const pair of pairs) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = readName(decode(equals === -1 ? pair : pair.slice(0, equals)))
    insertValue(tree, name, equals === -1 ? '' : decode(pair.slice(equals + 1)))
  }
  return tree
}

function decode(text: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw invalid('query', 'must be UTF-8 in percent-encoding')
  }
  if (decoded.includes('\0')) throw invalid('query', 'must not contain NUL (%00)')
  return decoded
}

type Name = { text: string; path: string[]; isList: boolean }

/** `a[b][]` → path `['a', 'b']`, a list. */
function readName(text: string): Name {
  const open = text.indexOf('[')
  if (open <= 0) return { text, path: [text], isList: false }
  const brackets = text.slice(open)
  if (!/^(\[[^[\]]*\])+$/.test(brackets)) throw invalid(parameterPath(text), 'must have brackets that match')
  const path = [text.slice(0, open), ...brackets.slice(1, -1).split('][')]
  if (path.length > maxDepth) {
    const detail = `must not nest deeper than ${maxDepth} levels`
    throw overLimit('queryDepth', maxDepth, detail, { path: parameterPath(text.slice(0, open)) })
  }
  const isList = path.at(-1) === ''
  if (isList) path.pop()
  if (path.includes('')) throw invalid(parameterPath(text), 'must have empty brackets only at the end')
  return { text, path, isList }
}

function insertValue(tree: QueryTree, { text, path, isList }: Name, value: string): void {
  let node = tree
  for (const part of path.slice(0, -1)) {
    node[part] ??= Object.create(null) as QueryTree
    const next = node[part]
    if (typeof next === 'string' || Array.isArray(next)) throw clash(text)
    node = next
  }
  const last = path.at(-1) ?? ''
  const before = node[last]
  if (before === undefined) node[last] = isList ? [value] : value
  else if (typeof before === 'string') node[last] = [before, value]
  else if (Array.isArray(before)) before.push(value)
  else throw clash(text)
}

const clash = (name: string): ApiError =>
  invalid(parameterPath(name), 'must not be given both as a value and as an object')

/** The path of a parameter in error messages. */
const parameterPath = (name: string): string => `query/${name.slice(0, 100)}`

/** The names that a dataset gives to parameters of its own. */
type ParameterNames = { has(name: string): boolean; keys(): Iterable<string> }

/** Refuses unknown parameters, because a client that sends one expects it to have an effect. */
export function refuseUnknown(
  tree: QueryTree,
  { properties }: Pick<TObject, 'properties'>,
  own?: ParameterNames,
): void {
  const isKnown = (name: string) => name === keyParameter || Object.hasOwn(properties, name) || own?.has(name)
  const unknownNames = Object.keys(tree)
    .filter((name) => !isKnown(name))
    .slice(0, maxFaults)
  if (unknownNames.length === 0) return
  const names = [...Object.keys(properties), ...(own?.keys() ?? [])]
  const fault = (name: string) => ({ code: 'unknown', message: unknownName('a parameter', name, names) })
  throw faulty(unknownNames.map((name) => ({ path: parameterPath(name), ...fault(name) })))
}

/** The declared parameters, converted by their schemas. Unknown ones are ignored; faults are collected. */
export function readQuery(schema: TObject, tree: QueryTree, faults: FaultCollector): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = tree[name]
    const read = value === undefined ? undefined : faults.attempt(() => readDeclared(property, value, tree, name))
    // An empty list, such as `fields=`, means the default.
    if (read !== undefined && !(Array.isArray(read) && read.length === 0)) values[name] = read
  }
  return values
}

/** Marks an object that is no object beside the parameter named here, but text, to be read from the tree. */
export const textBeside = 'x-text-beside'

function readDeclared(schema: TSchema, value: QueryValue, tree: QueryTree, name: string): unknown {
  const isText = textBeside in schema && tree[String(schema[textBeside])] !== undefined
  return isText ? undefined : readParameter(schema, value, parameterPath(name))
}

function readParameter(schema: TSchema, value: QueryValue, path: string): unknown {
  const type = 'type' in schema ? schema.type : undefined
  if (type === 'object') return readObject(value, path)
  if (type === 'array') return readList(value, path)
  if (typeof value !== 'string') throw invalid(path, 'must be given once')
  if (type === 'integer') return readNumber(value, path, /^[+-]?\d{1,15}$/, 'a whole number')
  if (type === 'number') return readNumber(value, path, /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i, 'a number')
  if (type === 'boolean') return readBoolean(value, path)
  return value
}

/** A deep object, or the JSON text of one. */
function readObject(value: QueryValue, path: string): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value === '' ? '{}' : value)
  } catch {
    throw invalid(path, `must be an object: ${path.slice('query/'.length)}[name]=value, or JSON text`)
  }
}

/** Comma-separated, repeated, `[]` and `[0]` forms are all lists. */
function readList(value: QueryValue, path: string): string[] {
  const items = typeof value === 'string' ? [value] : Object.values(value)
  return items
    .flatMap((item) => {
      if (typeof item !== 'string') throw invalid(path, 'must be a list of texts')
      return item.split(',')
    })
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function readNumber(value: string, path: string, form: RegExp, kind: string): number {
  const number = Number(value)
  if (!form.test(value) || !Number.isFinite(number)) throw invalid(path, `must be ${kind}, not "${value.slice(0, 40)}"`)
  return number
}

function readBoolean(value: string, path: string): boolean {
  if (['true', '1', ''].includes(value)) return true
  if (['false', '0'].includes(value)) return false
  throw invalid(path, `must be true or false, not "${value.slice(0, 40)}"`)
}
