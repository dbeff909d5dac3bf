/** The session state of a dataset's query tab: texts, options and the last run. */
import type { DatasetQuery, JsonObject } from '@graticule/client'
import { useSessionState } from '../session-state.ts'

export type ResultView = 'table' | 'map' | 'json' | 'plan'

/** A query as it was sent. */
export interface SentQuery {
  query: DatasetQuery
  parameters: Record<string, string>
  timeoutMs: number
  /** The query's text, which error positions refer to. */
  text: string
}

export interface RunResult extends SentQuery {
  rows: JsonObject[]
  ms: number
  requestId: string | undefined
}

export type Run =
  | { status: 'idle'; result?: undefined }
  | { status: 'running'; startedAt: number; controller: AbortController; result?: RunResult | undefined }
  | { status: 'stopped'; result?: RunResult | undefined }
  | { status: 'failed'; sent: SentQuery; error: unknown; result?: RunResult | undefined }
  | { status: 'done'; result: RunResult }

export interface QuerySession {
  mode: 'json' | 'sql'
  /** Null until it is edited. */
  text: string | null
  sql: string | null
  limit: string
  timeout: string
  parameters: Record<string, string>
  view: ResultView
  run: Run
}

const begin: QuerySession = {
  mode: 'json',
  text: null,
  sql: null,
  limit: '1000',
  timeout: '30',
  parameters: {},
  view: 'table',
  run: { status: 'idle' },
}

export type ChangeSession = (change: Partial<QuerySession>) => void

export const useQuerySession = (datasetId: string): [QuerySession, ChangeSession] =>
  useSessionState(`query ${datasetId}`, begin)
