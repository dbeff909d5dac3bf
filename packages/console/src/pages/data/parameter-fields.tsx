/** Types and defaults of the source's parameters. */
import type { ReactElement } from 'react'
import { Select, TextField } from '../../components/field.tsx'
import { layout } from '../../components/page.tsx'
import classes from './data.module.css'
import { type DatasetDraft, type ParameterDraft, parameterNames, parameterTypes, textParameter } from './new-dataset.ts'

export interface DraftFieldsProps {
  draft: DatasetDraft
  /** The server's error for a field of the request, such as `source`. */
  faultAt(path: string): string | undefined
  onChange(changes: Partial<DatasetDraft>): void
}

export function ParameterFields({ draft, faultAt, onChange }: DraftFieldsProps): ReactElement | null {
  const names = parameterNames(draft)
  const change = (name: string, changes: Partial<ParameterDraft>) =>
    onChange({
      parameters: { ...draft.parameters, [name]: { ...textParameter, ...draft.parameters[name], ...changes } },
    })
  if (names.length === 0) return null
  return (
    <fieldset className={classes.parameters}>
      <legend>Parameters</legend>
      {names.map((name, index) => {
        const { type, preset } = draft.parameters[name] ?? textParameter
        return (
          <div key={name} className={layout.row}>
            <code className={classes.parameterName}>{name}</code>
            <Select
              label={`Type of ${name}`}
              isLabelHidden
              value={type}
              options={parameterTypes}
              onChange={(next) => change(name, { type: next })}
            />
            <TextField
              label={`Default of ${name}`}
              isLabelHidden
              placeholder="No default: required"
              value={preset}
              error={faultAt(`metadata/parameters/${index}`)}
              onChange={(next) => change(name, { preset: next })}
            />
          </div>
        )
      })}
    </fieldset>
  )
}
