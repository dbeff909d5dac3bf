/** Which attributes a rule shows and lets write: all, or chosen ones. */
import type { ReactElement } from 'react'
import { Checkbox, Segmented } from '../../../../components/field.tsx'
import { keyOf, useDataset } from '../../dataset.ts'
import classes from '../rules.module.css'
import type { RulePartProps } from './form-props.ts'

export function AttributeFields({ draft: { attributes: chosen }, change }: RulePartProps): ReactElement {
  const dataset = useDataset()
  const names = dataset.attributes.map(({ name }) => name)
  const gone = chosen?.filter((name) => !names.includes(name)) ?? []
  const isKeyHidden = chosen !== null && keyOf(dataset).some(({ name }) => !chosen.includes(name))
  return (
    <fieldset className={classes.group}>
      <legend>Which attributes</legend>
      <Segmented
        label="Which attributes"
        value={chosen ? 'chosen' : 'all'}
        options={[
          { value: 'all', label: 'All attributes' },
          { value: 'chosen', label: 'Only these …' },
        ]}
        onChange={(next) => change({ attributes: next === 'all' ? null : (chosen ?? names) })}
      />
      {chosen && (
        <div className={classes.choices}>
          {[...names, ...gone].map((name) => (
            <Checkbox
              key={name}
              label={gone.includes(name) ? `${name} (not there any more)` : name}
              isChecked={chosen.includes(name)}
              onChange={(isChosen) =>
                change({
                  attributes: [...names, ...gone].filter((one) => (one === name ? isChosen : chosen.includes(one))),
                })
              }
            />
          ))}
        </div>
      )}
      {isKeyHidden && (
        <p className={classes.muted}>
          Without the key (
          {keyOf(dataset)
            .map(({ name }) => name)
            .join(', ')}
          ) no single row can be opened, changed or deleted.
        </p>
      )}
    </fieldset>
  )
}
