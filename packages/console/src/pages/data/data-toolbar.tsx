/** Search field and filter chips; on phones also the sort order, because there are no column headers. */
import type { ReactElement } from 'react'
import { Button } from '../../components/button.tsx'
import { Chip } from '../../components/chip.tsx'
import { Select } from '../../components/field.tsx'
import { Menu } from '../../components/popup/menu.tsx'
import { SearchField } from '../../components/search-field.tsx'
import classes from './data.module.css'
import { type DataSearch, datasetTypes, defaultSort } from './data-search.ts'
import { typeNames } from './type-names.ts'
import { useTags } from './use-datasets.ts'

interface DataToolbarProps {
  search: DataSearch
  onChange(changes: Partial<DataSearch>, replace?: boolean): void
}

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
      <SearchField
        label="Search datasets"
        placeholder="Search name, description, tag"
        className={classes.search ?? ''}
        value={search.q ?? ''}
        onChange={(q) => onChange({ q: q || undefined }, true)}
      />
      <Menu
        trigger={<Button icon="filter">Type</Button>}
        items={datasetTypes.map((one) => ({ label: typeNames[one], onSelect: () => onChange({ type: one }) }))}
      />
      {tags.length > 0 && (
        <Menu
          trigger={<Button icon="tag">Tag</Button>}
          items={tags.map(({ name }) => ({ label: name, onSelect: () => onChange({ tag: name }) }))}
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
