/** Where the text runs, how many rows it may bring, and what becomes of it: run, kept, or a dataset. */
import type { Database, Query } from '@graticule/client'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Select, TextField } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { useToast } from '../../components/toast.tsx'
import { useRefusal } from '../../session/session.tsx'
import { NewSqlDataset } from '../dataset/query/new-sql-dataset.tsx'
import classes from './sql.module.css'
import { type ChangeSql, noSql, type SqlSession } from './sql-session.ts'
import { useKeepQuery } from './use-saved-queries.ts'

interface SqlToolbarProps {
  databases: readonly Database[]
  database: Database
  /** The kept query that is open. */
  stored: Query | undefined
  session: SqlSession
  change: ChangeSql
  onRun(): void
}

export function SqlToolbar({ databases, database, stored, session, change, onRun }: SqlToolbarProps): ReactElement {
  const { run, sql, limit } = session
  const isEmpty = sql.trim() === ''
  return (
    <div className={classes.toolbar}>
      <Select
        label="Database"
        isLabelHidden
        value={database.id}
        options={databases.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={(databaseId) => change({ databaseId })}
      />
      <TextField
        label="Limit"
        inputMode="numeric"
        className={classes.limit}
        value={limit}
        onChange={(next) => change({ limit: next })}
      />
      <span className={classes.gap} />
      {!isEmpty && (
        <NewSqlDataset dataset={{ databaseId: database.id, metadata: {} }} source={sql} label="Make a dataset" />
      )}
      <KeepQuery stored={stored} database={database} session={session} change={change} />
      {run.status === 'running' ? (
        <Button icon="stop" onClick={() => run.controller.abort()}>
          Stop
        </Button>
      ) : (
        <Button
          variant="primary"
          icon="play"
          title="Ctrl+Enter"
          disabledReason={isEmpty ? 'Write a SELECT first.' : undefined}
          onClick={onRun}
        >
          Run
        </Button>
      )}
    </div>
  )
}

type KeepQueryProps = Pick<SqlToolbarProps, 'stored' | 'database' | 'session' | 'change'>

function KeepQuery({ stored, database, session, change }: KeepQueryProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const toast = useToast()
  const navigate = useNavigate()
  const refusal = useRefusal()('databases', 'write')
  const keep = useKeepQuery(stored?.id)
  const isSame = stored?.sql === session.sql && (stored.databaseId ?? database.id) === database.id
  const send = (named: string) =>
    keep.mutate(
      { name: named, sql: session.sql, databaseId: database.id },
      {
        async onSuccess(kept) {
          setOpen(false)
          toast.say({ title: `“${kept.name}” is saved` })
          if (stored) return
          change(noSql)
          await navigate({ to: '/sql/{-$queryId}', params: { queryId: kept.id } })
        },
        onError: (error) => stored && toast.fail('The query could not be saved', error),
      },
    )
  const missing = session.sql.trim() === '' ? 'Write a SELECT first.' : isSame ? 'It is saved as it is.' : undefined
  return (
    <>
      <Button
        icon="save"
        disabledReason={refusal ?? missing}
        onClick={() => (stored ? send(stored.name) : setOpen(true))}
      >
        Save
      </Button>
      {isOpen && (
        <FormDialog
          title="Save this query"
          onClose={() => setOpen(false)}
          labels={['Save', 'Saving …']}
          isPending={keep.isPending}
          missing={name.trim() === '' ? 'Give it a name.' : undefined}
          error={keep.error}
          onSubmit={() => send(name.trim())}
        >
          <TextField label="Name" value={name} onChange={setName} maxLength={255} />
        </FormDialog>
      )}
    </>
  )
}
