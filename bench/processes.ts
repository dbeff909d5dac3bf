import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { glob, readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

export type Server = {
  readonly name: string
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

export type Command = {
  readonly name: string
  readonly port: number
  readonly file: string
  readonly parameters: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly directory?: string
  /** Answered with 2xx once the server is ready. */
  readonly readyPath: string
}

const startMs = 60_000
const stopMs = 10_000
const running = new Set<ChildProcess>()

// However this process ends, none of the servers outlives it.
process.on('exit', () => {
  for (const child of running) child.kill()
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))

export async function startServer(command: Command): Promise<Server> {
  const { name, port, file, parameters, env, directory } = command
  const child = spawn(file, parameters, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  const said = lastWords(child)
  const url = `http://127.0.0.1:${port}`
  const stop = () => stopProcess(child)
  try {
    await answers(`${url}${command.readyPath}`, child)
  } catch (error) {
    await stop()
    throw new Error(`${name} did not start (${(error as Error).message}): ${said()}`)
  }
  return { name, url, pid: child.pid ?? 0, stop }
}

/** The end of what it writes to standard error, which must be read in any case. */
function lastWords(child: ChildProcess): () => string {
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(-2_000)
  })
  return () => text
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  const failed = once(child, 'error').then(([error]) => Promise.reject(error))
  const ready = async (): Promise<void> => {
    for (const end = performance.now() + startMs; performance.now() < end; await setTimeout(50)) {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`)
      const reply = await fetch(url).catch(() => undefined)
      await reply?.arrayBuffer()
      if (reply?.ok) return
    }
    throw new Error(`no answer within ${startMs / 1000} s`)
  }
  await Promise.race([ready(), failed])
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exited = once(child, 'exit')
  child.kill()
  const isLate = await Promise.race([exited.then(() => false), setTimeout(stopMs, true, { ref: false })])
  if (isLate) child.kill('SIGKILL')
  await exited
}

/** The resident memory of a process and of all that it has started; pages that they share count once. */
export async function memoryMb({ pid }: { readonly pid: number }): Promise<number> {
  const sizes = await Promise.all((await descendants(pid)).map(proportionalKb))
  return Math.round(sizes.reduce((sum, kb) => sum + kb, 0) / 1024)
}

/** The process itself, and all that it has started. */
export async function descendants(pid: number): Promise<number[]> {
  const found = [pid]
  for await (const file of glob(`/proc/${pid}/task/*/children`)) {
    const children = (await readFile(file, 'utf8').catch(() => '')).split(' ').filter(Boolean).map(Number)
    for (const child of children) found.push(...(await descendants(child)))
  }
  return found
}

async function proportionalKb(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0)
}

export const succeeds = (file: string, parameters: readonly string[]): boolean =>
  spawnSync(file, parameters, { stdio: 'ignore' }).status === 0

export const isOnPath = (command: string): boolean => succeeds('which', [command])
