import type { Db } from '../db/db.ts'
import type { Stage } from './upload.ts'
import { type Claimed, report } from './upload-state.ts'

/** Which part of the whole each stage is. */
const spans: Record<Stage, readonly [from: number, to: number]> = {
  unpacking: [0, 0.05],
  scanning: [0.05, 0.3],
  loading: [0.3, 0.7],
  transforming: [0.7, 0.75],
  indexing: [0.75, 0.9],
  overviews: [0.9, 0.97],
  publishing: [0.97, 1],
}

const everyMs = 500
const aliveMs = 1_000

export type Progress = {
  /** How much of the stage is done, from 0 to 1. */
  at(stage: Stage, fraction: number): void
  end(): Promise<void>
}

/** Writes down how far an upload is, not too often; and often enough that nobody takes its worker for dead. */
export function createProgress(db: Db, upload: Claimed, onLost: () => void): Progress {
  let stage: Stage | null = null
  let reached = 0
  let written: { stage: Stage | null; reached: number; at: number } = { stage, reached, at: 0 }
  let writing: Promise<void> | undefined

  async function write(): Promise<void> {
    written = { stage, reached, at: performance.now() }
    // A database that cannot be reached for a moment is for the work itself to notice.
    const isOurs = await report(db, upload, stage, reached).catch(() => true)
    if (!isOurs) onLost()
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
      stage = next
      reached = Math.max(reached, Math.round((from + (to - from) * Math.min(1, fraction)) * 1e4) / 1e4)
    },
    async end() {
      clearInterval(timer)
      await writing
    },
  }
}
