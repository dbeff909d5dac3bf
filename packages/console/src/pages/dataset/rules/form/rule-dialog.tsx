/** The form of one rule. It changes the draft of the page; the page saves. */
import { type ReactElement, useState } from 'react'
import { FormDialog } from '../../../../components/form-dialog.tsx'
import { useDataset } from '../../dataset.ts'
import { typesOf } from '../../filter.ts'
import { isEqual } from '../../settings/merge-patch.ts'
import { PreviewLine } from '../preview/preview-line.tsx'
import type { Viewer } from '../preview/viewer.ts'
import type { Rule } from '../rule.ts'
import { ruleSentence } from '../rule-sentence.ts'
import classes from '../rules.module.css'
import { AttributeFields } from './attribute-fields.tsx'
import { LevelFields } from './level-fields.tsx'
import { RowFields } from './row-fields.tsx'
import { draftOf, type RuleDraft, ruleOf } from './rule-draft.ts'
import { SetFields } from './set-fields.tsx'
import { WhoFields } from './who-fields.tsx'

export interface RuleDialogProps {
  title: string
  rule: Rule
  /** What the button says. */
  action: string
  /** Null: nobody is chosen as whom rules are tried. */
  viewer: Viewer | null
  /** All rules, with this one as it is in the form. */
  withAll(rule: Rule): readonly Rule[]
  onDone(rule: Rule): void
  onClose(): void
}

export function RuleDialog(props: RuleDialogProps): ReactElement {
  const { title, rule, action, viewer, withAll, onDone, onClose } = props
  const dataset = useDataset()
  const [draft, setDraft] = useState(() => draftOf(rule, dataset.attributes))
  const [isAsked, setAsked] = useState(false)
  const read = ruleOf(draft, rule, dataset.attributes)
  const change = (part: Partial<RuleDraft>) => {
    setAsked(false)
    setDraft((before) => ({ ...before, ...part }))
  }
  const isChanged = !isEqual(draft, draftOf(rule, dataset.attributes))
  // A stray Escape or click beside the dialog loses nothing: the second one does.
  const leave = () => (isChanged && !isAsked ? setAsked(true) : onClose())
  return (
    <FormDialog
      title={title}
      kind="wide"
      labels={[action, action]}
      isPending={false}
      missing={'missing' in read ? read.missing : undefined}
      isCheckedHere
      onClose={leave}
      onSubmit={() => 'value' in read && onDone(read.value)}
    >
      <WhoFields draft={draft} change={change} />
      <LevelFields draft={draft} change={change} />
      <RowFields draft={draft} change={change} />
      <AttributeFields draft={draft} change={change} />
      <SetFields draft={draft} change={change} />
      <p className={classes.spoken}>
        {'value' in read ? ruleSentence(read.value, typesOf(dataset)) : `Not complete yet. ${read.missing}`}
      </p>
      {'value' in read && viewer && <PreviewLine rules={withAll(read.value)} viewer={viewer} />}
      {isAsked && (
        <p role="alert" className={classes.leaving}>
          What you changed here is not in the rule yet. Close again to discard it.
        </p>
      )}
    </FormDialog>
  )
}
