/**
 * For how long one transaction has held the feed back. Counted from when this process saw it first: what the database knows of
 * the sessions of others is not for every role to read.
 */
export type HoldbackWatch = {
  note(horizon: bigint, isHeld: boolean): void
  readonly seconds: number
}

export function createHeldBack(now: () => number = () => performance.now()): HoldbackWatch {
  let oldest: { readonly horizon: bigint; readonly since: number } | undefined
  return {
    note(horizon, isHeld) {
      if (!isHeld) oldest = undefined
      else if (oldest?.horizon !== horizon) oldest = { horizon, since: now() }
    },
    get seconds() {
      return oldest ? (now() - oldest.since) / 1_000 : 0
    },
  }
}
