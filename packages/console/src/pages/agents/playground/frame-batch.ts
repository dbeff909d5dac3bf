/**
 * Coalesces work to once per animation frame. A background tab has no animation frames; there a timer does the work, so
 * that it is not delayed until the tab is visible.
 */
export interface FrameBatch {
  /** Schedules the work. */
  ask(): void
  cancel(): void
}

const withoutFramesMs = 200

export function createFrameBatch(work: () => void): FrameBatch {
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const cancel = () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    frame = 0
    timer = undefined
  }
  const run = () => {
    cancel()
    work()
  }
  return {
    ask() {
      if (timer !== undefined) return
      frame = requestAnimationFrame(run)
      timer = setTimeout(run, withoutFramesMs)
    },
    cancel,
  }
}
