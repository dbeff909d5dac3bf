/** The style as JSON, validated while typing, next to the map. */
import { ApiError } from '@graticule/client'
import { type StyleSpecification, validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { type ReactElement, useDeferredValue, useEffect, useEffectEvent, useMemo, useState } from 'react'
import { CodeEditor } from '../../components/code-editor/code-editor.tsx'
import { Note } from '../../components/note.tsx'
import { useEditor } from './editor-context.tsx'
import type { EditorActions, EditorState } from './editor-store.ts'
import classes from './json-tab.module.css'
import { digestOf } from './recipe/digest.ts'
import { type StyleFault, styleFaults } from './style-faults.ts'
import { StyleMap } from './style-map.tsx'
import type { Save } from './use-save.ts'

/** Debounce, because validation takes up to 100 ms. */
const quietMs = 300

interface JsonTabProps {
  state: EditorState
  actions: EditorActions
  saving: Save
}

export function JsonTab({ state, actions, saving }: JsonTabProps): ReactElement {
  const { document, map } = useEditor()
  const drawn = useDeferredValue(document.style)
  const written = useMemo(() => JSON.stringify(inOrder(document.style), null, 2), [document.style])
  const [text, setText] = useState(state.draft ?? written)
  const [shown, setShown] = useState(document.style)
  const [faults, setFaults] = useState<readonly StyleFault[]>([])
  // Undo, redo and other tabs change the document outside this editor.
  if (shown !== document.style && state.draft === null) {
    setShown(document.style)
    if (!isSameJson(text, document.style)) setText(written)
  }
  const check = useEffectEvent((typed: string) => {
    const { style, faults: newFaults } = styleFaults(typed, validateStyleMin)
    setFaults(newFaults)
    if (!style) return actions.setDraft(typed)
    if (isSameJson(typed, document.style)) return actions.setDraft(null)
    setShown(style)
    actions.change((now) => ({ ...now, style }), 'json')
  })
  useEffect(() => {
    const timer = setTimeout(() => check(text), quietMs)
    return () => clearTimeout(timer)
  }, [text])
  const diagnostics = [...faults, ...serverFaults(saving.error)]
  return (
    <div className={classes.json}>
      <section className={classes.editor} aria-label="Style as JSON">
        <CodeEditor
          language="json"
          label="Style"
          value={text}
          isFilling
          diagnostics={diagnostics}
          onChange={setText}
          onSave={() => faults.length === 0 && saving.save()}
        />
        <Faults faults={diagnostics} />
      </section>
      <div className={classes.map}>
        <StyleMap
          label={`Map ${document.name}`}
          style={drawn}
          onReady={(ready) => {
            map.current = ready
          }}
        />
      </div>
    </div>
  )
}

interface FaultsProps {
  faults: readonly StyleFault[]
}

function Faults({ faults }: FaultsProps): ReactElement | null {
  const [first] = faults
  if (!first) return null
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
  return (
    <div role="status">
      <Note kind="danger">
        {first.path && <code>{first.path}</code>} {first.message}
        {more} The map shows the last version without errors.
      </Note>
    </div>
  )
}

/** The most important members first, because the database does not preserve the order. */
const inOrder = ({ version, name, metadata, center, zoom, ...rest }: StyleSpecification): object => {
  const { sources, glyphs, sprite, layers, ...others } = rest
  return { version, name, metadata, center, zoom, ...others, glyphs, sprite, sources, layers }
}

function isSameJson(text: string, style: StyleSpecification): boolean {
  try {
    return digestOf(JSON.parse(text)) === digestOf(style)
  } catch {
    return false
  }
}

/** Errors that only the server detects, such as a style that is too large. */
const serverFaults = (error: unknown): StyleFault[] =>
  error instanceof ApiError
    ? (error.errors ?? []).map(({ path, message }) => ({
        path: path.replace(/^body\/style\/?/, ''),
        message,
        severity: 'error',
      }))
    : []
