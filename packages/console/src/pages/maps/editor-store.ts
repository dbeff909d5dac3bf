/**
 * The store of map editors: each map's document with its history, in memory, so that unsaved changes survive navigation. It
 * is keyed by client, so that the next user to sign in finds nothing.
 */
import type { Client, Style } from '@graticule/client'
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { useSyncExternalStore } from 'react'
import { useClient } from '../../session/session.tsx'
import { beginHistory, changed, type History, redone, undone } from './history.ts'

export interface MapDocument {
  name: string
  description: string
  style: StyleSpecification
}

export interface EditorState {
  /** The record as last read or written; null for a new map. */
  readonly record: Style | null
  readonly etag: string | null
  readonly saved: MapDocument | null
  readonly history: History<MapDocument>
  /** For a new map: the dataset that it was created with. */
  readonly origin: string | undefined
  /** Invalid JSON in the editor, which is not part of the document. */
  readonly draft: string | null
}

/** Used in the URL instead of an id for a new map. */
export const newMapId = 'new'

type EditorStates = Map<string, EditorState>
const statesByClient = new WeakMap<Client, EditorStates>()
const listeners = new Set<() => void>()

function statesOf(client: Client): EditorStates {
  const states = statesByClient.get(client) ?? new Map()
  statesByClient.set(client, states)
  return states
}

function put(client: Client, id: string, state: EditorState | null): void {
  if (state) statesOf(client).set(id, state)
  else statesOf(client).delete(id)
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const isUnsaved = ({ saved, history, draft }: EditorState): boolean =>
  history.present !== saved || draft !== null

/** Whether discarding a new map would lose any changes. */
export const isTouched = ({ history, draft }: EditorState): boolean => history.past.length > 0 || draft !== null

/** The editor's state for a map; undefined if it is not open. */
export function useEditorState(id: string): EditorState | undefined {
  const client = useClient()
  return useSyncExternalStore(subscribe, () => statesOf(client).get(id))
}

export interface EditorActions {
  /** Opens a record of the server. */
  open(record: Style, etag: string | null): void
  begin(document: MapDocument, origin: string | undefined): void
  /** Quick consecutive changes with the same `of` are one undo step. */
  change(change: (document: MapDocument) => MapDocument, of?: string): void
  undo(): void
  redo(): void
  setDraft(text: string | null): void
  /** Records a successful save. A new map moves to its id. */
  markSaved(record: Style, etag: string | null, sent: MapDocument): void
  discard(): void
}

export function useEditorActions(id: string): EditorActions {
  const client = useClient()
  const update = (next: (state: EditorState) => EditorState) => {
    const state = statesOf(client).get(id)
    if (state) put(client, id, next(state))
  }
  const move = (step: (history: History<MapDocument>) => History<MapDocument>) =>
    update((state) => ({ ...state, history: step(state.history), draft: null }))
  return {
    open(record, etag) {
      const saved = documentOf(record)
      put(client, id, { record, etag, saved, history: beginHistory(saved), origin: undefined, draft: null })
    },
    begin: (document, origin) =>
      put(client, id, { record: null, etag: null, saved: null, history: beginHistory(document), origin, draft: null }),
    change: (change, of) =>
      update((state) => {
        const next = change(state.history.present)
        return next === state.history.present
          ? state
          : { ...state, history: changed(state.history, next, of), draft: null }
      }),
    undo: () => move(undone),
    redo: () => move(redone),
    setDraft: (draft) => update((state) => (state.draft === draft ? state : { ...state, draft })),
    markSaved(record, etag, sent) {
      update((state) => ({ ...state, record, etag, saved: sent }))
      const state = statesOf(client).get(id)
      if (state && record.id !== id) {
        put(client, record.id, state)
        put(client, id, null)
      }
    },
    discard: () => put(client, id, null),
  }
}

const documentOf = ({ name, description, style }: Style): MapDocument => ({
  name,
  description,
  style: style as unknown as StyleSpecification,
})
