/** The fields of a column: name, type, default or kind of geometry, required. */
import type { ReactElement } from 'react'
import { Checkbox, Select, TextField } from '../../../components/field.tsx'
import {
  type ColumnDraft,
  columnKindNames,
  geometryTypes,
  kindOf,
  presetFault,
  sizeFault,
  takesDefault,
} from './column-draft.ts'

export interface ColumnFieldsProps {
  column: ColumnDraft
  /** Distinguishes the fields of one column from those of others: "of column 2". */
  suffix?: string
  errorAt(field: string): string | undefined
  onChange(changes: Partial<ColumnDraft>): void
}

export function ColumnFields({ column, suffix = '', errorAt, onChange }: ColumnFieldsProps): ReactElement {
  const label = (text: string) => `${text}${suffix}`
  const isLabelHidden = suffix !== ''
  return (
    <>
      <TextField
        label={label('Name')}
        placeholder={isLabelHidden ? 'Name' : ''}
        autoComplete="off"
        spellCheck={false}
        maxLength={63}
        isLabelHidden={isLabelHidden}
        value={column.name}
        error={errorAt('name')}
        onChange={(name) => onChange({ name })}
      />
      <Select
        label={label('Type')}
        isLabelHidden={isLabelHidden}
        value={column.kind}
        options={columnKindNames.map((value) => ({ value, label: kindOf(value).label }))}
        error={errorAt('type') ?? errorAt('primaryKey')}
        onChange={(kind) =>
          onChange({ kind, preset: '', size: '', isKey: column.isKey && kindOf(kind).isKeyKind === true })
        }
      />
      <SizeField column={column} errorAt={errorAt} onChange={onChange} label={label} isLabelHidden={isLabelHidden} />
      {column.kind === 'geometry' ? (
        <Select
          label={label('Kind of geometry')}
          isLabelHidden={isLabelHidden}
          value={column.geometryType}
          options={geometryTypes.map((value) => ({ value, label: value === 'Geometry' ? 'Any' : value }))}
          error={errorAt('geometryType')}
          onChange={(geometryType) => onChange({ geometryType })}
        />
      ) : (
        <PresetField
          column={column}
          errorAt={errorAt}
          onChange={onChange}
          label={label}
          isLabelHidden={isLabelHidden}
        />
      )}
      <Checkbox
        label="Required"
        aria-label={label('Required')}
        isChecked={column.isRequired || column.isKey}
        disabled={column.isKey}
        onChange={(isRequired) => onChange({ isRequired })}
      />
    </>
  )
}

/** Fields of one row stay below each other, also where a type has no size. */
export function SizeField({ column, errorAt, onChange, label, isLabelHidden }: PresetFieldProps): ReactElement | null {
  const { size } = kindOf(column.kind)
  if (!size) return isLabelHidden ? <span aria-hidden="true" /> : null
  return (
    <TextField
      label={label(size.label)}
      isLabelHidden={isLabelHidden}
      inputMode={column.kind === 'decimal' ? 'text' : 'numeric'}
      autoComplete="off"
      placeholder={isLabelHidden ? `${size.label}: ${size.placeholder}` : size.placeholder}
      value={column.size}
      error={errorAt('dbType') ?? errorAt('srid') ?? sizeFault(column)}
      onChange={(next) => onChange({ size: next })}
    />
  )
}

interface PresetFieldProps extends Omit<ColumnFieldsProps, 'suffix'> {
  label(text: string): string
  isLabelHidden: boolean
}

function PresetField({ column, errorAt, onChange, label, isLabelHidden }: PresetFieldProps): ReactElement {
  const error = errorAt('default') ?? presetFault(column)
  if (column.kind === 'boolean')
    return (
      <Select
        label={label('Default')}
        isLabelHidden={isLabelHidden}
        error={error}
        value={column.preset}
        options={[{ value: '', label: 'no default' }, 'true', 'false']}
        onChange={(preset) => onChange({ preset })}
      />
    )
  return (
    <TextField
      label={label('Default')}
      isLabelHidden={isLabelHidden}
      error={error}
      autoComplete="off"
      disabled={!takesDefault(column)}
      placeholder={placeholderOf(column)}
      value={takesDefault(column) ? column.preset : ''}
      onChange={(preset) => onChange({ preset })}
    />
  )
}

function placeholderOf({ isKey, kind }: ColumnDraft): string {
  if (!isKey) return 'no default'
  if (kind === 'integer') return 'counted up'
  return kind === 'uuid' ? 'made' : 'no default'
}
