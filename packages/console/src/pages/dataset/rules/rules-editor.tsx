/** The rules as cards, whom they bind, and beside them what somebody would see by them. Nothing is saved until Save. */
import type { Dataset } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import { Button, IconButton } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import type { Faults } from '../../../components/faults/faults.ts'
import { useFaults } from '../../../components/faults/use-faults.ts'
import { Note } from '../../../components/note.tsx'
import { useMay } from '../../../session/session.tsx'
import { typesOf } from '../filter.ts'
import { ConflictError } from '../save-dataset.ts'
import { SaveBar } from '../settings/save-bar.tsx'
import { BoundChoice } from './bound-choice.tsx'
import { EmptyRules } from './empty-rules.tsx'
import { RuleDialog } from './form/rule-dialog.tsx'
import { Preview } from './preview/preview.tsx'
import type { Viewer } from './preview/viewer.ts'
import type { Rule } from './rule.ts'
import { RuleCard } from './rule-card.tsx'
import classes from './rules.module.css'
import { RulesConflict } from './rules-conflict.tsx'
import { type RulesDraft, withMore, withRule } from './rules-draft.ts'
import { newRule, type Template } from './templates.ts'
import { useRules } from './use-rules.ts'

/** A rule whose form is open; without an index a new one. */
interface OpenRule {
  index?: number
  rule: Rule
}

export interface RulesEditorProps {
  dataset: Dataset
}

export function RulesEditor({ dataset }: RulesEditorProps): ReactElement {
  const { draft, isEdited, save, read, change, discard } = useRules(dataset)
  const [open, setOpen] = useState<OpenRule | null>(null)
  const [viewer, setViewer] = useState<Viewer | null>({ kind: 'signed-in' })
  const mayTry = useMay()('datasets', 'execute', dataset.id)
  const faults = useFaults(save.error)
  const withOpen = (rule: Rule): RulesDraft =>
    open?.index === undefined ? withMore(draft, rule) : withRule(draft, open.index, rule)
  const add = () => setOpen({ rule: newRule() })
  const begin = ({ rule, draft: complete }: Template) => {
    if (rule) setOpen({ rule: rule(dataset) })
    else if (complete) change(complete(dataset))
  }
  return (
    <div className={classes.tab}>
      <form
        className={classes.main}
        onSubmit={(event) => {
          event.preventDefault()
          if (isEdited) save.mutate(read)
        }}
      >
        <h2>Rules</h2>
        {draft.rules === null ? (
          <EmptyRules onTemplate={begin} onAdd={add} />
        ) : (
          <Cards
            dataset={dataset}
            draft={draft}
            rules={draft.rules}
            faults={faults}
            change={change}
            onAdd={add}
            onEdit={(index, rule) => setOpen({ index, rule })}
          />
        )}
        <SaveFault error={save.error} draft={draft} onDiscard={discard} onSaveMine={save.mutate} />
        <SaveBar isEdited={isEdited} isSaving={save.isPending} datasetId={dataset.id} onDiscard={discard} />
      </form>
      {draft.rules && <Preview dataset={dataset} draft={draft} viewer={viewer} onViewer={setViewer} />}
      {open && (
        <RuleDialog
          title={open.index === undefined ? 'Add a rule' : `Edit rule ${open.index + 1}`}
          action={open.index === undefined ? 'Add' : 'Apply'}
          rule={open.rule}
          viewer={mayTry ? viewer : null}
          withAll={(rule) => withOpen(rule).rules ?? []}
          onClose={() => setOpen(null)}
          onDone={(rule) => {
            change(withOpen(rule))
            setOpen(null)
          }}
        />
      )}
    </div>
  )
}

interface CardsProps {
  dataset: Dataset
  draft: RulesDraft
  rules: readonly Rule[]
  faults: Faults
  change(draft: RulesDraft): void
  onAdd(): void
  onEdit(index: number, rule: Rule): void
}

function Cards({ dataset, draft, rules, faults, change, onAdd, onEdit }: CardsProps): ReactElement {
  const types = typesOf(dataset)
  return (
    <>
      <p className={classes.muted}>
        A rule narrows what a key grants. Several that fit add up; whom none fits sees no row.
      </p>
      {rules.length === 0 && <NoRule />}
      <ul aria-label="Rules" className={classes.cards}>
        {rules.map((rule, index) => (
          <RuleCard key={index} rule={rule} types={types} faults={faults.under(`rules/${index}`)}>
            <IconButton icon="edit" label={`Edit rule ${index + 1}`} onClick={() => onEdit(index, rule)} />
            <IconButton
              icon="copy"
              label={`Duplicate rule ${index + 1}`}
              onClick={() => change(withRule(draft, index, rule, rule))}
            />
            <IconButton
              icon="trash"
              label={`Remove rule ${index + 1}`}
              onClick={() => change(withRule(draft, index))}
            />
          </RuleCard>
        ))}
      </ul>
      <div className={classes.line}>
        <Button icon="plus" onClick={onAdd}>
          Add rule
        </Button>
        <Button variant="ghost" onClick={() => change({ ...draft, rules: null })}>
          Lift all rules
        </Button>
      </div>
      <BoundChoice
        value={draft.rulesFor}
        error={faults.at('rulesFor')}
        onChange={(rulesFor) => change({ ...draft, rulesFor })}
      />
    </>
  )
}

function NoRule(): ReactElement {
  return (
    <Note kind="warn">
      There is no rule, so whomever the rules bind sees no row. “Lift all rules” gives them back what their keys grant.
    </Note>
  )
}

interface SaveFaultProps {
  error: unknown
  draft: RulesDraft
  onDiscard(): void
  onSaveMine(theirs: Dataset): void
}

function SaveFault({ error, draft, onDiscard, onSaveMine }: SaveFaultProps): ReactElement | null {
  if (!error) return null
  if (!(error instanceof ConflictError)) return <ErrorNote error={error} />
  const { theirs } = error
  return <RulesConflict draft={draft} theirs={theirs} onTakeTheirs={onDiscard} onSaveMine={() => onSaveMine(theirs)} />
}
