import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type ApiError, type Fault, faulty } from '../errors.ts'

/** Validates map styles with MapLibre's own specification, in a thread: a large style takes a second of computing. */
export type StyleCheck = {
  /** Throws a 400 that names the path of each fault; with the signal the check ends. */
  check(style: unknown, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

const patienceMs = 10_000
const idleMs = 60_000

export function createStyleCheck(): StyleCheck {
  let worker: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let turn: Promise<unknown> = Promise.resolve()

  async function stop(): Promise<void> {
    clearTimeout(idle)
    const stopped = worker
    worker = undefined
    await stopped?.terminate()
  }

  /** The validator's messages. One style at a time: the patience with one is not used up by those before it. */
  async function ask(style: unknown, signal: AbortSignal): Promise<string[]> {
    signal.throwIfAborted()
    clearTimeout(idle)
    worker ??= new Worker(new URL('./style-check-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    })
    try {
      worker.postMessage(style)
      const end = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
      const [messages] = await once(worker, 'message', { signal: end })
      idle = setTimeout(stop, idleMs).unref()
      return messages
    } catch {
      await stop()
      signal.throwIfAborted()
      return ['is too complex to be checked within 10 s: use fewer layers or shorter expressions']
    }
  }

  return {
    async check(style, signal) {
      const verdict = turn.then(() => ask(style, signal))
      turn = verdict.catch(() => undefined)
      const messages = await verdict
      if (messages.length > 0) throw refusal(messages)
    },
    close: stop,
  }
}

function refusal(messages: readonly string[]): ApiError {
  return faulty(messages.map(faultOf))
}

/** `layers[0].type: expected …` → path `body/style/layers/0/type` */
function faultOf(text: string): Fault {
  const [, place = '', message = text] = /^([\w$[\].-]+): (.*)$/s.exec(text) ?? []
  const path = place.replaceAll(/\[(\d+)\]/g, '.$1').replaceAll('.', '/')
  return { path: path ? `body/style/${path}` : 'body/style', code: 'style', message }
}
