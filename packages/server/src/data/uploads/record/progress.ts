// Progress reports, which also renew the lease.
import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../../kernel/db/db.ts'
import { report as announce } from '../../../kernel/events.ts'
import type { Stage } from './upload.ts'
import { type ClaimedUpload, type Reached, report } from './upload-state.ts'

/** The share of each stage in the whole progress. */
const spans: Record<Stage, readonly [from: number, to: number]> = {
  unpacking: [0, 0.05],
  scanning: [0.05, 0.3],
  loading: [0.3, 0.7],
  transforming: [0.7, 0.75],
  indexing: [0.75, 0.97],
  publishing: [0.97, 1],
}

const everyMs = 500
const aliveMs = 1_000

export type UploadProgress = {
  /** The progress within a stage, from 0 to 1, and the rows loaded so far. */
  at(stage: Stage, fraction: number, rows?: number): void
  end(): Promise<void>
}

export type ProgressOptions = {
  readonly db: Db
  /** The lease is lost. */
  onLost(): void
  /** Progress was written. */
  onWritten(): void
}

/** Writes progress to the database: rarely enough to be cheap, often enough to keep the lease. */
export function createProgress(upload: ClaimedUpload, { db, onLost, onWritten }: ProgressOptions): UploadProgress {
  let reached: Reached = { stage: null, progress: 0, rows: null }
  let written = reached
  let writtenAt = 0
  let writing: Promise<void> | undefined

  async function write(next: Reached | undefined): Promise<void> {
    written = next ?? written
    writtenAt = performance.now()
    // A short loss of the database is ignored here; the work itself will notice.
    const isHeld = await report(db, upload, next).catch(() => true)
    if (!isHeld) onLost()
    else if (next) onWritten()
  }

  const timer = setInterval(() => {
    const next = isDeepStrictEqual(reached, written) ? undefined : reached
    if (writing || (!next && performance.now() - writtenAt < aliveMs)) return
    writing = write(next).finally(() => {
      writing = undefined
    })
  }, everyMs)

  return {
    at(stage, fraction, rows) {
      const [from, to] = spans[stage]
      if (reached.stage !== stage) announce('uploadStage', { stage })
      const progress = Math.round((from + (to - from) * Math.min(1, fraction)) * 1e4) / 1e4
      reached = { stage, progress: Math.max(reached.progress, progress), rows: rows ?? reached.rows }
    },
    async end() {
      clearInterval(timer)
      await writing
    },
  }
}
