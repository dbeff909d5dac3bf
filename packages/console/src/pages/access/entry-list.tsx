/** A tag input: short texts, validated one by one, shown as removable tags. */
import { type ReactElement, useState } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { TextField } from '../../components/field.tsx'
import { Tag } from '../../components/note.tsx'
import classes from './access.module.css'

interface EntryListProps {
  label: string
  hint: string
  placeholder: string
  entries: readonly string[]
  /** What the server finds wrong with them. */
  error?: string | undefined
  /** Parses an entry: its normalized value, or an error. */
  read(text: string): { value: string } | { fault: string }
  onChange(entries: readonly string[]): void
}

export function EntryList({ label, hint, placeholder, entries, error, read, onChange }: EntryListProps): ReactElement {
  const [text, setText] = useState('')
  const [fault, setFault] = useState<string>()
  const add = () => {
    if (text.trim() === '') return setFault(undefined)
    const answer = read(text)
    if ('fault' in answer) return setFault(answer.fault)
    setFault(undefined)
    setText('')
    if (!entries.includes(answer.value)) onChange([...entries, answer.value])
  }
  return (
    <div className={classes.entries}>
      <TextField
        label={label}
        hint={hint}
        placeholder={placeholder}
        value={text}
        error={fault ?? error}
        spellCheck={false}
        onChange={setText}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          add()
        }}
      />
      <Button icon="plus" onClick={add}>
        Add
      </Button>
      {entries.length > 0 && (
        <ul aria-label={label}>
          {entries.map((entry) => (
            <li key={entry}>
              <Tag>
                {entry}
                <IconButton
                  icon="close"
                  label={`Remove ${entry}`}
                  onClick={() => onChange(entries.filter((other) => other !== entry))}
                />
              </Tag>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
