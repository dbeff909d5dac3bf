/** A filter as JSON, for what the builder does not support. */
import type { JsonObject } from '@graticule/client'
import { type ReactElement, useMemo, useState } from 'react'
import { Button } from '../../../../components/button.tsx'
import { CodeEditor } from '../../../../components/code-editor/code-editor.tsx'
import { useDataset } from '../../dataset.ts'
import { operatorWords } from '../../query/query-grammar.ts'
import classes from './filter-bar.module.css'

export interface JsonFormProps {
  value: JsonObject
  /** Undefined clears the filter. */
  onApply(where: JsonObject | undefined): void
}

export function JsonForm({ value, onApply }: JsonFormProps): ReactElement {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const { attributes } = useDataset()
  const completions = useMemo(
    () => [...attributes.map(({ name, type }) => ({ label: name, detail: type, type: 'property' })), ...operatorWords],
    [attributes],
  )
  const [error, setError] = useState<string>()
  const apply = () => {
    const read = readObject(text)
    setError('error' in read ? read.error : undefined)
    if ('where' in read) onApply(Object.keys(read.where).length === 0 ? undefined : read.where)
  }
  return (
    <form
      className={classes.json}
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <CodeEditor
        language="json"
        label="where"
        value={text}
        onChange={setText}
        completions={completions}
        minHeight={160}
        onRun={apply}
      />
      {error && (
        <p role="alert" className={classes.error}>
          {error}
        </p>
      )}
      <p className={classes.hint}>
        Such as <code>{'{"pop": {"$gte": 1000}}'}</code>. Ctrl+Enter applies.
      </p>
      <Button type="submit" variant="primary">
        Apply
      </Button>
    </form>
  )
}

function readObject(text: string): { where: JsonObject } | { error: string } {
  try {
    const where: unknown = JSON.parse(text.trim() || '{}')
    if (typeof where === 'object' && where !== null && !Array.isArray(where)) return { where: where as JsonObject }
    return { error: 'Must be an object such as {"pop": {"$gte": 1000}}.' }
  } catch (failure) {
    return { error: `Must be JSON: ${failure instanceof Error ? failure.message : failure}` }
  }
}
