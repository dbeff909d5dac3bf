import { startThread } from '../../../kernel/concurrency/channel.ts'
import { createWorkerPool } from '../../../kernel/concurrency/worker-pool.ts'
import { ApiError, type Fault, faulty } from '../../../kernel/errors.ts'

/** Validates map styles with MapLibre's own specification, in a thread: a large style takes a second of computing. */
export type StyleCheck = {
  /** Throws a 400 that names the path of each fault; with the signal the check ends. */
  check(style: unknown, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

const patienceMs = 10_000
const heapMb = 256

export function createStyleCheck(): StyleCheck {
  const script = new URL('./style-check-worker.ts', import.meta.url)
  // One style at a time: the patience with one is not used up by those before it.
  const pool = createWorkerPool<unknown, string[]>({
    start: () => startThread(script, { resourceLimits: { maxOldGenerationSizeMb: heapMb } }),
    size: 1,
    depth: 1,
    onAbort: 'replace',
    timeout: { ends: 'replace', ms: () => patienceMs },
    errors: {
      busy: tooComplex,
      late: tooComplex,
      lost: tooComplex,
      closing: () => new ApiError('shutting_down', 'The server is stopping.'),
    },
  })
  return {
    async check(style, signal) {
      const messages = await pool.run(style, { signal })
      if (messages.length > 0) throw faulty(messages.map(faultOf))
    },
    close: pool.close,
  }
}

const tooComplex = (): ApiError =>
  faulty([faultOf('is too complex to be checked within 10 s: use fewer layers or shorter expressions')])

/** `layers[0].type: expected …` → path `body/style/layers/0/type` */
function faultOf(text: string): Fault {
  const [, place = '', message = text] = /^([\w$[\].-]+): (.*)$/s.exec(text) ?? []
  const path = place.replaceAll(/\[(\d+)\]/g, '.$1').replaceAll('.', '/')
  return { path: path ? `body/style/${path}` : 'body/style', code: 'style', message }
}
