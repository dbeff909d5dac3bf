import { inspect } from 'node:util'
import { run } from './cli.ts'
import { masked } from './log.ts'

// Files of this process and its children are not readable by other users of the machine.
process.umask(0o077)

const stop = new AbortController()
let askedAt = Number.POSITIVE_INFINITY
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // Ctrl-C under npm arrives twice, from the terminal and from npm. A later second one stops at once.
    if (performance.now() - askedAt > 1_000) process.exit(1)
    askedAt = Math.min(askedAt, performance.now())
    stop.abort()
  })
}

try {
  await run(process.argv.slice(2), process.env, { stop: stop.signal, isTerminal: process.stdout.isTTY === true })
  process.exit(0)
} catch (error) {
  const isExpected = error instanceof Error && error.name === 'StartError'
  console.error(masked(isExpected ? error.message : inspect(error)))
  process.exit(1)
}
