/** The filter of a layer: conditions for drawing a feature. */

import {
  type Attribute,
  isComplete,
  isNumeric,
  type LayerCondition,
  needsValue,
  operatorsFor,
} from '@graticule/map/recipe'
import type { ReactElement } from 'react'
import { Button, IconButton } from '../../../components/button.tsx'
import { Select, TextField } from '../../../components/field.tsx'
import classes from './panel.module.css'
import type { SectionProps } from './section.ts'

const filterable = ({ type }: Attribute): boolean => !['geometry', 'binary', 'json', 'array'].includes(type)

export function FilterSection({ recipe, attributes, change }: SectionProps): ReactElement {
  const { conditions } = recipe
  const choices = attributes.filter(filterable)
  const set = (next: LayerCondition[], of?: string) => change((now) => ({ ...now, conditions: next }), of)
  const [first] = choices
  return (
    <>
      {conditions.length === 0 && <p className={classes.hint}>All features are drawn.</p>}
      {conditions.map((condition, index) => (
        <ConditionFields
          key={index}
          condition={condition}
          number={index + 1}
          attributes={choices}
          onChange={(next) => set(conditions.with(index, next), `condition ${index}`)}
          onRemove={() => set(conditions.toSpliced(index, 1))}
        />
      ))}
      {conditions.length > 1 && <p className={classes.hint}>Only features that meet all conditions are drawn.</p>}
      {first && (
        <Button
          icon="plus"
          onClick={() =>
            set([
              ...conditions,
              { attribute: first.name, type: first.type, operator: operatorsFor(first.type)[0] ?? '=', value: '' },
            ])
          }
        >
          Add condition
        </Button>
      )}
    </>
  )
}

interface ConditionFieldsProps {
  condition: LayerCondition
  number: number
  attributes: readonly Attribute[]
  onChange(condition: LayerCondition): void
  onRemove(): void
}

function ConditionFields({ condition, number, attributes, onChange, onRemove }: ConditionFieldsProps): ReactElement {
  const { attribute, type, operator, value } = condition
  const isNumber = isNumeric(type)
  const choose = (name: string) => {
    const next = attributes.find((one) => one.name === name)
    if (!next) return
    const isSameType = next.type === type
    onChange({
      attribute: name,
      type: next.type,
      operator: isSameType ? operator : (operatorsFor(next.type)[0] ?? '='),
      value: isSameType ? value : '',
    })
  }
  return (
    <fieldset className={classes.condition} aria-label={`Condition ${number}`}>
      <Select
        label="Attribute"
        isLabelHidden
        value={attribute}
        options={attributes.map(({ name }) => name)}
        onChange={choose}
      />
      <IconButton icon="trash" label={`Remove condition ${number}`} onClick={onRemove} />
      <Select
        label="Operator"
        isLabelHidden
        value={operator}
        options={operatorsFor(type)}
        onChange={(next) => onChange({ ...condition, operator: next })}
      />
      {needsValue(operator) &&
        (type === 'boolean' ? (
          <Select
            label="Value"
            isLabelHidden
            value={value}
            options={[
              { value: '', label: 'Choose …' },
              { value: 'true', label: 'Yes' },
              { value: 'false', label: 'No' },
            ]}
            onChange={(next) => onChange({ ...condition, value: next })}
          />
        ) : (
          <TextField
            label="Value"
            isLabelHidden
            value={value}
            inputMode={isNumber ? 'decimal' : 'text'}
            placeholder={isNumber ? 'A number' : type === 'date' || type === 'datetime' ? '2027-01-31' : 'A text'}
            error={value !== '' && !isComplete(condition) ? 'Must be a number, such as 1000.' : undefined}
            onChange={(next) => onChange({ ...condition, value: next })}
          />
        ))}
    </fieldset>
  )
}
