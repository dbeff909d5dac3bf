/** The filters of the log; on phones behind a button. */
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Chip } from '../../components/chip.tsx'
import { Select, TextField } from '../../components/field.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { useIsPhone } from '../../media.ts'
import { useKeys } from '../access/keys/keys.ts'
import classes from './activity.module.css'
import type { Names } from './activity-names.ts'
import { type ActivitySearch, type ActivitySpan, actionGroups, actorTypes, isGroup, spans } from './activity-search.ts'
import { actionWords, actorLabels, capital, groupLabels, kindWords, spanLabels } from './activity-words.ts'

type Changes = Partial<Record<keyof ActivitySearch, unknown>>

interface ActivityToolbarProps {
  search: ActivitySearch
  names: Names
  onChange(changes: Changes, replace?: boolean): void
}

export function ActivityToolbar({ search, names, onChange }: ActivityToolbarProps): ReactElement {
  const isPhone = useIsPhone()
  const [isOpen, setOpen] = useState(false)
  const { record, kind, address } = search
  return (
    <search className={classes.toolbar}>
      <SearchField
        label="Search activity"
        placeholder="Search record, id, address, request"
        className={classes.search ?? ''}
        value={search.q ?? ''}
        onChange={(q) => onChange({ q: q || undefined }, true)}
      />
      {isPhone && (
        <Button icon="filter" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Filters
        </Button>
      )}
      {(!isPhone || isOpen) && <Filters search={search} names={names} onChange={onChange} />}
      {record && (
        <Chip
          label={`${capital(kindWords[kind ?? '']?.[0] ?? 'record')}: ${record.slice(0, shownOfId)}`}
          onRemove={() => onChange({ record: undefined })}
        />
      )}
      {address && <Chip label={`From: ${address}`} onRemove={() => onChange({ address: undefined })} />}
    </search>
  )
}

const shownOfId = 16

function Filters({ search, names, onChange }: ActivityToolbarProps): ReactElement {
  const { action, kind, outcome } = search
  const otherAction = action && !isGroup(action) ? [{ value: action, label: actionWords(action) }] : []
  const kinds = [...new Set([...Object.keys(kindWords), ...(kind ? [kind] : [])])]
  return (
    <div className={classes.filters}>
      <When search={search} onChange={onChange} />
      <Who search={search} names={names} onChange={onChange} />
      <Select
        label="Action"
        isLabelHidden
        value={action ?? ''}
        options={[
          { value: '', label: 'Any action' },
          ...(Object.keys(actionGroups) as (keyof typeof actionGroups)[]).map((value) => ({
            value,
            label: groupLabels[value],
          })),
          ...otherAction,
        ]}
        onChange={(value) => onChange({ action: value || undefined })}
      />
      <Select
        label="Kind of record"
        isLabelHidden
        value={kind ?? ''}
        options={[
          { value: '', label: 'Any kind of record' },
          ...kinds.map((value) => ({ value, label: kindWords[value]?.[1] ?? value })),
        ]}
        onChange={(value) => onChange({ kind: value || undefined, record: undefined })}
      />
      <Select
        label="Outcome"
        isLabelHidden
        value={outcome ?? ''}
        options={[
          { value: '', label: 'Any outcome' },
          { value: 'done', label: 'Done' },
          { value: 'refused', label: 'Refused or failed' },
        ]}
        onChange={(value) => onChange({ outcome: value || undefined })}
      />
    </div>
  )
}

type FilterProps = Pick<ActivityToolbarProps, 'search' | 'onChange'>

function When({ search: { since, from, to }, onChange }: FilterProps): ReactElement {
  const [isBetween, setBetween] = useState(Boolean(from || to))
  const choose = (value: string) => {
    setBetween(value === 'between')
    onChange({ since: value === 'between' ? undefined : value || undefined, from: undefined, to: undefined })
  }
  return (
    <>
      <Select
        label="Time"
        isLabelHidden
        value={since ?? (isBetween || from || to ? 'between' : '')}
        options={[
          { value: '', label: 'Any time' },
          ...(Object.keys(spans) as ActivitySpan[]).map((value) => ({ value, label: spanLabels[value] })),
          { value: 'between', label: 'Between two days …' },
        ]}
        onChange={choose}
      />
      {!since && (isBetween || from || to) && (
        <div className={classes.days}>
          <TextField
            type="date"
            label="From"
            value={from ?? ''}
            max={to}
            onChange={(day) => onChange({ from: day || undefined }, true)}
          />
          <TextField
            type="date"
            label="To"
            value={to ?? ''}
            min={from}
            onChange={(day) => onChange({ to: day || undefined }, true)}
          />
        </div>
      )}
    </>
  )
}

/** More would be no choice but a search. */
const mostKeys = 100

function Who({ search, names, onChange }: ActivityToolbarProps): ReactElement {
  const { actor, key, user } = search
  const { data: keys = [] } = useKeys()
  const listed = keys.slice(0, mostKeys).map(({ fingerprint, description }) => ({
    value: `key ${fingerprint}`,
    label: `Key: ${description || fingerprint}`,
  }))
  const value = key ? `key ${key}` : user === undefined ? (actor ?? '') : `user ${user}`
  const other = key
    ? { value, label: `Key: ${names.keyName(key) || key}` }
    : { value, label: `User: ${names.userName(user ?? null) ?? user}` }
  const types = actorTypes.map((type) => ({ value: type, label: actorLabels[type] }))
  const options = [{ value: '', label: 'Anyone' }, ...types, ...listed]
  return (
    <Select
      label="Who"
      isLabelHidden
      value={value}
      options={options.some((option) => option.value === value) ? options : [...options, other]}
      onChange={(next) => {
        const [type, id] = next.split(' ')
        onChange({
          actor: id ? undefined : type || undefined,
          key: type === 'key' ? id : undefined,
          user: type === 'user' && id ? Number(id) : undefined,
        })
      }}
    />
  )
}
