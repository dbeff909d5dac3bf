/** Somebody else has saved other rules meanwhile. */
import type { Dataset } from '@graticule/client'
import type { ReactElement } from 'react'
import { type Difference, EditConflict } from '../../../components/records/edit-conflict.tsx'
import { formatDate } from '../../../format.ts'
import { typesOf } from '../filter.ts'
import { boundLabels } from './bound-choice.tsx'
import { ruleSentence } from './rule-sentence.ts'
import type { RulesDraft } from './rules-draft.ts'

export interface RulesConflictProps {
  draft: RulesDraft
  theirs: Dataset
  onTakeTheirs(): void
  onSaveMine(): void
}

export function RulesConflict({ draft, theirs, onTakeTheirs, onSaveMine }: RulesConflictProps): ReactElement {
  const words = ({ rules }: Pick<RulesDraft, 'rules'>): string =>
    rules?.map((rule) => ruleSentence(rule, typesOf(theirs))).join('\n') ?? 'No rules'
  const all: readonly Difference[] = [
    { name: 'Rules', mine: words(draft), theirs: words(theirs) },
    { name: 'Bound', mine: boundLabels[draft.rulesFor], theirs: boundLabels[theirs.rulesFor] },
  ]
  return (
    <EditConflict
      of="Field"
      differences={all.filter((one) => one.mine !== one.theirs)}
      onTakeTheirs={onTakeTheirs}
      onSaveMine={onSaveMine}
    >
      Somebody else saved rules of this dataset at {formatDate(theirs.updatedAt)}, after you began. Nothing of yours was
      saved yet.
    </EditConflict>
  )
}
