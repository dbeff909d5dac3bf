// The bridge to a command: stdin is the input, stdout the answer.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { ProviderError, Reject } from '../errors.ts'
import type { Handler, Invocation } from '../invocation.ts'

export type CommandOptions = {
  /** A shell command. It reads the input from stdin and writes the answer to stdout. */
  command: string
  /** The environment of the command. @defaultValue that of the process, without the platform's key */
  env?: NodeJS.ProcessEnv
}

const killGraceMs = 3_000
const maxErrorLength = 1_000
/** Exit codes of sysexits.h that classify a failure. */
const dataError = 65
const temporaryFailure = 75

/** A handler that answers with the output of a command. Cancelling ends the command and all processes it started. */
export function command({ command, env }: CommandOptions): Handler {
  return async function* (invocation) {
    const { signal } = invocation
    const child = spawn('/bin/sh', ['-c', command], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...(env ?? inheritedEnvironment()), ...facts(invocation) },
      // Its own process group, which can be killed as a whole.
      detached: true,
    })
    const errorText = stderrTail(child)
    const exited = exitOf(child)
    const kill = () => endGroup(child, exited)
    signal.addEventListener('abort', kill, { once: true })
    try {
      // A command that does not read its input causes EPIPE, which is not an error.
      child.stdin.on('error', () => {}).end(invocation.input)
      yield* child.stdout.setEncoding('utf8')
      const { code, signal: killedBy } = await exited
      signal.throwIfAborted()
      if (code !== 0) throw failure(code, killedBy, errorText())
    } finally {
      signal.removeEventListener('abort', kill)
      kill()
    }
  }
}

type Exit = { code: number | null; signal: string | null }

async function exitOf(child: ChildProcess): Promise<Exit> {
  const [code, signal] = await once(child, 'exit')
  // Processes that the command left running would keep its stdout open.
  signalGroup(child, 'SIGKILL')
  return { code, signal }
}

function endGroup(child: ChildProcess, exited: Promise<Exit>): void {
  if (child.exitCode !== null || child.signalCode !== null) return
  signalGroup(child, 'SIGTERM')
  const last = setTimeout(() => signalGroup(child, 'SIGKILL'), killGraceMs)
  void exited.finally(() => clearTimeout(last))
}

function signalGroup({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name)
  } catch {
    // The process group has already ended.
  }
}

/** The end of the command's stderr. */
function stderrTail(child: ChildProcess): () => string {
  let tail = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    tail = (tail + text).slice(-maxErrorLength)
  })
  return () => tail.trim()
}

function failure(code: number | null, signal: string | null, errorText: string): Error {
  if (code === dataError) return new Reject(errorText || 'The command rejected the input.')
  if (code === temporaryFailure) return new ProviderError('The command failed. Try again later.', { detail: errorText })
  return new Error(`The command ended with ${code ?? signal}: ${errorText}`)
}

function inheritedEnvironment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: a command inherits the environment, as in a shell
  const { GRATICULE_API_KEY: _, ...rest } = process.env
  return rest
}

const facts = ({ id, conversationId, caller, context }: Invocation): NodeJS.ProcessEnv => ({
  GRATICULE_INVOCATION_ID: id,
  ...(conversationId !== undefined && { GRATICULE_CONVERSATION_ID: conversationId }),
  ...(caller !== undefined && { GRATICULE_CALLER: caller }),
  ...(context && { GRATICULE_CONTEXT: JSON.stringify(context) }),
})
