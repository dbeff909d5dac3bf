/** The state of the SQL page, which outlives leaving it: the text, where it runs, and the last run. */
import type { JsonObject, SqlAnswer } from '@graticule/client'
import { useSessionState } from '../dataset/session-state.ts'

export type SqlView = 'table' | 'map' | 'json' | 'plan'

export interface SqlResult {
  /** What was run. */
  sql: string
  databaseId: string
  attributes: NonNullable<SqlAnswer['attributes']>
  rows: readonly JsonObject[]
  limit: number
  ms: number
}

export type SqlRun =
  | { status: 'idle'; result?: undefined }
  | { status: 'running'; controller: AbortController; result?: SqlResult | undefined }
  | { status: 'stopped'; result?: SqlResult | undefined }
  | { status: 'failed'; sql: string; error: unknown; result?: SqlResult | undefined }
  | { status: 'done'; result: SqlResult }

export interface SqlSession {
  sql: string
  /** Null: the default one. */
  databaseId: string | null
  limit: string
  view: SqlView
  run: SqlRun
}

export const noSql: SqlSession = { sql: '', databaseId: null, limit: '1000', view: 'table', run: { status: 'idle' } }

export type ChangeSql = (change: Partial<SqlSession>) => void

/** One for each kept query, and one for what is not kept yet. */
export const useSqlSession = (queryId: string | undefined): [SqlSession, ChangeSql] =>
  useSessionState(`sql ${queryId ?? ''}`, noSql)
