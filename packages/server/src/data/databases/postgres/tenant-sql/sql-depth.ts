import { invalid } from '../../../../kernel/errors.ts'
import { lexSql, type SqlToken } from '../../../../query/execution/sql-lexer.ts'

const maxLevels = 100
const maxDepth = 500

/** Each makes a tree one deeper. Several of them in a row, as in `NOT NOT a` or `a IS NULL`, are a chain. */
const deepening = new Set('not is isnull notnull collate at like ilike similar in between operator'.split(' '))
const joining = new Set('union intersect except join'.split(' '))
/** After these the next expression stands beside the last one, not above it. */
const resetting = new Set('and or when then else select'.split(' '))

type Level = { readonly closer: string; chain: number; joins: number }

const closers: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['case', 'end'],
])

/**
 * Throws when the tree of the SQL could be so deep that the parser would run out of stack. That must not happen: the
 * compiled parser does not clean up behind itself, and after some thirty times it is broken for good. Returns the number of
 * words and signs.
 */
export function checkDepth(text: string): number {
  const levels: Level[] = [{ closer: '', chain: 0, joins: 0 }]
  let tokens = 0
  let depth = 0
  let before: SqlToken | undefined
  for (const token of lexSql(text)) {
    tokens++
    checkToken(token)
    // What follows a point is a name, whatever it says.
    const isWord = token.kind === 'word' && before?.text !== '.'
    depth += step(levels, token, isWord ? token.text.toLowerCase() : '')
    if (levels.length > maxLevels || depth > maxDepth) throw invalid('body/source', 'nests too deeply')
    before = token
  }
  return tokens
}

function checkToken(token: SqlToken): void {
  if (token.kind === 'parameter') throw invalid('body/source', 'must write parameters as :name, not $1')
  if (token.text === ';') throw invalid('body/source', 'must be one statement')
}

/** Opens or closes a level, or counts in the one that is open. Returns by how much the depth changes. */
function step(levels: Level[], token: SqlToken, word: string): number {
  const sign = token.kind === 'other' ? token.text : word
  const closer = closers.get(sign)
  if (closer !== undefined) {
    levels.push({ closer, chain: 0, joins: 0 })
    return 0
  }
  const level = levels.at(-1)
  if (!level) return 0
  if (sign !== '' && sign === level.closer) {
    levels.pop()
    return -level.chain - level.joins
  }
  return count(level, token, word)
}

function count(level: Level, token: SqlToken, word: string): number {
  if (token.text === ',' || resetting.has(word)) {
    const { chain } = level
    level.chain = 0
    return -chain
  }
  if (joining.has(word)) {
    level.joins++
    return 1
  }
  // `- + -` may be written together, so a run of signs counts by its length.
  const more = token.kind === 'operator' ? token.text.length : token.text === '::' || deepening.has(word) ? 1 : 0
  level.chain += more
  return more
}
