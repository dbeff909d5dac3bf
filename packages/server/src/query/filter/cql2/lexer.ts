// Lexer of CQL2 text.
import { show } from '../../values/fault.ts'
import { type JsonPath, refuse } from './syntax.ts'

export type Cql2Token = {
  readonly kind: 'name' | 'quoted' | 'string' | 'number' | 'symbol' | 'end'
  /** Without quotes; the escapes of a string are still in it. */
  readonly text: string
  /** The offset of its first character. */
  readonly at: number
}

/** Reads one token after the other; nothing is read ahead of need, so that a fault early in a long text is cheap. */
export type Lexer = {
  readonly text: string
  readonly path: string
  at: number
}

const blanks = /[\s\u0085]*/y
const nameStart =
  ':_A-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1ffe\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}'
const name = new RegExp(`[${nameStart}][${nameStart}.0-9\\u0300-\\u036f\\u203f\\u2040]*`, 'uy')
const number = /(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?/iy
const symbol = /<=|>=|<>|[=<>(),+\-*/%^]/y
const quoted = /"([^"]*(?:""[^"]*)*)"/y

const controls: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
}

export function readToken(lexer: Lexer): Cql2Token {
  match(lexer, blanks)
  const at = lexer.at
  if (at >= lexer.text.length) return { kind: 'end', text: '', at }
  const plain = match(lexer, name)
  if (plain) return { kind: 'name', text: plain[0], at }
  const digits = match(lexer, number)
  if (digits) return { kind: 'number', text: digits[0], at }
  const sign = match(lexer, symbol)
  if (sign) return { kind: 'symbol', text: sign[0], at }
  const literal = readString(lexer)
  if (literal !== undefined) return { kind: 'string', text: literal, at }
  const property = match(lexer, quoted)
  if (property?.[1]) return { kind: 'quoted', text: (property[1] ?? '').replaceAll('""', '"'), at }
  throw refuse(jsonPathOf(lexer, at), 'invalid_syntax', unreadable(lexer.text.slice(at)))
}

export const jsonPathOf = ({ path }: Lexer, at: number): JsonPath => ({ path, character: at + 1 })

function match(lexer: Lexer, expression: RegExp): RegExpExecArray | null {
  expression.lastIndex = lexer.at
  const result = expression.exec(lexer.text)
  if (result) lexer.at = expression.lastIndex
  return result
}

/** Not by a regular expression: one that steps over escapes overflows its stack on a long text. */
function readString(lexer: Lexer): string | undefined {
  const { text, at } = lexer
  if (text[at] !== "'") return undefined
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === '\\') end++
    else if (text[end] === "'") {
      if (text[end + 1] !== "'") {
        lexer.at = end + 1
        return text.slice(at + 1, end)
      }
      end++
    }
  }
  return undefined
}

/** The value of a string token. */
export const stringText = (raw: string): string =>
  raw.replace(/''|\\([abtnvfr'\\])/g, (_, letter?: string) =>
    letter === undefined ? "'" : (controls[letter] ?? letter),
  )

/** The string token as a pattern of LIKE: `\\` stays, because it escapes there too. */
export const patternText = (raw: string): string =>
  raw.replace(/''|\\([abtnvfr'])|\\\\/g, (sequence, letter?: string) =>
    sequence === "''" ? "'" : letter === undefined ? sequence : (controls[letter] ?? letter),
  )

function unreadable(rest: string): string {
  if (rest.startsWith("'")) return 'the string has no closing quote; a quote inside a string is written twice'
  if (rest.startsWith('"')) return 'the property name has no closing double quote, or is empty'
  const [character = ''] = rest
  return `${show(character)} cannot stand here; names with special characters are written in double quotes`
}
