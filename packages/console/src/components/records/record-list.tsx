/** The list on the left of `Columns`: links to records by name, the selected one highlighted. */
import { Link } from '@tanstack/react-router'
import { type ReactElement, type ReactNode, useState } from 'react'
import { TextField } from '../field.tsx'
import classes from './record-list.module.css'

export interface RecordItem {
  id: string
  to: string
  title: string
  /** Next to the title: a state or a time. */
  aside?: ReactNode
  /** Below the title. */
  text?: ReactNode
}

export interface RecordListProps {
  /** The accessible name: "Contact points". */
  label: string
  items: readonly RecordItem[]
}

/** Shorter lists need no search field. */
const searchFrom = 8

export function RecordList({ label, items }: RecordListProps): ReactElement {
  const [search, setSearch] = useState('')
  const words = search.trim().toLowerCase()
  const matches = items.filter(({ title }) => title.toLowerCase().includes(words))
  return (
    <nav aria-label={label}>
      {items.length > searchFrom && (
        <div className={classes.search}>
          <TextField
            label={`Search ${label.toLowerCase()}`}
            isLabelHidden
            placeholder="Search"
            value={search}
            onChange={setSearch}
          />
        </div>
      )}
      <ul>
        {matches.map(({ id, to, title, aside, text }) => (
          <li key={id}>
            <Link to={to} className={classes.item} activeProps={{ 'aria-current': 'page' }}>
              <span className={classes.title}>{title}</span>
              <span className={classes.aside}>{aside}</span>
              {text && <span className={classes.text}>{text}</span>}
            </Link>
          </li>
        ))}
      </ul>
      {matches.length === 0 && items.length > 0 && <p className={classes.none}>0 of {items.length}</p>}
    </nav>
  )
}
