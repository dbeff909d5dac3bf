/** Search field and filter chips; on phones also the sort order, because there are no column headers. */
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Select, TextField } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Menu } from '../../components/menu.tsx'
import classes from './data.module.css'
import { type DataSearch, datasetTypes, defaultSort } from './data-search.ts'
import { typeNames } from './type-names.ts'
import { useTags } from './use-datasets.ts'

interface DataToolbarProps {
  search: DataSearch
  onChange(changes: Partial<DataSearch>, replace?: boolean): void
}

/** Debounce of the search. */
const quietMs = 300

const orders = [
  { value: '-updatedAt', label: 'Changed last' },
  { value: 'name', label: 'Name' },
  { value: '-rowEstimate', label: 'Most rows' },
  { value: '-bytes', label: 'Largest' },
] as const

export function DataToolbar({ search, onChange }: DataToolbarProps): ReactElement {
  const { type, tag, sort = defaultSort } = search
  const tags = useTags()
  return (
    <search className={classes.toolbar}>
      <SearchField q={search.q ?? ''} onChange={(q) => onChange({ q: q || undefined }, true)} />
      <Menu
        trigger={<Button icon="filter">Type</Button>}
        items={datasetTypes.map((one) => ({ label: typeNames[one], onSelect: () => onChange({ type: one }) }))}
      />
      {tags.length > 0 && (
        <Menu
          trigger={<Button icon="tag">Tag</Button>}
          items={tags.map((one) => ({ label: one, onSelect: () => onChange({ tag: one }) }))}
        />
      )}
      {type && <Chip label={`Type: ${typeNames[type]}`} onRemove={() => onChange({ type: undefined })} />}
      {tag && <Chip label={`Tag: ${tag}`} onRemove={() => onChange({ tag: undefined })} />}
      <div className={classes.order}>
        <Select
          label="Order"
          isLabelHidden
          value={orders.find(({ value }) => value === sort)?.value ?? defaultSort}
          options={orders}
          onChange={(next) => onChange({ sort: next })}
        />
      </div>
    </search>
  )
}

function SearchField({ q, onChange }: { q: string; onChange(q: string): void }): ReactElement {
  const [text, setText] = useState(q)
  const sent = useRef(q)
  useEffect(() => {
    // Follows Back and Forward, but not its own change coming back, which would overwrite newer input.
    if (q !== sent.current) setText(q)
    sent.current = q
  }, [q])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      onChange(text)
    }, quietMs)
    return () => clearTimeout(timer)
  }, [text, onChange])
  return (
    <TextField
      type="search"
      label="Search datasets"
      isLabelHidden
      placeholder="Search name, description, tag"
      className={classes.search ?? ''}
      value={text}
      onChange={setText}
    />
  )
}

function Chip({ label, onRemove }: { label: string; onRemove(): void }): ReactElement {
  return (
    <button type="button" className={classes.chip} aria-label={`Remove filter ${label}`} onClick={onRemove}>
      <span>{label}</span>
      <Icon name="close" size={14} />
    </button>
  )
}
