import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { ProviderError, Reject } from '../errors.ts'
import type { Handler, Invocation } from '../invocation.ts'

export type CommandOptions = {
  /** Run by the shell: the input comes on its stdin, its stdout is the answer. */
  command: string
  /** What the command sees. @defaultValue the environment of the process, without the platform's key */
  env?: NodeJS.ProcessEnv
}

const killGraceMs = 3_000
const maxComplaintLength = 1_000
/** Of sysexits.h: how a command says whose fault it was. */
const dataError = 65
const temporaryFailure = 75

/** Answers with what a command prints. A cancelled one is ended together with all it started. */
export function command({ command, env }: CommandOptions): Handler {
  return async function* (invocation) {
    const { signal } = invocation
    const child = spawn('/bin/sh', ['-c', command], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...(env ?? inheritedEnvironment()), ...facts(invocation) },
      // A process group of its own can be ended as a whole.
      detached: true,
    })
    const complaint = lastWords(child)
    const exited = exitOf(child)
    const kill = () => endGroup(child, exited)
    signal.addEventListener('abort', kill, { once: true })
    try {
      // Whoever does not read its input is free to do so.
      child.stdin.on('error', () => {}).end(invocation.input)
      yield* child.stdout.setEncoding('utf8')
      const { code, signal: killedBy } = await exited
      signal.throwIfAborted()
      if (code !== 0) throw failure(code, killedBy, complaint())
    } finally {
      signal.removeEventListener('abort', kill)
      kill()
    }
  }
}

type Exit = { code: number | null; signal: string | null }

async function exitOf(child: ChildProcess): Promise<Exit> {
  const [code, signal] = await once(child, 'exit')
  // What the command left running would keep its output open for ever.
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
    // All have ended.
  }
}

/** The end of what the command wrote to stderr. */
function lastWords(child: ChildProcess): () => string {
  let words = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    words = (words + text).slice(-maxComplaintLength)
  })
  return () => words.trim()
}

function failure(code: number | null, signal: string | null, complaint: string): Error {
  if (code === dataError) return new Reject(complaint || 'The command rejected the input.')
  if (code === temporaryFailure) return new ProviderError('The command failed. Try again later.', { detail: complaint })
  return new Error(`The command ended with ${code ?? signal}: ${complaint}`)
}

function inheritedEnvironment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: a command sees what its shell would show it
  const { GRATICULE_API_KEY: _, ...rest } = process.env
  return rest
}

const facts = ({ id, conversationId, caller, context }: Invocation): NodeJS.ProcessEnv => ({
  GRATICULE_INVOCATION_ID: id,
  ...(conversationId !== undefined && { GRATICULE_CONVERSATION_ID: conversationId }),
  ...(caller !== undefined && { GRATICULE_CALLER: caller }),
  ...(context && { GRATICULE_CONTEXT: JSON.stringify(context) }),
})
