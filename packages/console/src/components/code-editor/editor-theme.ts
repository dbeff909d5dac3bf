/** The theme of the code editor, from the design tokens: CodeMirror's default colours lack contrast in dark mode. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const control = {
  minHeight: '28px',
  padding: '0 8px',
  border: '1px solid var(--line-strong)',
  borderRadius: 'var(--radius-control)',
  background: 'var(--surface)',
  color: 'var(--ink)',
  font: 'var(--text-2)',
}
const focusRing = { outline: '2px solid var(--accent)', outlineOffset: '1px' }
const floating = {
  border: '1px solid var(--line)',
  borderRadius: 'var(--radius-panel)',
  background: 'var(--surface)',
  boxShadow: 'var(--e1)',
  color: 'var(--ink)',
}

const theme = EditorView.theme({
  '&': { flex: '1', minHeight: '0', background: 'var(--surface)', color: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': { flex: '1', font: 'var(--text-code)', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '8px 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in oklab, var(--accent) 22%, transparent)',
  },
  '.cm-gutters': { alignSelf: 'stretch', border: '0', background: 'var(--sunken)', color: 'var(--ink-2)' },
  '.cm-activeLine': { background: 'color-mix(in oklab, var(--sunken) 45%, transparent)' },
  '.cm-activeLineGutter': { background: 'var(--accent-soft)', color: 'var(--ink)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { background: 'var(--accent-soft)', color: 'inherit' },
  '.cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket': { background: 'var(--danger-soft)', color: 'inherit' },
  '.cm-searchMatch': { background: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': { background: 'var(--select-soft)', outline: '1px solid var(--select)' },
  '.cm-selectionMatch': { background: 'var(--accent-soft)' },
  '.cm-foldPlaceholder': { border: '1px solid var(--line)', background: 'var(--sunken)', color: 'var(--ink-2)' },
  '.cm-placeholder': { color: 'var(--ink-2)' },
  '.cm-panels': { background: 'var(--sunken)', color: 'var(--ink)', font: 'var(--text-2)' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: '6px 32px 6px 8px' },
  '.cm-panel.cm-search label': { font: 'var(--text-2)' },
  '.cm-panel.cm-search [name=close]': { width: '28px', fontSize: '20px', color: 'var(--ink)' },
  '.cm-panel input[type=checkbox]': { accentColor: 'var(--accent)', verticalAlign: 'middle' },
  '.cm-textfield': control,
  '.cm-button': { ...control, backgroundImage: 'none', cursor: 'pointer' },
  '.cm-button:active': { backgroundImage: 'none', background: 'var(--sunken)' },
  '.cm-textfield:focus-visible, .cm-button:focus-visible, .cm-panel button:focus-visible': focusRing,
  '.cm-tooltip': { ...floating, zIndex: '60' },
  '.cm-tooltip.cm-tooltip-lint': { maxWidth: '480px' },
  '.cm-tooltip-autocomplete > ul': { font: 'var(--text-code)', maxHeight: '14em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { background: 'var(--accent-soft)', color: 'var(--ink)' },
  '.cm-completionMatchedText': { color: 'var(--accent)', fontWeight: '600', textDecoration: 'none' },
  '.cm-completionDetail': { color: 'var(--ink-2)', fontStyle: 'normal' },
  '.cm-diagnostic': { padding: '6px 8px', borderLeft: '3px solid var(--accent)', font: 'var(--text-2)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--danger)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
  '.cm-diagnosticSource': { color: 'var(--ink-2)' },
  '.cm-lintRange': { backgroundImage: 'none', textDecoration: 'underline wavy var(--accent)' },
  '.cm-lintRange-error': { textDecorationColor: 'var(--danger)' },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--warn)' },
  '.cm-lintRange-active': { background: 'var(--danger-soft)' },
  '.cm-lintPoint:after': { borderBottomColor: 'var(--danger)' },
  '.cm-lint-marker': {
    width: '10px',
    height: '10px',
    margin: '3px 0',
    borderRadius: '50%',
    background: 'var(--accent)',
  },
  '.cm-lint-marker-error, .cm-lint-marker-warning, .cm-lint-marker-info': { content: 'normal' },
  '.cm-lint-marker-error': { background: 'var(--danger)' },
  '.cm-lint-marker-warning': { background: 'var(--warn)', borderRadius: '0' },
})

const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null, tags.operatorKeyword, tags.modifier], color: 'var(--code-keyword)' },
  { tag: [tags.number, tags.typeName], color: 'var(--code-number)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.propertyName, tags.name], color: 'var(--ink)' },
  { tag: tags.standard(tags.name), color: 'var(--code-number)' },
  { tag: [tags.comment, tags.punctuation, tags.operator], color: 'var(--ink-2)' },
  { tag: tags.invalid, color: 'var(--danger)' },
])

export const editorLook: Extension = [theme, syntaxHighlighting(highlighting)]
