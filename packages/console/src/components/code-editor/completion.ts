/** Code completion from words that the page provides: attributes and operators in JSON, tables and columns in SQL. */
import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete'
import { keywordCompletionSource } from '@codemirror/lang-sql'
import { syntaxTree } from '@codemirror/language'
import { dialect } from './sql-dialect.ts'
import { sqlName } from './sql-name.ts'

export interface Word {
  label: string
  /** Shown next to the word, such as its type. */
  detail?: string | undefined
  /** `property`, `keyword`, `function`, `class` (a table). */
  type?: string | undefined
}

export type EditorLanguage = 'json' | 'sql'

/** `words` is a function, so that changed words do not need a new editor. */
export const completionSources = (language: EditorLanguage, words: () => readonly Word[]): CompletionSource[] =>
  language === 'json'
    ? [(context) => completeJson(context, words())]
    : [(context) => completeSql(context, words()), completeKeyword]

const optionOf = ({ label, detail, type }: Word, apply: string): Completion => ({
  label,
  apply,
  ...(detail ? { detail } : {}),
  ...(type ? { type } : {}),
})

/** Completes inside quotes, and adds quotes where there are none. */
function completeJson(context: CompletionContext, words: readonly Word[]): CompletionResult | null {
  const node = syntaxTree(context.state).resolveInner(context.pos, -1)
  const text = context.state.sliceDoc(node.from, node.to)
  const isQuoted = text.startsWith('"') && node.from < context.pos
  if (isQuoted) {
    // A string may contain several words: "sum(population) as people", "-name".
    const before = /[\w$.]*$/.exec(context.state.sliceDoc(node.from + 1, context.pos))?.[0] ?? ''
    return {
      from: context.pos - before.length,
      options: words.map((word) => optionOf(word, word.label)),
      validFor: /^[\w$.]*$/,
    }
  }
  const before = context.matchBefore(/[\w$.]+/)
  if (!(before || context.explicit)) return null
  return {
    from: before?.from ?? context.pos,
    options: words.map((word) => optionOf(word, JSON.stringify(word.label))),
    validFor: /^[\w$.]*$/,
  }
}

function completeSql(context: CompletionContext, words: readonly Word[]): CompletionResult | null {
  const before = context.matchBefore(/[\w"]+/)
  if (!(before || context.explicit) || context.matchBefore(/:\w*/)) return null
  return {
    from: before?.from ?? context.pos,
    options: words.map((word) => optionOf(word, word.type === 'class' ? word.label : sqlName(word.label))),
    validFor: /^[\w"]*$/,
  }
}

const keywords = keywordCompletionSource(dialect, true)

/** No keywords after `:` (a parameter) or `::` (a type). */
const completeKeyword: CompletionSource = (context) => (context.matchBefore(/:\w*/) ? null : keywords(context))
