/** What a click on a feature tells, in which order and format, and what stands beside the pointer. */
import {
  type Attribute,
  isNumeric,
  type LayerRecipe,
  type PopupField,
  type PopupFields,
  unchosenPopup,
} from '@graticule/map/recipe'
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { Checkbox, Select, TextField } from '../../../components/field.tsx'
import { Icon } from '../../../components/icon.tsx'
import classes from './panel.module.css'
import type { SectionProps } from './section.ts'

const nothing = ''
const tellable = ({ type }: Attribute): boolean => type !== 'geometry' && type !== 'binary'

/** The fields of a layer's popup; null: there is none. */
const popupOf = ({ popup }: LayerRecipe, attributes: readonly Attribute[]): PopupFields | null =>
  popup === undefined ? unchosenPopup(attributes.filter(tellable).map(({ name }) => name)) : popup

export function popupFact(recipe: LayerRecipe): string {
  if (recipe.popup === null) return recipe.hover ? 'hover' : 'none'
  const count = recipe.popup?.fields.length
  return count === undefined ? 'first fields' : count === 1 ? '1 field' : `${count} fields`
}

export function PopupSection({ recipe, attributes, change }: SectionProps): ReactElement {
  const choices = attributes.filter(tellable).map(({ name }) => name)
  const popup = popupOf(recipe, attributes)
  const set = (next: PopupFields | null, of?: string) => change((now) => ({ ...now, popup: next }), of)
  return (
    <>
      <Checkbox
        label="A click shows a popup"
        isChecked={popup !== null}
        onChange={(isOn) => set(isOn ? unchosenPopup(choices) : null)}
      />
      {popup && (
        <>
          <Select
            label="Heading"
            value={popup.title ?? nothing}
            options={[{ value: nothing, label: 'The name of the layer' }, ...choices]}
            onChange={(title) => set({ ...popup, title: title === nothing ? null : title })}
          />
          <FieldList popup={popup} attributes={attributes.filter(tellable)} onChange={set} />
        </>
      )}
      <Select
        label="Beside the pointer"
        value={recipe.hover ?? nothing}
        options={[{ value: nothing, label: 'Nothing' }, ...choices]}
        onChange={(hover) => change((now) => ({ ...now, hover: hover === nothing ? null : hover }))}
      />
    </>
  )
}

interface FieldListProps {
  popup: PopupFields
  attributes: readonly Attribute[]
  onChange(popup: PopupFields, of?: string): void
}

const fieldOf = (field: string | PopupField): PopupField => (typeof field === 'string' ? { name: field } : field)

function FieldList({ popup, attributes, onChange }: FieldListProps): ReactElement {
  const { fields } = popup
  const set = (next: (string | PopupField)[], of?: string) => onChange({ ...popup, fields: next }, of)
  const chosen = new Set(fields.map((field) => fieldOf(field).name))
  const others = attributes.filter(({ name }) => !chosen.has(name))
  const moved = (index: number, by: number) => fields.toSpliced(index, 1).toSpliced(index + by, 0, fields[index] ?? '')
  return (
    <>
      <ul aria-label="Fields of the popup" className={classes.fields}>
        {fields.map((field, index) => (
          <li key={fieldOf(field).name}>
            <FieldRow
              field={fieldOf(field)}
              type={attributes.find(({ name }) => name === fieldOf(field).name)?.type ?? 'string'}
              onChange={(next) => set(fields.with(index, next), `popup field ${index}`)}
              onUp={index === 0 ? undefined : () => set(moved(index, -1))}
              onRemove={() => set(fields.toSpliced(index, 1))}
            />
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <Select
          label="Add a field"
          value={nothing}
          options={[{ value: nothing, label: 'Choose …' }, ...others.map(({ name }) => name)]}
          onChange={(name) => name !== nothing && set([...fields, name])}
        />
      )}
    </>
  )
}

interface FieldRowProps {
  field: PopupField
  type: Attribute['type']
  onChange(field: PopupField): void
  onUp: (() => void) | undefined
  onRemove(): void
}

const formats = [
  { value: nothing, label: 'By the value' },
  { value: 'number', label: 'Number' },
  { value: 'date', label: 'Date' },
  { value: 'datetime', label: 'Date and time' },
  { value: 'text', label: 'Text as it is' },
  { value: 'link', label: 'Link' },
] as const

function FieldRow({ field, type, onChange, onUp, onRemove }: FieldRowProps): ReactElement {
  const { name, label, format, unit, digits } = field
  const isNumber = format === 'number' || (format === undefined && isNumeric(type))
  return (
    <details className={classes.field}>
      <summary>
        <span className={classes.chevron}>
          <Icon name="chevronRight" />
        </span>
        <span className={classes.grow} title={name}>
          {label ?? name}
        </span>
      </summary>
      <TextField
        label="Label"
        value={label ?? ''}
        placeholder={name}
        onChange={(text) => onChange(withValue(field, 'label', text))}
      />
      <Select
        label="Format"
        value={format ?? nothing}
        options={formats}
        onChange={(next) => onChange(withValue(field, 'format', next))}
      />
      {isNumber && (
        <div className={classes.row}>
          <TextField
            label="Unit"
            value={unit ?? ''}
            placeholder="km²"
            onChange={(text) => onChange(withValue(field, 'unit', text))}
          />
          <TextField
            label="Decimals"
            type="number"
            min={0}
            max={8}
            value={digits === undefined ? '' : String(digits)}
            placeholder="3"
            onChange={(text) => onChange(withDigits(field, text))}
          />
        </div>
      )}
      <div className={classes.row}>
        {onUp && (
          <Button icon="chevronUp" aria-label={`Move ${name} up`} onClick={onUp}>
            Move up
          </Button>
        )}
        <Button icon="trash" aria-label={`Remove ${name}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
    </details>
  )
}

/** An empty value is that of the attribute itself. */
function withValue(field: PopupField, name: 'label' | 'format' | 'unit', value: string): PopupField {
  const { [name]: _, ...others } = field
  return (value === '' ? others : { ...others, [name]: value }) as PopupField
}

const maxDigits = 8

function withDigits({ digits: _, ...field }: PopupField, text: string): PopupField {
  const digits = Number(text)
  return text === '' || !Number.isInteger(digits)
    ? field
    : { ...field, digits: Math.min(Math.max(digits, 0), maxDigits) }
}
