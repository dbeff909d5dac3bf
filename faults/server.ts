import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type Answer, type Call, call } from './http.ts'

export type ServerOptions = {
  readonly args: readonly string[]
  /** Of Node. */
  readonly flags: readonly string[]
  readonly startMs: number
  onSpawn(pid: number): void
}

export type FaultServer = {
  readonly url: string
  readonly pid: number
  readonly process: ChildProcess
  /** From the start of the process to the first greeting. */
  readonly startedInMs: number
  hasEnded(): boolean
  /** The end of what it has written. */
  log(): string
  /** With the master key unless another is said. */
  call(method: string, path: string, call?: Call): Promise<Answer>
  kill(signal?: NodeJS.Signals): Promise<void>
}

export const masterKey = randomUUID()
const main = new URL('../packages/server/bin/graticule.js', import.meta.url).pathname
const keptLog = 4_000
const keptLine = 300
const running = new Set<ChildProcess>()

// However this process ends, no server outlives it.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** The whole server in one process unless WORKERS says otherwise, listening. */
export async function startServer(
  env: Record<string, string>,
  { args = ['serve', '--empty'], flags = [], startMs = 120_000, onSpawn }: Partial<ServerOptions> = {},
): Promise<FaultServer> {
  const begun = performance.now()
  const child = spawn(process.execPath, ['--max-semi-space-size=16', ...flags, main, ...args], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      HOST: '127.0.0.1',
      WORKERS: '1',
      LOG_LEVEL: 'error',
      MASTER_API_KEY: masterKey,
      EGRESS_ALLOW: '127.0.0.1:*',
      MALLOC_ARENA_MAX: '4',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (child.pid) onSpawn?.(child.pid)
  running.add(child)
  child.once('exit', () => running.delete(child))
  let written = ''
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The server did not start:\n${written}`)), startMs)
    child.once('exit', () => reject(new Error(`The server ended at its start:\n${written}`)))
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        written = (written + text).slice(-keptLog)
        const [, address] = /Graticule +(http:\S+)\n/.exec(written) ?? []
        if (!address) return
        clearTimeout(timer)
        resolve(address)
      })
  }).catch((error) => {
    child.kill('SIGKILL')
    throw error
  })
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    url,
    pid: child.pid ?? 0,
    process: child,
    startedInMs: performance.now() - begun,
    hasEnded,
    log: () => written.replaceAll(/^.*$/gm, (line) => line.slice(0, keptLine)),
    call: (method, path, options = {}) => call(url, method, path, { key: masterKey, ...options }),
    async kill(signal = 'SIGKILL') {
      if (hasEnded()) return
      const exited = once(child, 'exit')
      child.kill(signal)
      await exited
    },
  }
}
