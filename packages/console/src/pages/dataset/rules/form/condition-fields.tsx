/** One condition of a rule: attribute, operator, and what it is compared with. */
import type { ReactElement } from 'react'
import { Select } from '../../../../components/field.tsx'
import { useDataset } from '../../dataset.ts'
import { ValueFields } from '../../table/filter/value-fields.tsx'
import { isFilterOperator, ruleOperators, ruleOperatorsOf } from '../rule-operators.ts'
import classes from '../rules.module.css'
import { newCondition, type RuleConditionDraft, withOperator } from './condition-draft.ts'
import { OperandSource } from './operand-source.tsx'

export interface ConditionFieldsProps {
  draft: RuleConditionDraft
  onDraft(draft: RuleConditionDraft): void
}

export function ConditionFields({ draft, onDraft }: ConditionFieldsProps): ReactElement {
  const { attributes } = useDataset()
  const { attribute, operator } = draft
  const { takes, takesCaller } = ruleOperators[operator]
  const choose = (name: string) => {
    const next = attributes.find((one) => one.name === name)
    if (next) onDraft(next.type === attribute.type ? { ...draft, attribute: next, texts: [] } : newCondition(next))
  }
  return (
    <div className={classes.operands}>
      <Select
        label="Attribute"
        isLabelHidden
        value={attribute.name}
        options={attributes.map(({ name }) => name)}
        onChange={choose}
      />
      <Select
        label="Operator"
        isLabelHidden
        value={operator}
        options={ruleOperatorsOf(attribute.type).map((name) => ({ value: name, label: ruleOperators[name].label }))}
        onChange={(next) => onDraft(withOperator(draft, next))}
      />
      {takesCaller && (
        <OperandSource
          label="Compared with"
          operand={draft}
          hasFixed={takes !== 'caller'}
          onOperand={(operand) => onDraft({ ...draft, ...operand })}
        />
      )}
      {draft.source === 'value' && isFilterOperator(operator) && (
        <ValueFields
          draft={{ attribute, operator, texts: draft.texts }}
          isShowingErrors={false}
          isFocused={false}
          onTexts={(texts) => onDraft({ ...draft, texts })}
        />
      )}
    </div>
  )
}
