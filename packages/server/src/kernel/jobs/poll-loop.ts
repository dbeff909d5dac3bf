import type { Background } from './background.ts'

/** A poll loop: turns one after the other, at once when somebody asks for one, otherwise after a pause while they are wanted. */
export type PollLoop = {
  /** Resolves when a turn has ended that began after now; rejects if that turn failed. */
  next(): Promise<void>
  /** The same for callers who do not wait. */
  poke(): void
}

export type PollLoopOptions = {
  readonly background: Background
  /** One turn. Answers the milliseconds until the next one. */
  take(): Promise<number>
  /** The pause after a turn that failed. */
  readonly afterFailureMs: number
  /** Whether turns go on though nobody asks for one. */
  isWanted(): boolean
  onError(error: unknown): void
}

export function createPollLoop({ background, take, afterFailureMs, isWanted, onError }: PollLoopOptions): PollLoop {
  let isTaking = false
  let isAsked = false
  let waiting: PromiseWithResolvers<void>[] = []
  let timer: NodeJS.Timeout | undefined
  const watched = background.watch()

  /** The pause until the next turn. */
  async function takeOne(): Promise<number> {
    const served = waiting
    waiting = []
    isAsked = false
    let pauseMs = afterFailureMs
    try {
      await watched(async () => {
        pauseMs = await take()
      })
      for (const { resolve } of served) resolve()
    } catch (error) {
      for (const { reject } of served) reject(error)
      onError(error)
    }
    return pauseMs
  }

  async function run(): Promise<void> {
    if (isTaking) return
    isTaking = true
    background.cancel(timer)
    let pauseMs = await takeOne()
    while (isAsked) pauseMs = await takeOne()
    isTaking = false
    if (isWanted()) timer = background.later(pauseMs, poke)
  }

  function poke(): void {
    isAsked = true
    background.run(run)
  }

  return {
    poke,
    next() {
      const turn = Promise.withResolvers<void>()
      waiting.push(turn)
      poke()
      return turn.promise
    },
  }
}
