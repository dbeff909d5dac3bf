import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export type WorkerProcess = { child: ChildProcess; output(): string; exited: Promise<number | null> }

const packageFolder = join(import.meta.dirname, '..')

/** A worker in a process of its own: a program that may import '@graticule/agent', ended with the test. */
export const startProgram = (t: TestContext, program: string, env: NodeJS.ProcessEnv): WorkerProcess =>
  start(t, ['--conditions=graticule-source', '--input-type=module-typescript', '--eval', program], env)

/** The command `graticule-agent`. */
export const startCommand = (
  t: TestContext,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  folder = packageFolder,
): WorkerProcess => start(t, [join(packageFolder, 'bin/graticule-agent.js'), ...args], env, folder)

function start(t: TestContext, args: readonly string[], env: NodeJS.ProcessEnv, cwd = packageFolder): WorkerProcess {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, NODE_NO_WARNINGS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const exited = once(child, 'close').then(() => child.exitCode)
  t.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { child, output: () => output, exited }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
