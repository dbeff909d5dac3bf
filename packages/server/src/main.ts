import { run } from './cli.ts'

const stop = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // Whoever asks twice does not want to wait.
    if (stop.signal.aborted) process.exit(1)
    stop.abort()
  })
}

try {
  await run(process.argv.slice(2), process.env, stop.signal)
  process.exit(0)
} catch (error) {
  const isExpected = error instanceof Error && error.name === 'StartError'
  console.error(isExpected ? error.message : error)
  process.exit(1)
}
