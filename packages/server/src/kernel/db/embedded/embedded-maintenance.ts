import type { Engine, StatementResult } from './embedded-engine.ts'

/**
 * Checkpoints, vacuum and analyze for PGlite, which has no background processes: its write-ahead log would grow and its
 * tables would bloat for ever. Checkpoints run at the end of a statement after so much log; the others when it is idle.
 */
export type Maintenance = {
  afterStatement(result: StatementResult): Promise<void>
  afterPieceOfCopy(): Promise<void>
  /** Nothing has changed. */
  afterReading(): void
  whenIdle(): Promise<void>
}

const checkEveryMs = 1000
const idleAfterMs = 5000
const checkpointBytes = 64 * 1024 * 1024

/** The thresholds of PostgreSQL's own autovacuum. */
const mostChangedTable = `
  SELECT format('%I.%I', schemaname, relname) FROM pg_stat_user_tables
  WHERE n_dead_tup > 50 + 0.2 * n_live_tup OR n_mod_since_analyze > 50 + 0.1 * n_live_tup
  ORDER BY n_dead_tup + n_mod_since_analyze DESC LIMIT 1`

export function createMaintenance(engine: Engine): Maintenance {
  let lastStatement = performance.now()
  let lastCheck = performance.now()
  let idle = true
  let checkpointAt: number | undefined

  async function value(text: string): Promise<string | undefined> {
    const { rows } = await engine.query(text, [])
    return rows[0]?.[0] ?? undefined
  }

  async function checkpointIfDue(): Promise<void> {
    if (performance.now() - lastCheck < checkEveryMs) return
    lastCheck = performance.now()
    const position = Number(await value(`SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')`))
    checkpointAt ??= position + checkpointBytes
    if (position < checkpointAt) return
    await engine.query('CHECKPOINT', [])
    checkpointAt = position + checkpointBytes
  }

  return {
    async afterStatement(result) {
      lastStatement = performance.now()
      idle = result.status === 'I'
      // Inside somebody's transaction a query of ours could be its first one, which fixes its snapshot.
      if (idle) await checkpointIfDue()
    },
    async afterPieceOfCopy() {
      lastStatement = performance.now()
      await checkpointIfDue()
    },
    afterReading() {
      lastStatement = performance.now()
    },
    async whenIdle() {
      if (!idle || performance.now() - lastStatement < idleAfterMs) return
      const table = await value(mostChangedTable)
      if (table !== undefined) await engine.query(`VACUUM (ANALYZE) ${table}`, [])
    },
  }
}
