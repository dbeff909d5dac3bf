/** The text, with the tables and columns of the database to choose from, and the server's error at its place. */
import type { Database } from '@graticule/client'
import { type ReactElement, useMemo } from 'react'
import { CodeEditor } from '../../components/code-editor/code-editor.tsx'
import { faultOf } from '../../components/error-note.tsx'
import { useFaults } from '../../components/faults/use-faults.ts'
import { useSqlCompletions } from '../dataset/query/sql-completions.ts'
import { sqlDiagnostic } from '../dataset/query/sql-fault.ts'
import classes from './sql.module.css'
import type { ChangeSql, SqlSession } from './sql-session.ts'

interface SqlEditorProps {
  database: Database
  session: SqlSession
  change: ChangeSql
  onRun(): void
}

export function SqlEditor({ database, session, change, onRun }: SqlEditorProps): ReactElement {
  const { sql, run } = session
  const words = useSqlCompletions({ databaseId: database.id, attributes: [] }, true)
  const error = run.status === 'failed' && run.sql === sql ? run.error : null
  const fault = useFaults(error).at('sql')
  const diagnostics = useMemo(
    () => (error ? [sqlDiagnostic(sql, fault ?? faultOf(error).message)] : []),
    [error, fault, sql],
  )
  return (
    <div className={classes.editor}>
      <CodeEditor
        language="sql"
        label="SQL"
        value={sql}
        placeholder={'SELECT *\nFROM …'}
        onChange={(text) => change({ sql: text })}
        diagnostics={diagnostics}
        completions={words}
        onRun={onRun}
        isFilling
      />
    </div>
  )
}
