/** What is compared with, or written: a fixed value, or one of the caller. */
import type { ReactElement } from 'react'
import { Select, TextField } from '../../../../components/field.tsx'
import { type CallerSource, callerSourceNames, callerSources } from '../caller-value.ts'
import type { Operand } from './condition-draft.ts'

export interface OperandSourceProps {
  label: string
  operand: Operand
  /** Whether a fixed value can be chosen. */
  hasFixed?: boolean
  onOperand(operand: Partial<Operand>): void
}

export function OperandSource({ label, operand, hasFixed = true, onOperand }: OperandSourceProps): ReactElement {
  const fixed = hasFixed ? [{ value: 'value' as const, label: 'a value' }] : []
  const ofCaller = callerSourceNames.map((source) => ({ value: source, label: callerSources[source].label }))
  return (
    <>
      <Select<'value' | CallerSource>
        label={label}
        isLabelHidden
        value={operand.source}
        options={[...fixed, ...ofCaller]}
        onChange={(source) => onOperand({ source, path: '', texts: [] })}
      />
      {operand.source !== 'value' && callerSources[operand.source].hasMembers && (
        <TextField
          label="Which"
          isLabelHidden
          placeholder="team"
          autoComplete="off"
          spellCheck={false}
          value={operand.path}
          onChange={(path) => onOperand({ path })}
        />
      )}
    </>
  )
}
