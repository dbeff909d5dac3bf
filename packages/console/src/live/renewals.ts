/**
 * Coalesces changes into renewals of what is shown: one at a time, with a pause after each that is a multiple of the time it took,
 * so that a stream of changes costs a bounded share of the server; none while the tab is hidden.
 */
import { pageVisibility, type Visibility } from './visibility.ts'

export interface RenewalOptions<Change> {
  merge(one: Change, other: Change): Change
  renew(change: Change): Promise<void>
  /** A renewal that took a second is followed by a pause of so many seconds. */
  pauseFactor: number
  /** The shortest pause. @defaultValue 500 */
  pauseMs?: number
  visibility?: Visibility
}

export interface Renewals<Change> {
  add(change: Change): void
  end(): void
}

export function createRenewals<Change>(options: RenewalOptions<Change>): Renewals<Change> {
  const { merge, renew, pauseFactor, pauseMs = 500, visibility = pageVisibility } = options
  let pending: { change: Change } | undefined
  let isBusy = false
  let isEnded = false
  let timer: ReturnType<typeof setTimeout> | undefined

  function run(): void {
    if (!pending || isBusy || isEnded || visibility.isHidden()) return
    const { change } = pending
    pending = undefined
    isBusy = true
    void renewThenPause(change)
  }
  async function renewThenPause(change: Change): Promise<void> {
    const begun = performance.now()
    try {
      await renew(change)
    } finally {
      if (!isEnded) timer = setTimeout(goOn, Math.max(pauseMs, pauseFactor * (performance.now() - begun)))
    }
  }
  function goOn(): void {
    isBusy = false
    run()
  }

  const stopObserving = visibility.subscribe(run)
  return {
    add(change) {
      pending = { change: pending ? merge(pending.change, change) : change }
      run()
    },
    end() {
      isEnded = true
      clearTimeout(timer)
      stopObserving()
    },
  }
}
