/** What was run in this tab, the last first. It is in session storage: what SQL says of data is not for the next user of the browser. */

export interface PastRun {
  sql: string
  databaseId: string
  /** ISO 8601 */
  at: string
  /** Null: it failed. */
  rows: number | null
  ms: number
}

const storageName = 'graticule.sql-history'
const most = 50

export function pastRuns(applicationId: string | null): readonly PastRun[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(nameOf(applicationId)) ?? '[]')
    return Array.isArray(stored) ? (stored as PastRun[]) : []
  } catch {
    return []
  }
}

/** The same text on the same database is there once, by its last run. */
export function noteRun(applicationId: string | null, run: PastRun): readonly PastRun[] {
  const others = pastRuns(applicationId).filter(
    ({ sql, databaseId }) => sql !== run.sql || databaseId !== run.databaseId,
  )
  const runs = [run, ...others].slice(0, most)
  sessionStorage.setItem(nameOf(applicationId), JSON.stringify(runs))
  return runs
}

const nameOf = (applicationId: string | null): string => `${storageName} ${applicationId ?? ''}`
