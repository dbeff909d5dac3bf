/** A code editor for JSON and SQL, lazily loaded, because it is larger than the rest of the console. */
import { lazy, type ReactElement, Suspense } from 'react'
import { Skeleton } from '../note.tsx'
import type { CodeEditorProps } from './editor-props.ts'

const EditorElement = lazy(async () => ({ default: (await import('./editor-view.tsx')).EditorElement }))

export function CodeEditor(props: CodeEditorProps): ReactElement {
  return (
    <Suspense fallback={<Skeleton height={props.isFilling ? '100%' : (props.minHeight ?? 120)} />}>
      <EditorElement {...props} />
    </Suspense>
  )
}
