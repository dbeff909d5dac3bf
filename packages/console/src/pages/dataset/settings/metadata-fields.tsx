/** Tags, and all metadata as JSON. */
import { type ReactElement, useMemo, useState } from 'react'
import { IconButton } from '../../../components/button.tsx'
import { CodeEditor } from '../../../components/code-editor/code-editor.tsx'
import type { Faults } from '../../../components/faults/faults.ts'
import { Field } from '../../../components/field.tsx'
import { formatBytes, formatNumber } from '../../../format.ts'
import { metadataLimit, readMetadata, tagsOf, withKey } from './draft.ts'
import type { FieldsProps } from './fields.ts'
import classes from './settings.module.css'

export interface MetadataFieldsProps extends FieldsProps {
  faults: Faults
  onSave(): void
}

export function MetadataFields({ draft, change, faults, onSave }: MetadataFieldsProps): ReactElement {
  const metadata = useMemo(() => readMetadata(draft.metadata), [draft.metadata])
  const diagnostics = useMemo(
    () => faults.under('metadata').map((fault) => ({ ...fault, severity: 'error' as const })),
    [faults],
  )
  const bytes = new TextEncoder().encode(JSON.stringify(metadata ?? draft.metadata)).length
  return (
    <section className={classes.section} aria-label="Metadata">
      <h2>Metadata</h2>
      <Tags
        tags={tagsOf(metadata)}
        isDisabled={!metadata}
        onChange={(tags) => change({ metadata: withKey(draft.metadata, 'tags', tags.length > 0 ? tags : undefined) })}
      />
      <CodeEditor
        language="json"
        label="Metadata as JSON"
        value={draft.metadata}
        onChange={(text) => change({ metadata: text })}
        diagnostics={diagnostics}
        completions={knownKeys}
        onSave={onSave}
        minHeight={160}
      />
      <p className={classes.muted}>
        {bytes > metadataLimit ? 'Too large: ' : ''}
        {formatBytes(bytes)} of {formatNumber(metadataLimit / 1024)} KiB. Anything your applications need; a key with
        dots, such as <code>theme.colours.0</code>, reaches into it by the API. A value of null removes its key.
      </p>
    </section>
  )
}

/** The keys that the server or the console uses. */
const knownKeys = [
  { label: 'tags', detail: 'for lists', type: 'property' },
  { label: 'attribution', detail: 'on maps', type: 'property' },
  { label: 'parameters', detail: '[{ name, type, default }]', type: 'property' },
  { label: 'rest', detail: '{ path, point } of a web service', type: 'property' },
]

interface TagsProps {
  tags: readonly string[]
  isDisabled: boolean
  onChange(tags: string[]): void
}

function Tags({ tags, isDisabled, onChange }: TagsProps): ReactElement {
  const [text, setText] = useState('')
  const add = () => {
    const tag = text.trim()
    if (tag && !tags.includes(tag)) onChange([...tags, tag])
    setText('')
  }
  return (
    <Field label="Tags" hint="Enter adds one. Lists can be narrowed to them.">
      {({ className, ...props }) => (
        <div className={classes.tags}>
          {tags.map((tag) => (
            <span key={tag} className={classes.chip}>
              {tag}
              <IconButton
                icon="close"
                label={`Remove tag ${tag}`}
                onClick={() => onChange(tags.filter((one) => one !== tag))}
              />
            </span>
          ))}
          <input
            {...props}
            className={`${className} ${classes.newTag}`}
            disabled={isDisabled}
            value={text}
            placeholder="New tag"
            onChange={(event) => setText(event.target.value)}
            onBlur={add}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' && event.key !== ',') return
              event.preventDefault()
              add()
            }}
          />
        </div>
      )}
    </Field>
  )
}
