/** The default of a column: what it is, another one, or none. */
import type { ReactElement } from 'react'
import { Checkbox, TextField } from '../../../../components/field.tsx'
import { presetFault, takesDefault } from '../column-draft.ts'
import type { ColumnPartProps } from './edit-column.tsx'

export function DefaultFields({ attribute, draft, errorAt, onChange }: ColumnPartProps): ReactElement | null {
  if (attribute.generated || !takesDefault(draft)) return null
  return (
    <>
      <TextField
        label="Default"
        hint={attribute.default ? `Now ${attribute.default}; empty: it stays` : undefined}
        placeholder="no default"
        autoComplete="off"
        disabled={draft.hasNoDefault}
        value={draft.hasNoDefault ? '' : draft.preset}
        error={errorAt('default') ?? presetFault(draft)}
        onChange={(preset) => onChange({ preset })}
      />
      {attribute.default && (
        <Checkbox
          label="Remove the default"
          isChecked={draft.hasNoDefault}
          onChange={(hasNoDefault) => onChange({ hasNoDefault, preset: '' })}
        />
      )}
    </>
  )
}
