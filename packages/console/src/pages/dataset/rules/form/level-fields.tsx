/** What a rule allows. */
import type { ReactElement } from 'react'
import { Checkbox } from '../../../../components/field.tsx'
import { type RuleLevel, ruleLevels } from '../rule.ts'
import classes from '../rules.module.css'
import type { RulePartProps } from './form-props.ts'

const labels: Readonly<Record<RuleLevel, string>> = {
  read: 'See rows',
  append: 'Add rows',
  change: 'Change rows',
  delete: 'Delete rows',
}

export function LevelFields({ draft: { levels }, change }: RulePartProps): ReactElement {
  const toggle = (level: RuleLevel, isChosen: boolean) =>
    change({ levels: ruleLevels.filter((one) => (one === level ? isChosen : levels.includes(one))) })
  return (
    <fieldset className={classes.group}>
      <legend>What they may do</legend>
      <div className={classes.choices}>
        {ruleLevels.map((level) => (
          <Checkbox
            key={level}
            label={labels[level]}
            isChecked={levels.includes(level)}
            onChange={(isChosen) => toggle(level, isChosen)}
          />
        ))}
      </div>
    </fieldset>
  )
}
