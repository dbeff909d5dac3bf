import type { Background } from '../../kernel/jobs/background.ts'

/** A loop of turns, one after the other: at once when somebody waits for one, otherwise at an interval while it is wanted. */
export type Turns = {
  /** Resolves when a turn has ended that began after now; rejects if that turn failed. */
  next(): Promise<void>
}

export type TurnsOptions = {
  readonly background: Background
  readonly everyMs: number
  /** The interval after a turn that failed. */
  readonly afterFailureMs: number
  take(): Promise<void>
  /** Whether turns go on though nobody waits for one. */
  isWanted(): boolean
  onError(error: unknown): void
}

export function createTurns({ background, everyMs, afterFailureMs, take, isWanted, onError }: TurnsOptions): Turns {
  let isTaking = false
  let waiting: PromiseWithResolvers<void>[] = []
  let timer: NodeJS.Timeout | undefined
  const watched = background.watch()

  /** Whether the turn went well. */
  async function takeOne(): Promise<boolean> {
    const served = waiting
    waiting = []
    try {
      await watched(take)
      for (const { resolve } of served) resolve()
      return true
    } catch (error) {
      for (const { reject } of served) reject(error)
      onError(error)
      return false
    }
  }

  async function run(): Promise<void> {
    if (isTaking) return
    isTaking = true
    background.cancel(timer)
    let isWell = await takeOne()
    while (waiting.length > 0) isWell = await takeOne()
    isTaking = false
    if (isWanted()) timer = background.later(isWell ? everyMs : afterFailureMs, () => background.run(run))
  }

  return {
    next() {
      const turn = Promise.withResolvers<void>()
      waiting.push(turn)
      background.run(run)
      return turn.promise
    },
  }
}
