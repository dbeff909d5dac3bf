/** The rules of a dataset: who sees and writes which of its rows. */
import type { Dataset } from '@graticule/client'
import type { ReactElement } from 'react'
import { Note, Skeleton } from '../../../components/note.tsx'
import { useDataset } from '../dataset.ts'
import { typesOf } from '../filter.ts'
import { boundLabels } from './bound-choice.tsx'
import { RuleCard } from './rule-card.tsx'
import classes from './rules.module.css'
import { RulesEditor } from './rules-editor.tsx'
import { useRuleAccess } from './use-rule-access.ts'

export function RulesTab(): ReactElement {
  const dataset = useDataset()
  const { isLoading, refusal } = useRuleAccess(dataset)
  if (isLoading) return <Skeleton height={120} />
  if (refusal !== undefined) return <ShownRules dataset={dataset} refusal={refusal} />
  return <RulesEditor key={dataset.id} dataset={dataset} />
}

interface ShownRulesProps {
  dataset: Dataset
  refusal: string
}

function ShownRules({ dataset, refusal }: ShownRulesProps): ReactElement {
  const { rules, rulesFor } = dataset
  return (
    <div className={classes.main}>
      <h2>Rules</h2>
      <Note>{refusal}</Note>
      {rules && <p className={classes.muted}>{boundLabels[rulesFor]}</p>}
      {rules && (
        <ul aria-label="Rules" className={classes.cards}>
          {rules.map((rule, index) => (
            <RuleCard key={index} rule={rule} types={typesOf(dataset)} />
          ))}
        </ul>
      )}
    </div>
  )
}
