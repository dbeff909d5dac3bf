/** Diagnostics of the editor: JSON syntax errors, and those of the page, which move with edits before them. */
import { syntaxTree } from '@codemirror/language'
import { linter, lintGutter, type Diagnostic as Marked } from '@codemirror/lint'
import { type EditorState, type Extension, StateEffect, StateField, type Transaction } from '@codemirror/state'
import type { EditorLanguage } from './completion.ts'
import { type Diagnostic, jsonFaults, positionOfPath } from './json-tree.ts'

const lintMs = 250

export const setServerDiagnostics = StateEffect.define<readonly Diagnostic[]>()

const serverDiagnostics = StateField.define<readonly Diagnostic[]>({
  create: () => [],
  update(value, transaction) {
    const set = transaction.effects.find((effect) => effect.is(setServerDiagnostics))
    if (set) return set.value as readonly Diagnostic[]
    return transaction.docChanged ? value.map((one) => moved(one, transaction)) : value
  },
})

function moved(one: Diagnostic, { changes }: Transaction): Diagnostic {
  return one.from === undefined
    ? one
    : { ...one, from: changes.mapPos(one.from, 1), to: changes.mapPos(one.to ?? one.from, -1) }
}

/** Marks in the text and in the gutter; F8 goes to the next one. */
export const diagnosticMarks = (language: EditorLanguage): Extension => [
  serverDiagnostics,
  linter((view) => marks(view.state, language), {
    delay: lintMs,
    needsRefresh: ({ transactions }) =>
      transactions.some(({ effects }) => effects.some((effect) => effect.is(setServerDiagnostics))),
  }),
  lintGutter(),
]

function marks(state: EditorState, language: EditorLanguage): Marked[] {
  const text = state.doc.toString()
  const own = language === 'json' && text.trim() ? jsonFaults(text, syntaxTree(state)) : []
  return [...own, ...state.field(serverDiagnostics)].map((one) => marked(one, text, state))
}

function marked({ from, to, path, message, severity }: Diagnostic, text: string, state: EditorState): Marked {
  const range = path === undefined ? undefined : positionOfPath(text, path, syntaxTree(state))
  const end = state.doc.length
  const start = Math.min(range?.from ?? from ?? 0, end)
  const stop = Math.max(start, Math.min(range?.to ?? to ?? start, end))
  return { from: start, to: stop, message, severity, ...(path ? { source: path } : {}) }
}
