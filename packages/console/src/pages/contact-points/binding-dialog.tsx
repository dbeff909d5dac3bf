/** The dialog that binds a dataset to a webhook, or changes how it is bound. */
import type { ContactPoint } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import { useFaults } from '../../components/faults/use-faults.ts'
import { Checkbox, Select, TextArea, TextField } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { useToast } from '../../components/toast.tsx'
import { useMay } from '../../session/session.tsx'
import {
  type Binding,
  type BindingDraft,
  type BindingFaults,
  draftOfBinding,
  faultsOfBinding,
  operations,
  readDraft,
  sides,
} from './binding-draft.ts'
import { type BoundDataset, bindingIndex, useBind } from './binding-queries.ts'
import classes from './contact-points.module.css'

export interface BindingDialogProps {
  point: ContactPoint
  bindings: readonly Binding[]
  tables: readonly BoundDataset[]
  /** Empty for a new binding. */
  datasetId: string
  onClose(): void
}

export function BindingDialog({ point, bindings, tables, datasetId, onClose }: BindingDialogProps): ReactElement {
  const toast = useToast()
  const stored = bindings.find((binding) => binding.datasetId === datasetId)
  const [draft, setDraft] = useState(() => draftOfBinding(stored))
  const [wrong, setWrong] = useState<BindingFaults>({})
  const bind = useBind(point.id)
  const serverFaults = useFaults(bind.error)
  const faults = { ...faultsOfBinding(serverFaults, bindingIndex(bindings, draft.datasetId)), ...wrong }
  const change = (part: Partial<BindingDraft>) => setDraft((before) => ({ ...before, ...part }))
  const save = () => {
    const read = readDraft(draft)
    setWrong('faults' in read ? read.faults : {})
    if ('faults' in read) return
    bind.mutate(
      { datasetId: draft.datasetId, binding: read.binding },
      {
        onSuccess() {
          onClose()
          const name = tables.find(({ id }) => id === draft.datasetId)?.name ?? draft.datasetId
          toast.say({ title: `${point.name} is told of changes of ${name}.` })
        },
      },
    )
  }
  return (
    <FormDialog
      title={stored ? 'Change a binding' : 'Bind a dataset'}
      onClose={onClose}
      labels={[stored ? 'Save' : 'Bind', 'Saving …']}
      isPending={bind.isPending}
      error={bind.error}
      isCheckedHere
      onSubmit={save}
    >
      <DatasetField
        point={point}
        bindings={bindings}
        tables={tables}
        draft={draft}
        faults={faults}
        change={change}
        isFixed={stored !== undefined}
      />
      <OperationFields draft={draft} faults={faults} change={change} />
      <TextArea
        label="Filter"
        value={draft.filter}
        error={faults.filter}
        rows={3}
        spellCheck={false}
        placeholder={'{"depth": {"$gte": 10}}'}
        hint="Only rows that match when the message is made; empty for all. Deletions always pass. The grammar is that of queries; the table of a dataset shows its filter as JSON."
        onChange={(filter) => change({ filter })}
      />
      <BoxFields draft={draft} faults={faults} change={change} />
      <TextField
        label="Gather for seconds"
        inputMode="numeric"
        value={draft.debounce}
        error={faults.debounceSeconds}
        hint="What is written in this time, counted from the first change, is one message. 0: at once; 3,600 at most."
        onChange={(debounce) => change({ debounce })}
      />
    </FormDialog>
  )
}

interface FieldsProps {
  draft: BindingDraft
  faults: BindingFaults
  change(part: Partial<BindingDraft>): void
}

function DatasetField(
  props: FieldsProps & Pick<BindingDialogProps, 'point' | 'bindings' | 'tables'> & { isFixed: boolean },
): ReactElement {
  const { point, bindings, tables, draft, faults, change, isFixed } = props
  const may = useMay()
  const isBound = (id: string) => bindings.some((binding) => binding.datasetId === id)
  const free = tables.filter(
    ({ id, applicationId }) =>
      applicationId === point.applicationId &&
      may('datasets', 'execute', id) &&
      (isFixed ? id === draft.datasetId : !isBound(id)),
  )
  const options = free.map(({ id, name }) => ({ value: id, label: name }))
  const own = isFixed && options.length === 0 ? [{ value: draft.datasetId, label: draft.datasetId }] : options
  return (
    <Select
      label="Dataset"
      value={draft.datasetId}
      options={isFixed ? own : [{ value: '', label: 'Choose …' }, ...own]}
      disabled={isFixed}
      error={faults.datasetId}
      hint={isFixed ? undefined : 'Of type table, that this key may execute, and not bound yet.'}
      onChange={(datasetId) => change({ datasetId })}
    />
  )
}

function OperationFields({ draft, faults, change }: FieldsProps): ReactElement {
  return (
    <fieldset className={classes.choices}>
      <legend>Told when</legend>
      {operations.map(({ name, label }) => (
        <Checkbox
          key={name}
          label={label}
          isChecked={draft.operations.includes(name)}
          onChange={(isChosen) => {
            const others = draft.operations.filter((other) => other !== name)
            change({ operations: isChosen ? [...others, name] : others })
          }}
        />
      ))}
      <Fault text={faults.operations} />
    </fieldset>
  )
}

function BoxFields({ draft, faults, change }: FieldsProps): ReactElement {
  return (
    <fieldset className={classes.choices}>
      <legend>Only in this box, in degrees (empty: everywhere)</legend>
      <div className={classes.box}>
        {sides.map((side) => (
          <TextField
            key={side}
            label={side}
            inputMode="decimal"
            value={draft.box[side]}
            aria-invalid={faults.bbox !== undefined}
            onChange={(value) => change({ box: { ...draft.box, [side]: value } })}
          />
        ))}
      </div>
      <Fault text={faults.bbox} />
    </fieldset>
  )
}

interface FaultProps {
  text: string | undefined
}

function Fault({ text }: FaultProps): ReactElement | null {
  return text ? (
    <p role="alert" className={classes.fault}>
      {text}
    </p>
  ) : null
}
