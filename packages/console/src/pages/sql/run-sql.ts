/** Runs the text on a database and stores the outcome in the session state. */
import type { Client } from '@graticule/client'
import { noteRun } from './history.ts'
import type { ChangeSql, SqlRun } from './sql-session.ts'

const mostRows = 50_000
const defaultRows = 1_000

interface SqlRequest {
  sql: string
  databaseId: string
  limit: string
  applicationId: string | null
  last: SqlRun
}

const limitOf = (text: string): number => {
  const limit = Number.parseInt(text, 10)
  return Number.isNaN(limit) ? defaultRows : Math.min(mostRows, Math.max(0, limit))
}

export async function runSql(client: Client, asked: SqlRequest, change: ChangeSql): Promise<void> {
  const { sql, databaseId, applicationId, last } = asked
  const controller = new AbortController()
  const begunAt = performance.now()
  const limit = limitOf(asked.limit)
  const note = (rows: number | null): void =>
    void noteRun(applicationId, {
      sql,
      databaseId,
      rows,
      at: new Date().toISOString(),
      ms: performance.now() - begunAt,
    })
  change({ run: { status: 'running', controller, result: last.result } })
  try {
    const { signal } = controller
    const { attributes = [], rows = [] } = await client.databases.query(databaseId, { sql, limit }, { signal })
    note(rows.length)
    const ms = performance.now() - begunAt
    change({ run: { status: 'done', result: { sql, databaseId, attributes, rows, limit, ms } } })
  } catch (error) {
    if (controller.signal.aborted) return change({ run: { status: 'stopped', result: last.result } })
    note(null)
    change({ run: { status: 'failed', sql, error, result: last.result } })
  }
}
