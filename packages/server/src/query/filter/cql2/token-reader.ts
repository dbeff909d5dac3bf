// A reader of CQL2 tokens with one token of look-ahead, for the parsers of expressions and geometries.
import { show } from '../../values/fault.ts'
import { type Cql2Token, jsonPathOf, type Lexer, readToken } from './lexer.ts'
import { type Budget, checkDepth, type JsonPath, refuse } from './syntax.ts'

export type TokenReader = { readonly lexer: Lexer; token: Cql2Token; readonly budget: Budget; depth: number }

export function createReader(text: string, path: string): TokenReader {
  const lexer = { text, path, at: 0 }
  return { lexer, token: readToken(lexer), budget: { nodes: 0 }, depth: 0 }
}

/** The place of the current token. */
export const here = ({ lexer, token }: TokenReader): JsonPath => jsonPathOf(lexer, token.at)

/** Steps over the current token and returns it. */
export function advance(reader: TokenReader): Cql2Token {
  const { token } = reader
  reader.token = readToken(reader.lexer)
  return token
}

export const isSymbol = ({ token }: TokenReader, text: string): boolean =>
  token.kind === 'symbol' && token.text === text

/** Keywords are names in any case; a name in double quotes is none. */
export const isWord = ({ token }: TokenReader, word: string): boolean =>
  token.kind === 'name' && token.text.toUpperCase() === word

export function takeSymbol(reader: TokenReader, text: string): boolean {
  const isThere = isSymbol(reader, text)
  if (isThere) advance(reader)
  return isThere
}

export function takeWord(reader: TokenReader, word: string): boolean {
  const isThere = isWord(reader, word)
  if (isThere) advance(reader)
  return isThere
}

export function expectSymbol(reader: TokenReader, text: string): void {
  if (!takeSymbol(reader, text)) throw unexpected(reader, show(text))
}

export function expectWord(reader: TokenReader, word: string): void {
  if (!takeWord(reader, word)) throw unexpected(reader, word)
}

export function unexpected(reader: TokenReader, wanted: string) {
  const { kind, text } = reader.token
  const present = kind === 'end' ? 'the text ends' : `${show(text)} stands`
  return refuse(here(reader), 'invalid_syntax', `${present} where ${wanted} is expected`)
}

/** Items separated by commas, behind an opening bracket and up to the closing one. */
export function readItems<T>(reader: TokenReader, read: () => T): T[] {
  const items: T[] = []
  do items.push(read())
  while (takeSymbol(reader, ','))
  expectSymbol(reader, ')')
  return items
}

export function nested<T>(reader: TokenReader, read: () => T): T {
  reader.depth += 1
  checkDepth(reader.depth, here(reader))
  const result = read()
  reader.depth -= 1
  return result
}
