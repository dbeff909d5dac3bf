/** Finds the position of a server error in SQL, from its line and column or the word it quotes. */
import type { Diagnostic, TextRange } from '../../../components/code-editor/json-tree.ts'

export function sqlDiagnostic(sql: string, message: string): Diagnostic {
  const range = rangeAtLine(sql, message) ?? rangeOfWord(sql, message) ?? { from: 0, to: sql.trimEnd().length }
  return { ...range, message, severity: 'error' }
}

function rangeAtLine(sql: string, message: string): TextRange | undefined {
  const [, line, column] = /line (\d+), column (\d+)/.exec(message) ?? []
  if (line === undefined) return undefined
  const lines = sql.split('\n')
  const before = lines.slice(0, Number(line) - 1).reduce((length, one) => length + one.length + 1, 0)
  const from = Math.min(before + Number(column) - 1, sql.length)
  const [word = ''] = /^\S[\w."]*/.exec(sql.slice(from)) ?? []
  // At the end of the text, the last character is underlined.
  return word ? { from, to: from + word.length } : { from: Math.max(0, from - 1), to: from }
}

function rangeOfWord(sql: string, message: string): TextRange | undefined {
  for (const [, quoted = ''] of message.matchAll(/"([^"]+)"/g)) {
    const name = quoted.split('.').at(-1) ?? quoted
    const match = new RegExp(`(?<![\\w"])"?${escapeRegExp(name)}(?!\\w)`, 'i').exec(sql)
    if (match) return { from: match.index, to: match.index + match[0].length }
  }
  return undefined
}

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
