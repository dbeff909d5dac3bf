/** Values that the server writes, whatever is sent. */
import type { ReactElement } from 'react'
import { Button, IconButton } from '../../../../components/button.tsx'
import { Select, TextField } from '../../../../components/field.tsx'
import { useDataset } from '../../dataset.ts'
import classes from '../rules.module.css'
import type { RulePartProps } from './form-props.ts'
import { OperandSource } from './operand-source.tsx'
import { isWriting } from './rule-draft.ts'
import { newSetValue, type SetDraft, setHint } from './set-draft.ts'

/** Only where rows are written. */
export function SetFields({ draft: { levels, set }, change }: RulePartProps): ReactElement | null {
  const { attributes } = useDataset()
  const free = attributes.filter(
    ({ name, primaryKey }) => !primaryKey && !set.some((one) => one.attribute.name === name),
  )
  if (!isWriting(levels) && set.length === 0) return null
  const replace = (place: number, ...next: SetDraft[]) => change({ set: set.toSpliced(place, 1, ...next) })
  const [first] = free
  return (
    <fieldset className={classes.group}>
      <legend>What the server writes</legend>
      <p className={classes.muted}>Whatever is sent, these values are written into rows that are added or changed.</p>
      {set.map((value, place) => (
        <fieldset key={place} className={classes.condition}>
          <legend className="visually-hidden">Written value {place + 1}</legend>
          <SetValue value={value} onValue={(next) => replace(place, next)} />
          <IconButton
            icon="trash"
            label={`Remove written value ${place + 1}`}
            className={classes.remove ?? ''}
            onClick={() => replace(place)}
          />
        </fieldset>
      ))}
      {first && (
        <div className={classes.line}>
          <Button icon="plus" onClick={() => change({ set: [...set, newSetValue(first)] })}>
            Written value
          </Button>
        </div>
      )}
    </fieldset>
  )
}

interface SetValueProps {
  value: SetDraft
  onValue(value: SetDraft): void
}

function SetValue({ value, onValue }: SetValueProps): ReactElement {
  const { attributes } = useDataset()
  const { attribute, source, texts } = value
  const choose = (name: string) => {
    const next = attributes.find((one) => one.name === name)
    if (next) onValue({ ...value, attribute: next, texts: [] })
  }
  return (
    <div className={classes.operands}>
      <Select
        label="Written attribute"
        isLabelHidden
        value={attribute.name}
        options={attributes.map(({ name }) => name)}
        onChange={choose}
      />
      <OperandSource label="Written value" operand={value} onOperand={(operand) => onValue({ ...value, ...operand })} />
      {source === 'value' && (
        <TextField
          label="Value"
          isLabelHidden
          placeholder={setHint(attribute)}
          autoComplete="off"
          spellCheck={false}
          value={texts[0] ?? ''}
          onChange={(text) => onValue({ ...value, texts: [text] })}
        />
      )}
    </div>
  )
}
