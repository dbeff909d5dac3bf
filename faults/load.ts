import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../bench/statistics.ts'
import type { Answer } from './http.ts'

export type Load = {
  /** Milliseconds of the requests that were answered. */
  readonly times: number[]
  readonly statuses: Map<number | string, number>
  /** Answers that `isKept` refused, and requests that failed; the first of each kind. */
  readonly broken: Map<string, number>
  stop(): Promise<void>
}

type LoadOptions = {
  readonly clients: number
  /** Between an answer and the next request of a client. */
  readonly pauseMs?: number
  /** The next request of a client. */
  ask(client: number, turn: number): Promise<Answer>
  /** Whether the promise allows this answer. */
  isKept(answer: Answer): boolean
  /** Whether the promise allows this failure. */
  isKeptError?(error: NodeJS.ErrnoException): boolean
}

/** Clients that go on asking until they are stopped. */
export function startLoad({ clients, pauseMs = 0, ask, isKept, isKeptError = () => false }: LoadOptions): Load {
  const times: number[] = []
  const statuses = new Map<number | string, number>()
  const broken = new Map<string, number>()
  let isOver = false
  const note = (error: NodeJS.ErrnoException): void => {
    add(statuses, error.code ?? error.message)
    if (!isKeptError(error)) add(broken, `${error.code ?? ''} ${error.message}`.trim())
  }
  const answered = (answer: Answer): void => {
    times.push(answer.ms)
    add(statuses, answer.status)
    if (!isKept(answer)) add(broken, `${answer.status} ${answer.text.slice(0, 300)}`)
  }
  const client = async (number: number): Promise<void> => {
    for (let turn = 0; !isOver; turn++) {
      await ask(number, turn).then(answered, note)
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  const running = Array.from({ length: clients }, (_, number) => client(number))
  return {
    times,
    statuses,
    broken,
    async stop() {
      isOver = true
      await Promise.all(running)
    },
  }
}

export function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

export const p = (times: readonly number[], share: number): number => Math.round(percentile(times, share) * 10) / 10

export const described = (counts: ReadonlyMap<unknown, number>): string =>
  [...counts].map(([what, count]) => `${count} × ${what}`).join(', ')
