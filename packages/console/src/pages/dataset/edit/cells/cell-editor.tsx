/** The field of a cell that is edited in its place, and the line below the table that says how, or what is wrong. */
import { isNumeric } from '@graticule/map/recipe'
import { type KeyboardEvent, type ReactElement, useEffect, useRef } from 'react'
import { Kbd } from '../../../../components/note.tsx'
import { typeLabel } from '../../attribute.ts'
import type { DatasetAttribute } from '../../dataset.ts'
import { isNull } from '../cell-draft.ts'
import { placeholderOf } from '../cell-field.ts'
import classes from './cells.module.css'
import { typedDraft } from './inline-cell.ts'
import type { CellEditing, EditedCell } from './use-cell-editing.ts'

/** Where editing goes on when a cell is left by a key. */
export type NextCell = 'here' | 'below' | 'next' | 'previous'

export interface CellEditorProps {
  cells: CellEditing
  edited: EditedCell
  onLeft(next: NextCell): void
}

const lineId = 'cell-edit-line'

export function CellEditor({ cells, edited, onLeft }: CellEditorProps): ReactElement {
  const { attribute, draft, error } = edited
  const field = useRef<HTMLInputElement & HTMLSelectElement>(null)
  useEffect(() => {
    field.current?.focus()
    field.current?.select?.()
  }, [])
  // The field also loses the focus when its cell is left by a key.
  const isLeft = useRef(false)
  const save = (areAllSelected = false) => {
    if (!isLeft.current) isLeft.current = cells.save(areAllSelected)
    return isLeft.current
  }
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation()
    const next = nextOf(event)
    if (!next) return
    event.preventDefault()
    if (next !== 'given up') return save(event.ctrlKey || event.metaKey) && onLeft(next)
    isLeft.current = true
    cells.giveUp()
    onLeft('here')
  }
  const control = {
    ref: field,
    className: classes.editor,
    'aria-label': `${attribute.name} of row ${edited.id}`,
    'aria-describedby': lineId,
    'aria-invalid': error !== undefined,
    onKeyDown,
    onBlur: () => save(),
  }
  if (attribute.type === 'boolean') return <BooleanEditor cells={cells} edited={edited} control={control} />
  return (
    <input
      {...control}
      type="text"
      data-align={isNumeric(attribute.type) ? 'end' : 'start'}
      inputMode={isNumeric(attribute.type) ? 'decimal' : 'text'}
      autoComplete="off"
      spellCheck={false}
      placeholder={placeholderOf({ attribute, cell: draft })}
      value={draft.text}
      onChange={({ target: { value } }) => cells.set(typedDraft(attribute, value))}
    />
  )
}

function nextOf({ key, shiftKey }: KeyboardEvent): NextCell | 'given up' | undefined {
  if (key === 'Escape') return 'given up'
  if (key === 'Tab') return shiftKey ? 'previous' : 'next'
  return key === 'Enter' ? 'below' : undefined
}

interface BooleanEditorProps {
  cells: CellEditing
  edited: EditedCell
  control: object
}

function BooleanEditor({ cells, edited: { attribute, draft }, control }: BooleanEditorProps): ReactElement {
  return (
    <select
      {...control}
      value={draft.mode === 'null' ? '' : draft.text}
      onChange={({ target: { value } }) => cells.set(value === '' ? isNull : { mode: 'value', text: value })}
    >
      {(attribute.nullable || draft.mode === 'null') && <option value="">null</option>}
      <option value="true">true</option>
      <option value="false">false</option>
    </select>
  )
}

interface CellEditLineProps {
  cells: CellEditing
}

/** Below the table, where it covers no row. */
export function CellEditLine({ cells }: CellEditLineProps): ReactElement | null {
  const { edited, together } = cells
  if (!edited) return null
  const { attribute, error } = edited
  return (
    <div className={classes.line} id={lineId} role={error ? 'alert' : undefined} data-wrong={error !== undefined}>
      <span>
        <strong>{attribute.name}</strong> {error ?? typeOf(attribute)}
      </span>
      {canBeNull(edited) && (
        <button
          type="button"
          aria-pressed={edited.draft.mode === 'null'}
          // The field keeps the focus, and is not saved by losing it.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => cells.set(edited.draft.mode === 'null' ? { mode: 'value', text: '' } : isNull)}
        >
          null
        </button>
      )}
      <span className={classes.keys}>
        <Kbd>Enter</Kbd> saves · <Kbd>Tab</Kbd> goes on · <Kbd>Esc</Kbd> gives up
        {together.length > 0 && (
          <>
            {' '}
            · <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> saves in all {together.length} selected rows
          </>
        )}
      </span>
    </div>
  )
}

const typeOf = (attribute: DatasetAttribute): string => `${typeLabel(attribute)} (${attribute.dbType})`

/** Of a text that is emptied nobody knows whether it should be null. */
const canBeNull = ({ attribute: { type, nullable } }: EditedCell): boolean => type === 'string' && nullable
