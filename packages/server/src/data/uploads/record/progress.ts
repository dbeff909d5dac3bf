// Progress reports, which also renew the lease.
import type { Db } from '../../../kernel/db/db.ts'
import { report as announce } from '../../../kernel/events.ts'
import type { Stage } from './upload.ts'
import { type ClaimedUpload, report } from './upload-state.ts'

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
  /** The progress within a stage, from 0 to 1. */
  at(stage: Stage, fraction: number): void
  end(): Promise<void>
}

/** Writes progress to the database: rarely enough to be cheap, often enough to keep the lease. */
export function createProgress(db: Db, upload: ClaimedUpload, onLost: () => void): UploadProgress {
  let stage: Stage | null = null
  let reached = 0
  let written: { stage: Stage | null; reached: number; at: number } = { stage, reached, at: 0 }
  let writing: Promise<void> | undefined

  async function write(): Promise<void> {
    written = { stage, reached, at: performance.now() }
    // A short loss of the database is ignored here; the work itself will notice.
    const isHeld = await report(db, upload, stage, reached).catch(() => true)
    if (!isHeld) onLost()
  }

  const timer = setInterval(() => {
    const isNew = stage !== written.stage || reached > written.reached
    if (writing || (!isNew && performance.now() - written.at < aliveMs)) return
    writing = write().finally(() => {
      writing = undefined
    })
  }, everyMs)

  return {
    at(next, fraction) {
      const [from, to] = spans[next]
      if (stage !== next) announce('uploadStage', { stage: next })
      stage = next
      reached = Math.max(reached, Math.round((from + (to - from) * Math.min(1, fraction)) * 1e4) / 1e4)
    },
    async end() {
      clearInterval(timer)
      await writing
    },
  }
}
