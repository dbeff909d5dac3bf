/**
 * The SQL editor of a dataset. The API runs only stored SQL, so a change is saved first (with undo) or becomes a new
 * dataset. Errors of the database are shown at their positions.
 */
import { ApiError, type Dataset } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useMemo } from 'react'
import { Button } from '../../../components/button.tsx'
import { CodeEditor } from '../../../components/code-editor/code-editor.tsx'
import { CodeBlock } from '../../../components/copyable.tsx'
import { ErrorNote, faultOf } from '../../../components/error-note.tsx'
import { useFaults } from '../../../components/faults/use-faults.ts'
import { Note } from '../../../components/note.tsx'
import { useToast } from '../../../components/toast.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal } from '../../../session/session.tsx'
import { ConflictError, saveDataset } from '../save-dataset.ts'
import { NewSqlDataset } from './new-sql-dataset.tsx'
import classes from './query.module.css'
import { useSqlCompletions } from './sql-completions.ts'
import { sqlDiagnostic } from './sql-fault.ts'

export interface SqlQueryProps {
  dataset: Dataset
  /** The edited SQL; null if it is unchanged. */
  sql: string | null
  onChange(sql: string | null): void
  onRun(): void
}

/** The stored SQL, or for a table the SELECT that reads it. */
const storedSql = ({ type, source }: Pick<Dataset, 'type' | 'source'>): string =>
  type === 'sql' ? source : `SELECT *\nFROM ${source}`

export function SqlQuery({ dataset, sql, onChange, onRun }: SqlQueryProps): ReactElement {
  const stored = storedSql(dataset)
  const text = sql ?? stored
  const isSqlDataset = dataset.type === 'sql'
  const isChanged = text !== stored
  const words = useSqlCompletions(dataset, true)
  const save = useSaveSql(dataset, () => onChange(null))
  const refusal = useRefusal()('datasets', 'write', dataset.id)
  const diagnostics = useDiagnostics(save.error, text, save.variables)
  const saveAndRun = () => (isSqlDataset && isChanged ? save.mutate(text, { onSuccess: onRun }) : onRun())
  return (
    <div className={classes.fill}>
      <CodeEditor
        language="sql"
        label="SQL"
        value={text}
        onChange={(value) => onChange(value === stored ? null : value)}
        diagnostics={diagnostics}
        completions={words}
        onRun={saveAndRun}
        onSave={isSqlDataset && isChanged && !refusal ? () => save.mutate(text) : undefined}
        isFilling
      />
      {save.error && <SaveFault error={save.error} />}
      <div className={classes.bar}>
        <span className={classes.muted}>{sentenceOf(isSqlDataset, isChanged)}</span>
        <span className={classes.buttons}>
          {isChanged && (
            <Button icon="undo" onClick={() => onChange(null)}>
              Discard
            </Button>
          )}
          <NewSqlDataset dataset={dataset} source={text} />
          {isSqlDataset && (
            <Button
              variant="primary"
              icon="save"
              disabled={!isChanged || save.isPending}
              disabledReason={refusal}
              onClick={() => save.mutate(text)}
            >
              {save.isPending ? 'Saving …' : 'Save SQL'}
            </Button>
          )}
        </span>
      </div>
    </div>
  )
}

function sentenceOf(isSqlDataset: boolean, isChanged: boolean): string {
  if (!isSqlDataset) return 'SQL of your own becomes a dataset of its own.'
  return isChanged ? 'Not saved. Queries use the stored SQL until you save.' : 'The stored SQL of this dataset.'
}

interface SaveFaultProps {
  error: unknown
}

function SaveFault({ error }: SaveFaultProps): ReactElement {
  if (!(error instanceof ConflictError)) return <ErrorNote error={error} />
  return (
    <Note kind="warn">
      <p>{error.message} Their SQL:</p>
      <CodeBlock text={error.theirs.source} label="SQL that was saved meanwhile" />
    </Note>
  )
}

/** The errors, as long as the text is the one that was refused. */
function useDiagnostics(error: unknown, text: string, sent: string | undefined) {
  const fault = useFaults(error).at('source')
  return useMemo(() => {
    if (!(error instanceof ApiError) || sent !== text) return []
    return fault || error.status < 500 ? [sqlDiagnostic(text, fault ?? faultOf(error).message)] : []
  }, [error, fault, sent, text])
}

function useSaveSql(dataset: Dataset, onSaved: () => void) {
  const client = useClient()
  const cache = useQueryClient()
  const toast = useToast()
  const keep = async (saved: Dataset) => {
    cache.setQueryData(queryKeys.datasets.one(dataset.id), saved)
    await cache.invalidateQueries({ queryKey: queryKeys.datasets.list })
  }
  return useMutation({
    mutationFn: (source: string) => saveDataset(client, dataset, { source }),
    onSuccess: async (saved) => {
      await keep(saved)
      onSaved()
      const undo = async () => keep(await client.datasets.patch(dataset.id, { source: dataset.source }))
      toast.say({
        title: 'SQL saved',
        text: 'Maps and tiles of this dataset use it from now on.',
        action: {
          label: 'Undo',
          onSelect: () => void undo().catch((error) => toast.fail('The old SQL could not be restored', error)),
        },
      })
    },
  })
}
