/** Which rows: all, those for which conditions hold, or what only JSON can say. */
import { type ReactElement, useMemo } from 'react'
import { Button, IconButton } from '../../../../components/button.tsx'
import { CodeEditor } from '../../../../components/code-editor/code-editor.tsx'
import { Segmented } from '../../../../components/field.tsx'
import { type DatasetAttribute, useDataset } from '../../dataset.ts'
import { operatorWords } from '../../query/query-grammar.ts'
import { callerSourceNames, callerSources } from '../caller-value.ts'
import classes from '../rules.module.css'
import { newCondition, type RuleConditionDraft } from './condition-draft.ts'
import { ConditionFields } from './condition-fields.tsx'
import type { RulePartProps } from './form-props.ts'
import { type RowsDraft, rowsAs } from './rule-draft.ts'

export function RowFields({ draft: { rows }, change }: RulePartProps): ReactElement {
  const { attributes } = useDataset()
  const set = (next: RowsDraft) => change({ rows: next })
  const asConditions = rowsAs('conditions', rows, attributes)
  return (
    <fieldset className={classes.group}>
      <legend>Which rows</legend>
      <Segmented
        label="Which rows"
        value={rows.kind}
        options={[
          { value: 'all', label: 'All rows' },
          { value: 'conditions', label: 'Rows where …', isDisabled: asConditions === undefined },
          { value: 'json', label: 'As JSON' },
        ]}
        onChange={(kind) => set(rowsAs(kind, rows, attributes) ?? rows)}
      />
      {rows.kind === 'conditions' && <ConditionList rows={rows} onRows={set} />}
      {rows.kind === 'json' && (
        <WhereEditor text={rows.json} isMore={asConditions === undefined} onText={(json) => set({ ...rows, json })} />
      )}
    </fieldset>
  )
}

interface ConditionListProps {
  rows: RowsDraft
  onRows(rows: RowsDraft): void
}

function ConditionList({ rows, onRows }: ConditionListProps): ReactElement {
  const { attributes } = useDataset()
  const { conditions, join } = rows
  const replace = (place: number, ...next: RuleConditionDraft[]) =>
    onRows({ ...rows, conditions: conditions.toSpliced(place, 1, ...next) })
  const first = firstOf(attributes)
  return (
    <>
      {conditions.map((condition, place) => (
        <fieldset key={place} className={classes.condition}>
          <legend className="visually-hidden">Condition {place + 1}</legend>
          <ConditionFields draft={condition} onDraft={(next) => replace(place, next)} />
          <IconButton
            icon="trash"
            label={`Remove condition ${place + 1}`}
            className={classes.remove ?? ''}
            disabledReason={conditions.length === 1 ? 'Choose “All rows” to have no condition.' : undefined}
            onClick={() => replace(place)}
          />
        </fieldset>
      ))}
      <div className={classes.line}>
        {first && (
          <Button icon="plus" onClick={() => onRows({ ...rows, conditions: [...conditions, newCondition(first)] })}>
            Condition
          </Button>
        )}
        {conditions.length > 1 && (
          <Segmented
            label="Which conditions must hold"
            value={join}
            options={[
              { value: 'all', label: 'All must hold' },
              { value: 'any', label: 'One is enough' },
            ]}
            onChange={(next) => onRows({ ...rows, join: next })}
          />
        )}
      </div>
    </>
  )
}

/** Owners are rarely in the key. */
const firstOf = (attributes: readonly DatasetAttribute[]): DatasetAttribute | undefined =>
  attributes.find(({ primaryKey }) => !primaryKey) ?? attributes[0]

interface WhereEditorProps {
  text: string
  /** Whether it is more than the form shows. */
  isMore: boolean
  onText(text: string): void
}

const callerWords = callerSourceNames.map((source) => {
  const { variable, label } = callerSources[source]
  return { label: `"${variable}"`, detail: label, type: 'variable' }
})

function WhereEditor({ text, isMore, onText }: WhereEditorProps): ReactElement {
  const { attributes } = useDataset()
  const completions = useMemo(
    () => [
      ...attributes.map(({ name, type }) => ({ label: name, detail: type, type: 'property' })),
      ...operatorWords,
      ...callerWords,
    ],
    [attributes],
  )
  return (
    <>
      <CodeEditor
        language="json"
        label="Rows as JSON"
        value={text}
        completions={completions}
        minHeight={96}
        onChange={onText}
      />
      <p className={classes.muted}>
        {isMore && 'These conditions are more than a list, or not complete: they stay as they are written here. '}
        Such as <code>{'{"owner": "$user.email"}'}</code>; the grammar is that of queries. Two dollars begin a text with
        one.
      </p>
    </>
  )
}
