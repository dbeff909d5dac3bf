// A lexer for PostgreSQL's SQL.
import { invalid } from '../../kernel/errors.ts'

/**
 * `text` begins at `start`. A word is an unquoted name or keyword; `other` is one character (`::` and `:=` are two).
 */
export type SqlToken = {
  readonly kind: 'word' | 'quoted' | 'number' | 'operator' | 'parameter' | 'other'
  readonly text: string
  readonly start: number
}

/** More would keep the event loop busy for longer than 20 ms. */
const maxTokens = 20_000

const blank = /(?:[ \t\n\r\f\v]|--[^\n\r]*)+/y
const word = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y
const number = /\d+(?:\.\d*)?(?:[eE][+-]?\d+)?/y
const quotePrefix = /(?:[eEbBxX]|[uU]&)?'|(?:[uU]&)?"/y
const dollarQuote = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y
const parameter = /\$\d+/y
const operator = /(?:(?!--|\/\*)[~!@#^&|`?+\-*/%<>=])+/y
// A string literal may continue after a line break, with the same escaping rules.
const continuation = /(?:[ \t\f\v]|--[^\n\r]*)*[\n\r](?:[ \t\n\r\f\v]|--[^\n\r]*[\n\r])*'/y

/**
 * PostgreSQL's own rules (scan.l) with standard_conforming_strings on; a test compares the two. Whitespace is skipped.
 */
export function* lexSql(text: string): Generator<SqlToken> {
  let at = 0
  let tokens = 0
  while (at < text.length) {
    const space = match(blank, text, at)
    if (space) at += space.length
    else if (text.startsWith('/*', at)) at = endOfComment(text, at)
    else {
      if (++tokens > maxTokens) throw invalid('body/source', `must not have more than ${maxTokens} words and signs`)
      const token = readToken(text, at)
      yield token
      at += token.text.length
    }
  }
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** None of them begins a longer token. */
const single = new Set('(),[];')

function readToken(text: string, start: number): SqlToken {
  const first = text[start] ?? ''
  if (single.has(first)) return { kind: 'other', text: first, start }
  const opening = match(quotePrefix, text, start)
  if (opening) return { kind: 'quoted', text: text.slice(start, endOfQuoted(text, start, opening)), start }
  const tag = match(dollarQuote, text, start)
  if (tag) return { kind: 'quoted', text: text.slice(start, endOfDollarQuote(text, start, tag)), start }
  for (const [kind, pattern] of patterns) {
    const token = match(pattern, text, start)
    if (token) return { kind, text: token, start }
  }
  const pair = text.slice(start, start + 2)
  return { kind: 'other', text: pair === '::' || pair === ':=' ? pair : pair.slice(0, 1), start }
}

const patterns = [
  ['word', word],
  ['number', number],
  ['parameter', parameter],
  ['operator', operator],
] as const

function endOfComment(text: string, start: number): number {
  const mark = /\/\*|\*\//g
  mark.lastIndex = start
  let depth = 0
  for (let match = mark.exec(text); match; match = mark.exec(text)) {
    depth += match[0] === '/*' ? 1 : -1
    if (depth === 0) return mark.lastIndex
  }
  throw unterminated('comment', start)
}

/** A doubled quote stands for one quote, except in bit strings; a backslash escapes only after E. */
const closings: Readonly<Record<string, RegExp>> = { e: /\\[\s\S]|''?/g, b: /'/g, x: /'/g }

function endOfQuoted(text: string, start: number, opening: string): number {
  const quote = opening.endsWith('"') ? '"' : "'"
  const next = closings[opening.slice(0, -1).toLowerCase()] ?? (quote === '"' ? /""?/g : /''?/g)
  next.lastIndex = start + opening.length
  for (let part = next.exec(text); part; part = next.exec(text)) {
    if (part[0] !== quote) continue
    const more = quote === "'" ? match(continuation, text, next.lastIndex) : undefined
    if (more === undefined) return next.lastIndex
    next.lastIndex += more.length
  }
  throw unterminated(quote === '"' ? 'quoted name' : 'text in quotes', start)
}

function endOfDollarQuote(text: string, start: number, tag: string): number {
  const end = text.indexOf(tag, start + tag.length)
  if (end === -1) throw unterminated(`text in ${tag} quotes`, start)
  return end + tag.length
}

const unterminated = (what: string, start: number) =>
  invalid('body/source', `has a ${what} that does not end (from character ${start + 1})`)
