// Serves an agent: starts the link's thread and runs a handler for each invocation.
import { randomUUID } from 'node:crypto'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ConnectionRefused } from './errors.ts'
import type { Handler, Log } from './invocation.ts'
import type { FromLink, LinkSettings, ToLink } from './link-messages.ts'
import type { Invoke, OutputFrame } from './protocol.ts'
import { type RunningInvocation, runInvocation } from './run-invocation.ts'
import { terminationSignal } from './termination-signal.ts'
import { exitIfUncaught } from './uncaught-refusal.ts'
import { version as packageVersion } from './version.ts'

export type ServeOptions = {
  /** The platform's URL, for example `https://maps.example.org`. */
  url: string | undefined
  /** An API key with `agents` write access to this agent. */
  apiKey: string | undefined
  agentId: string | undefined
  /** The number of concurrent invocations. @defaultValue 8 */
  capacity?: number
  /** Stops the worker after its running invocations. Without it, SIGTERM and SIGINT do that. */
  signal?: AbortSignal
  /** The time limit of running invocations after that. @defaultValue 25 000 */
  drainMs?: number
  /** The version of your program, shown in the list of workers. */
  version?: string
  /** @defaultValue console.error */
  log?: Log
}

/** The platform frees the slot of a cancelled invocation after the same time. */
const cancelGraceMs = 5_000
const sdk = `graticule-agent-js/${packageVersion}`

/**
 * Serves the agent until it is stopped, and reconnects automatically. Rejects with ConnectionRefused if the platform
 * refuses this worker; uncaught, this prints one line and exits with code 1.
 */
export async function serveAgent(options: ServeOptions, handler: Handler): Promise<void> {
  try {
    await serve(options, handler)
  } catch (error) {
    if (error instanceof ConnectionRefused) exitIfUncaught(error)
    throw error
  }
}

async function serve(options: ServeOptions, handler: Handler): Promise<void> {
  const settings = linkSettings(options)
  const { drainMs = 25_000, log = (line) => console.error(`[agent ${options.agentId}] ${line}`) } = options
  const thread = startThread(settings)
  const running = new Map<string, RunningInvocation>()
  const post = (message: ToLink) => thread.postMessage(message)

  async function invoke(frame: Invoke): Promise<void> {
    const { id } = frame
    const send = (output: OutputFrame) => post(outputMessage(output))
    const invocation = runInvocation(withOwnAddress(frame), handler, { send, log })
    running.set(id, invocation)
    await invocation.ended
    running.delete(id)
  }

  /** Replaces the host of the tools' URL: the caller's route to the platform may not work from this worker. */
  const withOwnAddress = (frame: Invoke): Invoke =>
    frame.tools ? { ...frame, tools: { ...frame.tools, mcpUrl: addressOf(options.url, '/api/v1/mcp').href } } : frame

  function cancel(id: string, reason: string): void {
    const invocation = running.get(id)
    if (!invocation) return
    const forget = setTimeout(() => {
      log(`Invocation ${id} was cancelled but still runs: its handler ignores the signal.`)
      running.delete(id)
      post({ type: 'forget', id })
    }, cancelGraceMs)
    void invocation.ended.then(() => clearTimeout(forget))
    invocation.cancel(reason)
  }

  function receive({ frame }: Extract<FromLink, { type: 'frame' }>): void {
    if (frame.t === 'invoke') void invoke(frame)
    else if (frame.t === 'credit') running.get(frame.id)?.addCredit(frame.bytes)
    else cancel(frame.id, frame.reason)
  }

  const stop = options.signal ? { signal: options.signal, dispose() {} } : terminationSignal()
  const drain = () => {
    log('Stopping after the invocations that are running.')
    post({ type: 'drain' })
  }
  try {
    const ended = threadEnd(thread, { receive, log })
    if (stop.signal.aborted) drain()
    else stop.signal.addEventListener('abort', drain, { once: true })
    await Promise.race([ended, afterAbort(stop.signal, drainMs)])
    log('Stopped.')
  } finally {
    stop.signal.removeEventListener('abort', drain)
    stop.dispose()
    await abandon([...running.values()])
    await thread.terminate()
  }
}

/** Cancels the running invocations and waits for their clean-up, up to the grace period. */
async function abandon(invocations: readonly RunningInvocation[]): Promise<void> {
  for (const invocation of invocations) invocation.cancel('stopped')
  const timeUp = new Promise((resolve) => setTimeout(resolve, cancelGraceMs).unref())
  await Promise.race([Promise.all(invocations.map(({ ended }) => ended)), timeUp])
}

function outputMessage(frame: OutputFrame): ToLink {
  const isTerminal = frame.t === 'done' || frame.t === 'error' || frame.t === 'cancelled'
  return { type: 'output', id: frame.id, isTerminal, text: JSON.stringify(frame) }
}

function startThread(settings: LinkSettings): Worker {
  // .ts when running from sources, .js when compiled.
  const file = new URL(`./link-thread${extname(import.meta.url)}`, import.meta.url)
  // The flag --input-type of `node --eval` is not allowed for a worker that is a file.
  const isText = process.execArgv.some((flag) => flag.startsWith('--input-type'))
  return new Worker(file, { workerData: settings, ...(isText && { execArgv: [] }) })
}

function threadEnd(
  thread: Worker,
  { receive, log }: { receive(message: Extract<FromLink, { type: 'frame' }>): void; log: Log },
): Promise<void> {
  return new Promise((resolve, reject) => {
    thread.on('message', (message: FromLink) => {
      if (message.type === 'frame') receive(message)
      else if (message.type === 'log') log(message.line)
      else if (message.refusal) reject(refusalError(message.refusal))
      else resolve()
    })
    thread.on('error', reject)
  })
}

const advice: Readonly<Record<number, string>> = {
  401: 'The API key was refused. Use a key with the access "agents" write for this agent.',
  404: 'The application of this API key has no such agent.',
}

const refusalError = ({ status, message }: { status: number; message: string }): ConnectionRefused =>
  new ConnectionRefused(`${advice[status] ?? 'The platform refused this worker.'} (${message})`, status)

function afterAbort(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const wait = () => setTimeout(resolve, ms).unref()
    if (signal.aborted) wait()
    else signal.addEventListener('abort', wait, { once: true })
  })
}

function linkSettings({ url, apiKey, agentId, capacity = 8, version }: ServeOptions): LinkSettings {
  if (!apiKey) throw new TypeError('serveAgent needs an apiKey.')
  if (!agentId) throw new TypeError('serveAgent needs an agentId.')
  if (!Number.isInteger(capacity) || capacity < 1 || capacity > 1_000) {
    throw new TypeError('serveAgent needs a capacity that is a whole number from 1 to 1000.')
  }
  const address = socketAddress(url, agentId)
  return { address, apiKey, workerId: randomUUID(), capacity, sdk, ...(version !== undefined && { version }) }
}

function socketAddress(url: string | undefined, agentId: string): string {
  const address = addressOf(url, `/api/v1/agents/${encodeURIComponent(agentId)}/connect`)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  return address.href
}

/** A URL of the platform, whose base URL may have a path. */
function addressOf(url: string | undefined, path: string): URL {
  const base = URL.canParse(url ?? '') ? new URL(url ?? '') : undefined
  if (!base || !/^https?:$/.test(base.protocol)) {
    throw new TypeError('serveAgent needs a url that begins with http:// or https://.')
  }
  base.search = ''
  base.hash = ''
  base.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`
  return base
}
