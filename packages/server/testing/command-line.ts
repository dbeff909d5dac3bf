import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export const mainFile = new URL('../bin/graticule.js', import.meta.url).pathname

export type CommandEnvironment = Record<string, string>

/** One process: as many as there are cores would cost each test as many starts. */
const alone = { WORKERS: '1' }

/** The embedded database is WebAssembly: no test runs long enough to earn back what optimizing and validating all of it costs. */
export const unoptimized = ['--liftoff-only', '--wasm-lazy-validation']

/** Runs a command to its end; `main` is the program of another release. */
export async function runCommandLine(args: readonly string[], env: CommandEnvironment, main = mainFile) {
  const child = spawn(process.execPath, [...unoptimized, main, ...args], { env: { ...alone, ...env } })
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { output, errors, code }
}

export type ServerProcess = Awaited<ReturnType<typeof startServer>>

/** Starts a server and waits for its greeting; `main` is the program of another release. */
export const startServer = (env: CommandEnvironment, main = mainFile) =>
  greeted(spawn(process.execPath, [...unoptimized, main, 'serve'], { env: { ...alone, ...env } }))

/** The same on a terminal, whose Ctrl-C is a byte. */
export const startOnTerminal = (env: CommandEnvironment) =>
  greeted(
    spawn('script', ['-qefc', `exec ${process.execPath} ${mainFile} serve`, '/dev/null'], {
      env: { ...alone, ...env },
    }),
  )

async function greeted(child: ChildProcess) {
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      output += chunk
      const [, address] = /Graticule +(\S+)\r?\n[\s\S]*\n\r?\n/.exec(output) ?? []
      if (address) resolve(address)
    })
    child.stderr?.on('data', (chunk) => {
      output += chunk
    })
    child.on('exit', () => reject(new Error(output)))
  })
  return {
    url,
    output: () => output,
    async stop(signal: NodeJS.Signals) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const exit = once(child, 'exit')
      child.kill(signal)
      return (await exit)[0]
    },
    async type(keys: string) {
      const exit = once(child, 'exit')
      child.stdin?.write(keys)
      return (await exit)[0]
    },
  }
}
