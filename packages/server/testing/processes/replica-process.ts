import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { unoptimized } from '../command-line.ts'

export type ReplicaProcess = {
  readonly url: string
  readonly process: ChildProcess
  end(signal: NodeJS.Signals): Promise<void>
}

const server = fileURLToPath(new URL('../../bin/graticule.js', import.meta.url))
const worker = fileURLToPath(new URL('./agent-worker-process.ts', import.meta.url))

/** The whole server as one process of its own, unless `WORKERS` says otherwise, listening. */
export async function startReplica(env: Record<string, string>): Promise<ReplicaProcess> {
  const started = start(server, { EGRESS_ALLOW: '127.0.0.1:*', ...env, PORT: '0', HOST: '127.0.0.1' })
  const url = await started.say(/http:\/\/127\.0\.0\.1:\d+/)
  return { ...started, url }
}

/** A worker as a process of its own; it knows the addresses of all replicas. */
export async function startWorkerProcess(env: Record<string, string>): Promise<Omit<ReplicaProcess, 'url'>> {
  const started = start(worker, env)
  await started.say(/ready/)
  return started
}

function start(script: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [...unoptimized, script], {
    env: { PATH: process.env.PATH, LOG_LEVEL: process.env.TEST_LOG ?? 'silent', WORKERS: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  return {
    process: child,
    say: (pattern: RegExp) =>
      new Promise<string>((resolve, reject) => {
        lines.on('line', (line) => {
          const found = pattern.exec(line)
          if (found) resolve(found[0])
        })
        child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)))
      }),
    async end(signal: NodeJS.Signals) {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill(signal)
      await once(child, 'exit')
    },
  }
}
