/** The header of a column that sorts the table: a click sorts by it, another one turns the order. */
import type { ReactElement } from 'react'
import { Icon } from '../icon.tsx'
import classes from './sort-header.module.css'

/** A field, prefixed with `-` for descending order. */
export type Sort<Field extends string> = Field | `-${Field}`

export interface SortHeaderProps<Field extends string> {
  field: Field
  label: string
  /** Numbers and dates are sorted in descending order first. */
  isNumber?: boolean
  sort: Sort<Field>
  onSort(sort: Sort<Field>): void
}

export function SortHeader<Field extends string>(props: SortHeaderProps<Field>): ReactElement {
  const { field, label, isNumber = false, sort, onSort } = props
  const isUp = sort === field
  const isDown = sort === `-${field}`
  const next = (isNumber ? !isDown : isUp) ? (`-${field}` as const) : field
  return (
    <th
      scope="col"
      data-align={isNumber ? 'end' : undefined}
      aria-sort={isUp ? 'ascending' : isDown ? 'descending' : 'none'}
    >
      <button type="button" className={classes.sort} onClick={() => onSort(next)}>
        {label}
        {(isUp || isDown) && <Icon name={isUp ? 'sortUp' : 'sortDown'} size={14} />}
      </button>
    </th>
  )
}
