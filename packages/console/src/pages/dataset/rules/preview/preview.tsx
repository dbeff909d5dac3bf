/** What somebody would see and could write by the rules as they are on the page. */
import type { Dataset, DatasetsTryRulesAnswer } from '@graticule/client'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../../../components/error-note.tsx'
import { Note, Skeleton } from '../../../../components/note.tsx'
import { useRefusal } from '../../../../session/session.tsx'
import classes from '../rules.module.css'
import type { RulesDraft } from '../rules-draft.ts'
import { isUnbound, seenWords, writeWords } from './result-words.ts'
import { SeenRows } from './seen-rows.tsx'
import { usePreview } from './use-preview.ts'
import { rolesIn, type Viewer } from './viewer.ts'
import { ViewerChoice } from './viewer-choice.tsx'

export interface PreviewProps {
  dataset: Dataset
  draft: RulesDraft
  viewer: Viewer | null
  onViewer(viewer: Viewer | null): void
}

export function Preview(props: PreviewProps): ReactElement {
  const refusal = useRefusal()('datasets', 'execute', props.dataset.id)
  return (
    <section aria-label="Preview" className={classes.preview}>
      <div className={classes.trial}>
        <h2>As this user</h2>
        {refusal === undefined ? <Trial {...props} /> : <Note>{refusal}</Note>}
      </div>
    </section>
  )
}

function Trial({ dataset, draft, viewer, onViewer }: PreviewProps): ReactElement {
  const rules = draft.rules ?? []
  const { result, error, isLate } = usePreview(dataset, rules, viewer)
  return (
    <>
      <ViewerChoice viewer={viewer} roles={rolesIn(rules)} onViewer={onViewer} />
      {viewer && isUnbound(viewer, draft.rulesFor) && (
        <Note>
          These rules bind users only, so keys without a user see all that they grant. This is what they would see if
          the rules bound all callers.
        </Note>
      )}
      {error && <ErrorNote error={error} />}
      <div role="status" aria-busy={isLate}>
        {result && !error && <Seen {...result} />}
      </div>
      {result && !error && <Result dataset={dataset} answer={result.answer} />}
      {viewer && !result && !error && <Skeleton height={80} />}
    </>
  )
}

interface SeenProps {
  viewer: Viewer
  answer: DatasetsTryRulesAnswer
}

function Seen({ viewer, answer }: SeenProps): ReactElement {
  const words = seenWords(viewer, answer)
  return answer.count === 0 && answer.total > 0 ? <Note kind="warn">{words}</Note> : <p>{words}</p>
}

interface ResultProps {
  dataset: Dataset
  answer: DatasetsTryRulesAnswer
}

function Result({ dataset, answer }: ResultProps): ReactElement {
  return (
    <div className={classes.result}>
      {dataset.type === 'table' && <p className={classes.muted}>{writeWords(answer)}</p>}
      {answer.count > 0 && <SeenRows dataset={dataset} answer={answer} />}
    </div>
  )
}
