import { randomUUID } from 'node:crypto'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ConnectionRefused } from './errors.ts'
import type { Handler, Log } from './invocation.ts'
import type { FromLink, LinkSettings, ToLink } from './link-messages.ts'
import type { Invoke, OutputFrame } from './protocol.ts'
import { type Running, runInvocation } from './run-invocation.ts'
import { terminationSignal } from './termination-signal.ts'
import { sayUncaught } from './uncaught-refusal.ts'
import { version as packageVersion } from './version.ts'

export type ServeOptions = {
  /** Where the platform is, for example `https://maps.example.org`. */
  url: string | undefined
  /** A key with the access `agents` write on this agent. */
  apiKey: string | undefined
  agentId: string | undefined
  /** How many invocations at once. @defaultValue 8 */
  capacity?: number
  /** Ends the serving: what runs is finished first. Without it SIGTERM and SIGINT do that. */
  signal?: AbortSignal
  /** How long what runs may take after that. @defaultValue 25 000 */
  drainMs?: number
  /** Your version, shown with the workers of the agent. */
  version?: string
  /** @defaultValue console.error */
  log?: Log
}

/** The platform frees the place of a cancelled invocation after this time as well. */
const cancelGraceMs = 5_000
const sdk = `graticule-agent-js/${packageVersion}`

/**
 * Serves the agent until it is told to stop; reconnects by itself. Rejects with ConnectionRefused when the platform
 * refuses this worker. Uncaught, that is one line and the exit code 1.
 */
export async function serveAgent(options: ServeOptions, handler: Handler): Promise<void> {
  try {
    await serve(options, handler)
  } catch (error) {
    if (error instanceof ConnectionRefused) sayUncaught(error)
    throw error
  }
}

async function serve(options: ServeOptions, handler: Handler): Promise<void> {
  const settings = linkSettings(options)
  const { drainMs = 25_000, log = (line) => console.error(`[agent ${options.agentId}] ${line}`) } = options
  const thread = startThread(settings)
  const running = new Map<string, Running>()
  const post = (message: ToLink) => thread.postMessage(message)

  async function invoke(frame: Invoke): Promise<void> {
    const { id } = frame
    const send = (output: OutputFrame) => post(outputMessage(output))
    const invocation = runInvocation(withOwnAddress(frame), handler, { send, log })
    running.set(id, invocation)
    await invocation.ended
    running.delete(id)
  }

  /** The platform is where this worker reaches it; how the caller reached it says nothing about that. */
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

/** Cancels what still runs, and gives it the time to clean up. */
async function abandon(invocations: readonly Running[]): Promise<void> {
  for (const invocation of invocations) invocation.cancel('stopped')
  const timeUp = new Promise((resolve) => setTimeout(resolve, cancelGraceMs).unref())
  await Promise.race([Promise.all(invocations.map(({ ended }) => ended)), timeUp])
}

function outputMessage(frame: OutputFrame): ToLink {
  const isTerminal = frame.t === 'done' || frame.t === 'error' || frame.t === 'cancelled'
  return { type: 'output', id: frame.id, isTerminal, text: JSON.stringify(frame) }
}

function startThread(settings: LinkSettings): Worker {
  // The compiled package has .js where the sources have .ts.
  const file = new URL(`./link-thread${extname(import.meta.url)}`, import.meta.url)
  // A program given as text has a flag that no file may have.
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

/** An address of the platform, which may lie below a path. */
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
