import type { EditorLanguage, Word } from './completion.ts'
import type { Diagnostic } from './json-tree.ts'

export interface CodeEditorProps {
  language: EditorLanguage
  value: string
  onChange?: ((value: string) => void) | undefined
  /** The accessible name. */
  label: string
  /** Errors found by the page or the server. JSON syntax errors are marked without them. */
  diagnostics?: readonly Diagnostic[] | undefined
  /** Words to offer: attributes, operators, tables, columns. */
  completions?: readonly Word[] | undefined
  isReadOnly?: boolean | undefined
  placeholder?: string | undefined
  /** @defaultValue 120 */
  minHeight?: number | undefined
  /** Fills its container and scrolls; otherwise as high as its text. */
  isFilling?: boolean | undefined
  /** Ctrl+Enter. */
  onRun?: (() => void) | undefined
  /** Ctrl+S. */
  onSave?: (() => void) | undefined
}
