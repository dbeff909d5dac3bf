import type { TObject, TSchema } from 'typebox'
import { keyParameter } from '../access/credentials.ts'
import { type ApiError, invalid } from '../errors.ts'

/** A decoded query string: deep-object brackets become nesting, repeated names become lists. No prototype. */
export type QueryTree = { [name: string]: QueryValue }
type QueryValue = string | QueryValue[] | QueryTree

const maxPairs = 1_000
const maxDepth = 32

/** What stands in an address behind the first question mark; others belong to it. */
export function queryOf(address: string): string {
  const mark = address.indexOf('?')
  return mark === -1 ? '' : address.slice(mark + 1)
}

/** `a=1&b[c]=2&d[]=3` → `{a: '1', b: {c: '2'}, d: ['3']}`. Nothing is dropped: what cannot be read is a 400. */
export function parseQueryString(text: string): QueryTree {
  const tree: QueryTree = Object.create(null)
  if (text === '') return tree
  const pairs = text.split('&')
  if (pairs.length > maxPairs) throw invalid('', `The query string has more than ${maxPairs} parameters.`)
  for (const pair of pairs) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = readName(decode(equals === -1 ? pair : pair.slice(0, equals)))
    place(tree, name, equals === -1 ? '' : decode(pair.slice(equals + 1)))
  }
  return tree
}

function decode(text: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw invalid('', 'The query string is not valid UTF-8 in percent-encoding.')
  }
  if (decoded.includes('\0')) throw invalid('', 'The query string contains NUL.')
  return decoded
}

type Name = { text: string; path: string[]; isList: boolean }

/** `a[b][]` → path `['a', 'b']`, a list. */
function readName(text: string): Name {
  const open = text.indexOf('[')
  if (open <= 0) return { text, path: [text], isList: false }
  const brackets = text.slice(open)
  if (!/^(\[[^[\]]*\])+$/.test(brackets)) throw invalid(text, 'The brackets of this parameter do not match.')
  const path = [text.slice(0, open), ...brackets.slice(1, -1).split('][')]
  if (path.length > maxDepth) throw invalid(text.slice(0, open), `Brackets nest deeper than ${maxDepth}.`)
  const isList = path.at(-1) === ''
  if (isList) path.pop()
  if (path.includes('')) throw invalid(text, 'Empty brackets may only stand at the end.')
  return { text, path, isList }
}

function place(tree: QueryTree, { text, path, isList }: Name, value: string): void {
  let node = tree
  for (const part of path.slice(0, -1)) {
    node[part] ??= Object.create(null) as QueryTree
    const next = node[part]
    if (typeof next === 'string' || Array.isArray(next)) throw clash(text)
    node = next
  }
  const last = path.at(-1) ?? ''
  const known = node[last]
  if (known === undefined) node[last] = isList ? [value] : value
  else if (typeof known === 'string') node[last] = [known, value]
  else if (Array.isArray(known)) known.push(value)
  else throw clash(text)
}

const clash = (name: string): ApiError => invalid(name, 'The parameter is given both as a value and as an object.')

/** Refuses what nobody reads: a parameter that is dropped was meant to change what is done. */
export function refuseUnknown(tree: QueryTree, isKnown: (name: string) => boolean): void {
  const stranger = Object.keys(tree).find((name) => name !== keyParameter && !isKnown(name))
  if (stranger !== undefined) throw invalid(stranger, 'There is no such parameter here.')
}

/** The declared parameters, each as its schema says; the others are left alone. */
export function readQuery(schema: TObject, tree: QueryTree): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = tree[name]
    if (value !== undefined) values[name] = readParameter(property, value, name)
  }
  return values
}

function readParameter(schema: TSchema, value: QueryValue, name: string): unknown {
  const type = 'type' in schema ? schema.type : undefined
  if (type === 'object') return readObject(value, name)
  if (type === 'array') return readList(value, name)
  if (typeof value !== 'string') throw invalid(name, 'The parameter must be given once.')
  if (type === 'integer') return readNumber(value, name, /^[+-]?\d{1,15}$/, 'a whole number')
  if (type === 'number') return readNumber(value, name, /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i, 'a number')
  if (type === 'boolean') return readBoolean(value, name)
  return value
}

/** A deep object, or the JSON text of one. */
function readObject(value: QueryValue, name: string): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value === '' ? '{}' : value)
  } catch {
    throw invalid(name, 'This is neither a deep object nor the JSON text of an object.')
  }
}

/** Comma-separated, repeated, `[]` and `[0]` forms are all lists. */
function readList(value: QueryValue, name: string): string[] {
  const items = typeof value === 'string' ? [value] : Object.values(value)
  return items
    .flatMap((item) => {
      if (typeof item !== 'string') throw invalid(name, 'The parameter must be a list of texts.')
      return item.split(',')
    })
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function readNumber(value: string, name: string, form: RegExp, kind: string): number {
  const number = Number(value)
  if (!form.test(value) || !Number.isFinite(number)) throw invalid(name, `"${value.slice(0, 40)}" is not ${kind}.`)
  return number
}

function readBoolean(value: string, name: string): boolean {
  if (['true', '1', ''].includes(value)) return true
  if (['false', '0'].includes(value)) return false
  throw invalid(name, `"${value.slice(0, 40)}" is not true or false.`)
}
