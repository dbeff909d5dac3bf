/** Runs a query and stores the outcome in the session state: rows, an error, or a cancellation. */
import type { Client, Dataset, DatasetQuery } from '@graticule/client'
import type { ChangeSession, QuerySession, RunResult, SentQuery } from './query-session.ts'
import { withLimit } from './query-text.ts'

const maxRows = 50_000
const longestSeconds = 300

/** The request for the current state. Empty parameters are omitted, so that they get their defaults. */
export function sentQuery(query: DatasetQuery, { limit, timeout, parameters }: QuerySession, text: string): SentQuery {
  return {
    query: withLimit(query, within(Number(limit), 0, maxRows)),
    parameters: Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== '')),
    timeoutMs: within(Number(timeout), 1, longestSeconds) * 1000,
    text,
  }
}

const within = (value: number, least: number, most: number): number =>
  Math.min(Math.max(Number.isFinite(value) ? Math.round(value) : most, least), most)

export async function runQuery(
  client: Client,
  dataset: Pick<Dataset, 'id'>,
  sent: SentQuery,
  { result, change }: { result: RunResult | undefined; change: ChangeSession },
): Promise<void> {
  const controller = new AbortController()
  const startedAt = performance.now()
  change({ run: { status: 'running', startedAt, controller, result } })
  let requestId: string | undefined
  try {
    const rows = await client.datasets.query(dataset.id, sent.query, {
      ...sent.parameters,
      timeout: sent.timeoutMs,
      signal: controller.signal,
      onResponse: ({ headers }) => {
        requestId = headers.get('x-request-id') ?? undefined
      },
    })
    change({ run: { status: 'done', result: { ...sent, rows, ms: performance.now() - startedAt, requestId } } })
  } catch (error) {
    change({
      run: controller.signal.aborted ? { status: 'stopped', result } : { status: 'failed', sent, error, result },
    })
  }
}
