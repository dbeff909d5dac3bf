const signals = ['SIGTERM', 'SIGINT'] as const

/** Aborted by SIGTERM or SIGINT. A second signal ends the process at once. */
export function terminationSignal(): { signal: AbortSignal; dispose(): void } {
  const abort = new AbortController()
  let askedAt = Number.POSITIVE_INFINITY
  // Under npm, Ctrl-C arrives twice: from the terminal and from npm.
  const ask = (name: NodeJS.Signals) => {
    if (performance.now() - askedAt > 1_000) {
      dispose()
      process.kill(process.pid, name)
    }
    askedAt = Math.min(askedAt, performance.now())
    abort.abort()
  }
  const dispose = () => {
    for (const name of signals) process.off(name, ask)
  }
  for (const name of signals) process.on(name, ask)
  return { signal: abort.signal, dispose }
}
