/**
 * A meter of the process that it runs in. It counts CPU time, not wall-clock time, so that a busy neighbour changes nothing.
 */
export type CpuReading = {
  /** CPU time of all threads since the beginning, in milliseconds. */
  readonly cpuMs: number
  /**
   * The most CPU time that the main thread took between two turns of the event loop: for so long, on a quiet machine, it
   * answered nobody.
   */
  readonly longestTurnMs: number
  /** The largest resident memory since the beginning less that of the beginning, in bytes. */
  readonly grownBytes: number
}

const turnMs = 2

export function startCpuMeter() {
  let begunAt = process.cpuUsage()
  let lastTurn = threadMs()
  let [longestTurnMs, firstBytes, mostBytes] = [0, 0, 0]
  const look = (): void => {
    const now = threadMs()
    longestTurnMs = Math.max(longestTurnMs, now - lastTurn)
    mostBytes = Math.max(mostBytes, process.memoryUsage.rss())
    lastTurn = threadMs()
  }
  // It fires once in a turn of the loop, however late.
  setInterval(look, turnMs)
  return {
    begin(): void {
      begunAt = process.cpuUsage()
      lastTurn = threadMs()
      longestTurnMs = 0
      firstBytes = mostBytes = process.memoryUsage.rss()
    },
    read(): CpuReading {
      look()
      const { user, system } = process.cpuUsage(begunAt)
      return { cpuMs: (user + system) / 1000, longestTurnMs, grownBytes: mostBytes - firstBytes }
    },
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
