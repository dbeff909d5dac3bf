// `:name` markers in SQL: placeholders for the parameters of a dataset.
import { LRUCache } from 'lru-cache'
import { type ApiError, invalid } from '../../kernel/errors.ts'
import { lexSql, type SqlToken } from './sql-lexer.ts'

/** Names that already have a meaning in a query. */
export const reservedParameterNames: ReadonlySet<string> = new Set(
  'format explain attributes filter sort limit offset filename timeout srid api-key where order group sample distinct'.split(
    ' ',
  ),
)

export const parameterName = /^[A-Za-z_]\w{0,62}$/
const maxMarkers = 1000

type SplitText = { readonly pieces: readonly string[]; readonly names: readonly string[] }

/** A long text takes 10 ms to split, and a dataset's is split for every query and tile. */
const cache = new LRUCache<string, SplitText>({ maxSize: 4_000_000, sizeCalculation: (_, text) => text.length + 1 })

/**
 * Splits SQL at its `:name` markers; one name stands between two pieces. A trailing semicolon is removed.
 *
 * Not markers: anything in quotes or comments; `::` and `:=`; a colon before a blank; a colon directly after a quote
 * (`JSON_OBJECT('k':v)`); and, inside brackets, a colon directly after a name, a number or a bracket, because that is a
 * slice. `a[1:n]` is a slice up to the column n, `a[1 : :n]` one up to the parameter, `a[:n]` the n-th item.
 */
export function splitMarkers(text: string): SplitText {
  const split = cache.get(text) ?? readMarkers(text)
  cache.set(text, split)
  return split
}

function readMarkers(text: string): SplitText {
  const pieces: string[] = []
  const names: string[] = []
  let from = 0
  let brackets = 0
  let before: SqlToken | undefined
  let colon: SqlToken | undefined
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

function isGlued(before: SqlToken | undefined, colon: SqlToken, inBrackets: boolean): boolean {
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

export const reserved = (path: string, name: string): ApiError =>
  invalid(path, `"${name}" is a parameter of every query; give the dataset's parameter another name`)
