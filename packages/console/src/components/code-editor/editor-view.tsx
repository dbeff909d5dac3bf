/**
 * CodeMirror in an open shadow root, where it uses adopted style sheets instead of a `<style>` element, which the content
 * security policy forbids. The design tokens work inside, because custom properties are inherited. Loaded by `CodeEditor`.
 */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { sql } from '@codemirror/lang-sql'
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language'
import { lintKeymap } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Annotation, Compartment, EditorState, type Extension, Prec } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder as placeholderText,
} from '@codemirror/view'
import { type ReactElement, useEffect, useEffectEvent, useRef } from 'react'
import classes from './code-editor.module.css'
import { completionSources, type EditorLanguage } from './completion.ts'
import { diagnosticMarks, setServerDiagnostics } from './diagnostics.ts'
import type { CodeEditorProps } from './editor-props.ts'
import { editorLook } from './editor-theme.ts'
import { replaceSelection } from './replace-selection.ts'
import { dialect } from './sql-dialect.ts'

/** Marks a change made by the page, so that it is not reported back to it. */
const fromPage = Annotation.define<true>()
const attributes = new Compartment()

const languages: Record<EditorLanguage, () => Extension> = {
  json: () => json(),
  sql: () => sql({ dialect }),
}

const common: Extension = [
  lineNumbers(),
  foldGutter(),
  codeFolding(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSelectionMatches(),
  search({ top: true }),
  EditorState.tabSize.of(2),
  EditorView.lineWrapping,
  // Tab moves the focus, so that keyboard users can leave the editor.
  keymap.of([
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...completionKeymap,
    ...lintKeymap,
  ]),
  editorLook,
]

interface Handlers {
  change(value: string): void
  run(): boolean
  save(): boolean
  words(): NonNullable<CodeEditorProps['completions']>
}

export function EditorElement(props: CodeEditorProps): ReactElement {
  const { language, value, label, diagnostics, isReadOnly = false, placeholder = '' } = props
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView | null>(null)
  /** Values reported to the page that have not come back as props yet: the page may render more slowly than the user types. */
  const reported = useRef<string[]>([])
  /** A shortcut pressed while the page was behind; it waits, because it would run or save an older text. */
  const waiting = useRef<'onRun' | 'onSave' | null>(null)
  const isBehind = () => reported.current.length > 0 && reported.current.at(-1) !== value
  const press = (name: 'onRun' | 'onSave'): boolean => {
    if (isBehind()) waiting.current = name
    else props[name]?.()
    // Shortcuts without a handler are left to the browser.
    return props[name] !== undefined
  }
  const make = useEffectEvent((parent: HTMLDivElement) => createEditor(parent, value, extensions(language, handlers)))
  const handlers: Handlers = {
    change: useEffectEvent((text) => {
      reported.current.push(text)
      props.onChange?.(text)
    }),
    run: useEffectEvent(() => press('onRun')),
    save: useEffectEvent(() => press('onSave')),
    words: useEffectEvent(() => props.completions ?? []),
  }
  useEffect(() => {
    if (!host.current) return
    const view = make(host.current)
    editor.current = view
    return () => view.destroy()
  }, [language])
  useEffect(() => {
    const view = editor.current
    if (isEcho(reported.current, value) || !view || view.state.doc.toString() === value) return
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value }, annotations: fromPage.of(true) })
  }, [value])
  useEffect(() => {
    const name = waiting.current
    if (!name || isBehind()) return
    waiting.current = null
    props[name]?.()
  })
  useEffect(() => {
    editor.current?.dispatch({ effects: attributes.reconfigure(described(label, isReadOnly, placeholder)) })
  }, [label, isReadOnly, placeholder])
  useEffect(() => {
    editor.current?.dispatch({ effects: setServerDiagnostics.of(diagnostics ?? []) })
  }, [diagnostics])
  const { minHeight = 120, isFilling = false } = props
  return <div ref={host} className={`${classes.host} ${isFilling ? classes.filling : ''}`} style={{ minHeight }} />
}

function createEditor(parent: HTMLDivElement, doc: string, extension: Extension): EditorView {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' })
  return new EditorView({ state: EditorState.create({ doc, extensions: extension }), parent: root, root })
}

const extensions = (language: EditorLanguage, handlers: Handlers): Extension => [
  Prec.highest(
    keymap.of([
      { key: 'Mod-Enter', run: handlers.run, preventDefault: true },
      { key: 'Ctrl-Enter', run: handlers.run, preventDefault: true },
      { key: 'Mod-s', run: handlers.save, preventDefault: true },
    ]),
  ),
  languages[language](),
  autocompletion({ override: completionSources(language, handlers.words), icons: false }),
  diagnosticMarks(language),
  replaceSelection,
  attributes.of([]),
  EditorView.updateListener.of((update) => {
    const isOurs = update.transactions.some((transaction) => transaction.annotation(fromPage))
    if (update.docChanged && !isOurs) handlers.change(update.state.doc.toString())
  }),
  common,
]

const described = (label: string, isReadOnly: boolean, placeholder: string): Extension => [
  EditorState.readOnly.of(isReadOnly),
  EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': String(isReadOnly) }),
  placeholder ? placeholderText(placeholder) : [],
]

/** Whether the value is one that was reported to the page. Drops that one and all older ones. */
function isEcho(reported: string[], value: string): boolean {
  const index = reported.indexOf(value)
  if (index >= 0) reported.splice(0, index + 1)
  return index >= 0
}
