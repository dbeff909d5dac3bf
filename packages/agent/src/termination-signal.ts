const signals = ['SIGTERM', 'SIGINT'] as const

/** Aborted when the process is asked to end. Whoever asks again later does not want to wait. */
export function terminationSignal(): { signal: AbortSignal; dispose(): void } {
  const abort = new AbortController()
  let askedAt = Number.POSITIVE_INFINITY
  // Ctrl-C under npm arrives twice, from the terminal and from npm.
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
