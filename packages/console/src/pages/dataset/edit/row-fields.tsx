/** The fields of a row: one for each column, by its type, with null and default as choices of their own. */

import { isNumeric } from '@graticule/map/recipe'
import type { ReactElement } from 'react'
import { Field, Select } from '../../../components/field.tsx'
import type { DatasetAttribute } from '../dataset.ts'
import { type CellDraft, emptied, isNull, leftOut } from './cell-draft.ts'
import { type CellFieldProps, placeholderOf } from './cell-field.ts'
import classes from './edit.module.css'
import { GeometryField } from './geometry-field.tsx'

export function CellField(props: CellFieldProps): ReactElement {
  const { attribute, isNew } = props
  const isFixed = (attribute.primaryKey && !isNew) || attribute.generated === 'always'
  if (isFixed) return <FixedField {...props} />
  return (
    <div className={classes.cell}>
      <Control {...props} />
      <Modes {...props} />
    </div>
  )
}

function Control(props: CellFieldProps): ReactElement {
  const { type } = props.attribute
  if (type === 'boolean') return <BooleanField {...props} />
  if (type === 'geometry') return <GeometryField {...props} />
  return type in areas ? <AreaField {...props} /> : <InputField {...props} />
}

function FixedField({ attribute: { name, generated }, cell }: CellFieldProps): ReactElement {
  const hint = generated === 'always' ? 'The database gives this value.' : 'The key of a row cannot be changed.'
  return (
    <Field label={name} hint={hint}>
      {({ className, ...control }) => (
        <input {...control} className={`${className} ${classes.fixed}`} readOnly value={cell.text} />
      )}
    </Field>
  )
}

/** Choices that are no text. A boolean has them in its list. */
function Modes({ attribute, cell, isNew, onChange }: CellFieldProps): ReactElement {
  const { name, dbType, nullable, type } = attribute
  const modes = [
    ...(isNew ? [{ label: 'default', draft: leftOut }] : []),
    ...(nullable ? [{ label: 'null', draft: isNull }] : []),
  ]
  return (
    <div className={classes.modes}>
      <small title={dbType}>{dbType}</small>
      {type !== 'boolean' &&
        modes.map(({ label, draft }) => {
          const isOn = cell.mode === draft.mode
          return (
            <button
              key={label}
              type="button"
              aria-label={`${label} for ${name}`}
              aria-pressed={isOn}
              onClick={() => onChange(isOn ? { mode: 'value', text: '' } : draft)}
            >
              {label}
            </button>
          )
        })}
    </div>
  )
}

/** Long texts, which may have several lines, and whether they are code. */
const areas: Partial<Record<DatasetAttribute['type'], string | undefined>> = {
  string: undefined,
  json: classes.code,
  array: classes.code,
  binary: classes.code,
}

function AreaField({ attribute, cell, isNew, error, onChange }: CellFieldProps): ReactElement {
  return (
    <Field label={attribute.name} error={error} hint={attribute.description}>
      {({ className, ...control }) => (
        <textarea
          {...control}
          className={[className, classes.area, areas[attribute.type]].filter(Boolean).join(' ')}
          rows={1}
          spellCheck={attribute.type === 'string'}
          placeholder={placeholderOf({ attribute, cell })}
          value={cell.text}
          onChange={({ target: { value } }) => onChange(typed(attribute, value, isNew))}
        />
      )}
    </Field>
  )
}

/** A browser's own field of dates shows nothing for others, such as `infinity`. */
const plainDate = /^(\d{4}-\d\d-\d\d)?$/

function InputField({ attribute, cell, isNew, error, onChange }: CellFieldProps): ReactElement {
  const { type, name, description } = attribute
  return (
    <Field label={name} error={error} hint={description}>
      {(control) => (
        <input
          {...control}
          type={type === 'date' && plainDate.test(cell.text) ? 'date' : 'text'}
          inputMode={isNumeric(type) ? 'decimal' : 'text'}
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholderOf({ attribute, cell })}
          value={cell.text}
          onChange={({ target: { value } }) => onChange(typed(attribute, value, isNew))}
        />
      )}
    </Field>
  )
}

const typed = (attribute: DatasetAttribute, text: string, isNew: boolean): CellDraft =>
  text === '' ? emptied(attribute, isNew) : { mode: 'value', text }

function BooleanField({ attribute, cell, isNew, error, onChange }: CellFieldProps): ReactElement {
  const { name, nullable, description } = attribute
  const isUnset = cell.mode === 'value' && cell.text === ''
  return (
    <Select
      label={name}
      error={error}
      hint={description}
      value={cell.mode === 'value' ? cell.text : cell.mode}
      options={[
        ...(isNew ? ['default'] : []),
        ...(nullable ? ['null'] : []),
        ...(isUnset ? [{ value: '', label: 'choose' }] : []),
        ...['true', 'false'],
      ]}
      onChange={(value) =>
        onChange(value === 'null' ? isNull : value === 'default' ? leftOut : { mode: 'value', text: value })
      }
    />
  )
}
