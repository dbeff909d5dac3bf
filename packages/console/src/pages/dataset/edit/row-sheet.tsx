/** The sheet that adds or edits a row. Closing it with something typed asks once. */
import type { Dataset } from '@graticule/client'
import { type KeyboardEvent, type ReactElement, useEffect, useRef, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Kbd, Skeleton } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import type { RowId } from '../table/selection.ts'
import { leftOut } from './cell-draft.ts'
import classes from './edit.module.css'
import { RowConflictNote } from './row-conflict.tsx'
import { CellField } from './row-fields.tsx'
import { type RowForm, useRowForm } from './use-row-form.ts'

export interface RowSheetProps {
  dataset: Dataset
  /** Null: a new row. */
  id: RowId | null
  /** What was drawn for a new row. */
  geometry?: object | undefined
  onClose(): void
  onSaved(id: RowId | undefined): void
}

export function RowSheet({ dataset, id, geometry, onClose, onSaved }: RowSheetProps): ReactElement {
  const form = useRowForm(dataset, id, onSaved, geometry)
  const [isLeaving, setLeaving] = useState(false)
  const leave = () => (form.changed.length > 0 ? setLeaving(true) : onClose())
  return (
    <Dialog
      kind="sheet"
      isOpen
      title={id === null ? `New row of ${dataset.name}` : `Edit row ${id}`}
      onClose={leave}
      actions={
        isLeaving ? (
          <Leaving onStay={() => setLeaving(false)} onLeave={onClose} />
        ) : (
          <Actions form={form} isNew={id === null} onCancel={leave} />
        )
      }
    >
      <RowBody dataset={dataset} form={form} isNew={id === null} />
    </Dialog>
  )
}

interface ActionsProps {
  form: RowForm
  isNew: boolean
  onCancel(): void
}

function Actions({ form, isNew, onCancel }: ActionsProps): ReactElement {
  const { isSaving, changed } = form
  const unchanged = isNew ? 'Give at least one value.' : 'Nothing is changed.'
  return (
    <>
      <span className={classes.keys}>
        <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> saves
      </span>
      <Button onClick={onCancel}>Cancel</Button>
      <Button
        variant="primary"
        disabled={isSaving}
        disabledReason={changed.length === 0 ? unchanged : undefined}
        onClick={form.submit}
      >
        {isSaving ? 'Saving …' : isNew ? 'Add row' : 'Save'}
      </Button>
    </>
  )
}

interface LeavingProps {
  onStay(): void
  onLeave(): void
}

function Leaving({ onStay, onLeave }: LeavingProps): ReactElement {
  const stay = useRef<HTMLButtonElement>(null)
  useEffect(() => stay.current?.focus(), [])
  return (
    <>
      <span role="alert" className={classes.leaving}>
        What you changed is not saved.
      </span>
      <Button ref={stay} onClick={onStay}>
        Keep editing
      </Button>
      <Button variant="danger" onClick={onLeave}>
        Discard
      </Button>
    </>
  )
}

interface RowBodyProps {
  dataset: Dataset
  form: RowForm
  isNew: boolean
}

function RowBody({ dataset, form, isNew }: RowBodyProps): ReactElement {
  const { attributes } = dataset
  const { editing, conflict, error, loadError } = form
  const fields = useRef<HTMLFormElement>(null)
  useFocusWhenRead(fields, !isNew && editing !== null)
  useFocusOnFault(fields, form)
  if (loadError) return <ErrorNote error={loadError} onRetry={() => void form.reload()} />
  if (!editing) return <FieldsSkeleton count={attributes.length} />
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && (event.key === 'Enter' || event.key === 's')) {
      event.preventDefault()
      form.submit()
    }
  }
  return (
    <form
      ref={fields}
      className={classes.form}
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault()
        form.submit()
      }}
    >
      {conflict && (
        <RowConflictNote
          attributes={attributes}
          before={editing.before}
          mine={editing.draft}
          theirs={conflict.theirs}
          onTakeTheirs={form.takeTheirs}
          onSaveMine={form.saveMine}
        />
      )}
      {error && <ErrorNote error={error} />}
      {attributes.map((attribute) => (
        <CellField
          key={attribute.name}
          attribute={attribute}
          cell={editing.draft[attribute.name] ?? leftOut}
          isNew={isNew}
          error={form.errorAt(attribute.name)}
          onChange={(cell) => form.set(attribute.name, cell)}
        />
      ))}
      {/* A form is sent by Enter only when it has a button of its own. */}
      <button type="submit" hidden>
        Save
      </button>
    </form>
  )
}

/** The dialog cannot focus a field that is not there yet. Not on touch, which would open the screen keyboard. */
function useFocusWhenRead(fields: { current: HTMLFormElement | null }, isRead: boolean): void {
  useEffect(() => {
    if (!isRead || matchMedia('(pointer: coarse)').matches) return
    fields.current?.querySelector<HTMLElement>(':is(input:not([readonly]), textarea, select)')?.focus()
  }, [fields, isRead])
}

/** The first field with a fault, or the note above the fields, comes into view when saving has failed. */
function useFocusOnFault(fields: { current: HTMLFormElement | null }, form: RowForm): void {
  const { isSaving, attempts, error, conflict } = form
  const hasNote = error !== null || conflict !== null
  useEffect(() => {
    if (isSaving || attempts === 0) return
    if (hasNote) fields.current?.scrollIntoView({ block: 'start' })
    else fields.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [fields, isSaving, attempts, hasNote])
}

interface FieldsSkeletonProps {
  count: number
}

function FieldsSkeleton({ count }: FieldsSkeletonProps): ReactElement {
  return (
    <div className={layout.section}>
      {Array.from({ length: Math.min(count, 12) }, (_, index) => (
        <Skeleton key={index} height={52} />
      ))}
    </div>
  )
}
