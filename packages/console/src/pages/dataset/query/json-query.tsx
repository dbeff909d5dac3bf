/** The JSON editor of a query, with the dataset's parameters above it. */
import type { Dataset } from '@graticule/client'
import { type ReactElement, useMemo } from 'react'
import { CodeEditor } from '../../../components/code-editor/code-editor.tsx'
import { faultOf } from '../../../components/error-note.tsx'
import { TextField } from '../../../components/field.tsx'
import { type DatasetParameter, parametersOf } from './parameters.ts'
import classes from './query.module.css'
import type { ChangeSession, Run } from './query-session.ts'
import { queryWords, readQuery } from './query-text.ts'

export interface JsonQueryProps {
  dataset: Dataset
  text: string
  run: Run
  change: ChangeSession
  onRun(): void
}

export function JsonQuery({ dataset, text, run, change, onRun }: JsonQueryProps): ReactElement {
  const { attributes } = dataset
  const words = useMemo(() => queryWords(attributes), [attributes])
  const own = useMemo(
    () => readQuery(text, attributes).diagnostics.filter(({ path }) => path !== undefined),
    [text, attributes],
  )
  const sent = useMemo(() => sentFaults(run, text), [run, text])
  const diagnostics = useMemo(() => (sent.length > 0 ? sent : own), [sent, own])
  return (
    <CodeEditor
      language="json"
      label="Query"
      value={text}
      onChange={(value) => change({ text: value })}
      diagnostics={diagnostics}
      completions={words}
      placeholder={'{ "where": { … } }'}
      onRun={onRun}
      isFilling
    />
  )
}

/** The server's errors, as long as the text is the one that was sent. */
function sentFaults(run: Run, text: string) {
  if (run.status !== 'failed' || run.sent.text !== text) return []
  return faultOf(run.error)
    .fields.filter(({ path }) => path.startsWith('body'))
    .map(({ path, message }) => ({ path, message, severity: 'error' as const }))
}

export interface ParameterFieldsProps {
  dataset: Dataset
  values: Readonly<Record<string, string>>
  run: Run
  onChange(values: Record<string, string>): void
}

export function ParameterFields({ dataset, values, run, onChange }: ParameterFieldsProps): ReactElement | null {
  const parameters = parametersOf(dataset)
  if (parameters.length === 0) return null
  const faults = run.status === 'failed' ? faultOf(run.error).fields : []
  return (
    <fieldset className={classes.parameters}>
      <legend>Parameters of this dataset</legend>
      {parameters.map((parameter) => (
        <TextField
          key={parameter.name}
          label={parameter.name}
          hint={hintOf(parameter)}
          error={faults.find(({ path }) => path === `query/${parameter.name}`)?.message}
          value={values[parameter.name] ?? ''}
          placeholder={parameter.preset}
          onChange={(value) => onChange({ ...values, [parameter.name]: value })}
        />
      ))}
    </fieldset>
  )
}

const hintOf = ({ type, isRequired, preset, description }: DatasetParameter): string =>
  [description, type, isRequired ? 'required' : preset && `otherwise ${preset}`].filter(Boolean).join(' · ')
