import { isatty } from 'node:tty'
import { inspect, parseArgs } from 'node:util'
import { joinSupervisor } from './boot/cluster/cluster-worker.ts'
import { countWorkers } from './boot/cluster/count-workers.ts'

// Files of this process and its children are not readable by other users of the machine.
process.umask(0o077)

const args = process.argv.slice(2)
const isTerminal = process.stdout.isTTY === true
const stop = new AbortController()
let stopRequestedAt = Number.POSITIVE_INFINITY
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // Ctrl-C under npm arrives twice, from the terminal and from npm. A later second one stops at once.
    if (performance.now() - stopRequestedAt > 1_000) process.exit(1)
    stopRequestedAt = Math.min(stopRequestedAt, performance.now())
    stop.abort()
  })
}

try {
  const worker = joinSupervisor(process.env)
  const workers = worker || !isServing() ? 1 : countWorkers(process.env)
  if (workers > 1) process.exit(await supervise(workers))
  const { run } = await import('./boot/cli.ts')
  await run(args, process.env, { stop: stop.signal, isTerminal, worker })
  process.exit()
} catch (error) {
  const { masked } = await import('./boot/start/log.ts')
  const isExpected = error instanceof Error && error.name === 'StartError'
  console.error(masked(isExpected ? error.message : inspect(error)))
  process.exit(1)
}

/** Whether the command is `serve`. Wrong arguments are explained by the first worker. */
function isServing(): boolean {
  const { values, positionals } = parseArgs({ args, strict: false, allowPositionals: true })
  return (positionals[0] ?? 'serve') === 'serve' && !values.help && !values.h
}

async function supervise(workers: number): Promise<number> {
  const { createSupervisor } = await import('./boot/cluster/supervisor.ts')
  const supervisor = createSupervisor(workers, (level, fields, text) => {
    // The library is loaded when there is something to say.
    void import('./boot/start/log.ts').then(({ createLogger }) => {
      createLogger(process.env.LOG_LEVEL || 'info', undefined, isTerminal)[level](fields, text)
    })
  })
  // On a terminal the signal says that the terminal is gone.
  if (![0, 1, 2].some((descriptor) => isatty(descriptor))) process.on('SIGHUP', () => void supervisor.restart())
  return supervisor.run(stop.signal)
}
