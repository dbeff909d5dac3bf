// LIKE and ILIKE matching in memory.

const anyChar = -1
const anyText = -2

/** Escapes text so that as a LIKE pattern it matches only itself. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** Detects a trailing backslash up front: PostgreSQL refuses such a pattern only when a row makes it read that far. */
export function endsInsideEscape(pattern: string): boolean {
  const backslashes = /\\*$/.exec(pattern)?.[0].length ?? 0
  return backslashes % 2 === 1
}

/**
 * SQL's LIKE without regular expressions, so that the time is bounded by pattern × text.
 *
 * ILIKE folds case by the database's locale. We promise and test ASCII only, which is the same on every server; beyond
 * ASCII this folds code point by code point, as PostgreSQL does under a UTF-8 locale (but not under the locale C).
 */
export function likeMatcher(pattern: string, ignoreCase: boolean): (text: string) => boolean {
  const tokens = tokenize(ignoreCase ? foldCase(pattern) : pattern)
  return (text) => matches(tokens, ignoreCase ? foldCase(text) : text)
}

function tokenize(pattern: string): readonly number[] {
  const tokens: number[] = []
  let escaped = false
  for (const char of pattern) {
    if (!escaped && char === '\\') {
      escaped = true
      continue
    }
    tokens.push(!escaped && char === '%' ? anyText : !escaped && char === '_' ? anyChar : codePoint(char, 0))
    escaped = false
  }
  return tokens
}

function matches(tokens: readonly number[], text: string): boolean {
  let token = 0
  let at = 0
  let retryToken = -1
  let retryAt = 0
  while (at < text.length) {
    const char = codePoint(text, at)
    const wanted = tokens[token]
    if (wanted === anyText) {
      token += 1
      retryToken = token
      retryAt = at
    } else if (wanted === anyChar || wanted === char) {
      token += 1
      at += width(char)
    } else if (retryToken >= 0) {
      // Backtrack only to the last %: an earlier one has already found its shortest match.
      retryAt += width(codePoint(text, retryAt))
      at = retryAt
      token = retryToken
    } else {
      return false
    }
  }
  while (tokens[token] === anyText) token += 1
  return token === tokens.length
}

const codePoint = (text: string, at: number): number => text.codePointAt(at) ?? 0

const width = (char: number): number => (char > 0xffff ? 2 : 1)

function foldCase(text: string): string {
  return text.replace(/\p{Changes_When_Lowercased}/gu, (char) => {
    const lower = char.toLowerCase()
    return lower.length === char.length ? lower : char
  })
}
