import type { Db } from '../db/db.ts'
import { createBackground, type Timer } from './background.ts'
import { type Crew, createCrew } from './crew.ts'
import { clean, type Outgoing, releaseAll } from './outgoing-rows.ts'

/** Rows are found by looking; whoever adds one says so, in order that nobody waits. */
export type Announcer = {
  /** There is a row to send. */
  announce(): void
  /** There will be one, when a transaction that is still open ends. */
  announceSoon(): void
}

export type Sending = {
  add(outgoing: Outgoing): Announcer
  /** Also looks for what was left behind when the last process ended. */
  start(): void
  /** Begins nothing more, and waits a little for what is being sent. */
  close(): Promise<void>
}

type SendingOptions = { db: Db; onError(error: unknown): void; leaseSeconds?: number }

/** Whoever works on a row says so three times in this time; otherwise it is dead, and the row anybody's again. */
const defaultLeaseSeconds = 30
const soonMs = [50, 500, 3_000]
/** Another replica may have died; on the embedded database there is no other. */
const lookMs = { postgres: 5_000, embedded: 60_000 } as const
const cleanMs = 3_600_000

/**
 * The rows are the truth: one that was committed is sent, whatever crashed. Whoever works on one claims it first, so that
 * it is sent once as far as the other side allows.
 */
export function createSending({ db, onError, leaseSeconds = defaultLeaseSeconds }: SendingOptions): Sending {
  const background = createBackground(onError)
  const looks: (() => void)[] = []
  const crews: Crew[] = []

  function lookFor(outgoing: Outgoing): () => void {
    let next: Timer
    const look = () => background.run(run)
    const crew = createCrew(outgoing, { db, background, leaseSeconds, onError, onFree: look })
    const run = coalesced(async () => {
      await crew.fill()
      const ms = 1000 * Math.max(0, await crew.secondsToNext())
      background.cancel(next)
      if (ms < lookMs[db.kind]) next = background.later(ms + 20, look)
    })
    crews.push(crew)
    return look
  }

  function everyLook(): void {
    for (const look of looks) look()
    background.later(lookMs[db.kind], everyLook)
  }

  function everyClean(): void {
    background.run(() => clean(db))
    background.later(cleanMs, everyClean)
  }

  return {
    add(outgoing) {
      const look = lookFor(outgoing)
      looks.push(look)
      return {
        announce: look,
        announceSoon() {
          for (const ms of soonMs) background.later(ms, look)
        },
      }
    },
    start() {
      background.run(async () => {
        try {
          if (db.kind === 'embedded') await releaseAll(db)
        } finally {
          everyLook()
        }
      })
      background.later(cleanMs / 60, everyClean)
    },
    async close() {
      await background.close()
      await Promise.all(crews.map((crew) => crew.close()))
    },
  }
}

/** However often it is asked for, it runs once at a time, and once more after the last time it was asked for. */
function coalesced(work: () => Promise<void>): () => Promise<void> {
  let isRunning = false
  let isWanted = false
  return async function ask(): Promise<void> {
    isWanted = true
    if (isRunning) return
    isRunning = true
    try {
      while (isWanted) {
        isWanted = false
        await work()
      }
    } finally {
      isRunning = false
    }
  }
}
