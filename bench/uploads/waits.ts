import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from '../processes.ts'
import { percentile } from '../statistics.ts'

/** What is under way, as the record of an upload tells it. */
export const phases = ['before', 'receiving', 'reading', 'loading', 'indexing', 'drawing'] as const
export type Phase = (typeof phases)[number]

type Headers = Readonly<Record<string, string>>

export type Waits = Readonly<Record<Phase, readonly number[]>>

const everyMs = 100

/**
 * Asks for one row every 100 ms, whether or not the last answer has come: who waits for it would ask less often, the longer it takes.
 * A wait belongs to the phase in which it began.
 */
export function askOften(ask: (n: number) => Promise<unknown>, phaseNow: () => Phase): { end(): Promise<Waits> } {
  const waits = Object.fromEntries(phases.map((phase) => [phase, [] as number[]])) as Record<Phase, number[]>
  const open = new Set<Promise<void>>()
  let [n, failure] = [0, undefined as unknown]
  const timer = setInterval(() => {
    const [phase, begun] = [phaseNow(), performance.now()]
    const answered = ask(n++).then(
      () => void waits[phase].push(performance.now() - begun),
      (error) => {
        failure ??= error
      },
    )
    open.add(answered)
    void answered.then(() => open.delete(answered))
  }, everyMs)
  return {
    async end() {
      clearInterval(timer)
      await Promise.all(open)
      if (failure) throw failure
      return waits
    },
  }
}

/** p50, p95, p99 and the longest, in milliseconds. */
export const percentilesOf = (waits: readonly number[]): Readonly<Record<string, number>> => ({
  p50: percentile(waits, 0.5),
  p95: percentile(waits, 0.95),
  p99: percentile(waits, 0.99),
  longest: Math.max(...waits),
})

type UploadRecord = {
  readonly status: string
  readonly stage: string | null
  readonly datasetId: string
  readonly tileSourceId: string
  readonly featureCount: number
  readonly overviews: { readonly status: string } | null
}

const phaseOf: Readonly<Record<string, Phase>> = {
  loading: 'loading',
  transforming: 'indexing',
  indexing: 'indexing',
  publishing: 'indexing',
}

/** Follows an upload until its overviews are built, and tells of each phase. */
export async function followUpload(
  { url }: Server,
  headers: Headers,
  id: string,
  onPhase: (phase: Phase, record: UploadRecord) => void,
): Promise<UploadRecord> {
  for (;;) {
    const reply = await fetch(`${url}/api/v1/uploads/${id}`, { headers })
    const record = (await reply.json()) as UploadRecord
    onPhase(phaseIn(record), record)
    if (record.status === 'completed' && !isDrawn(record)) return record
    await sleep(everyMs)
  }
}

const isDrawn = ({ overviews }: UploadRecord): boolean => /^(pending|building)$/.test(overviews?.status ?? '')

function phaseIn(record: UploadRecord): Phase {
  if (record.status === 'completed') return 'drawing'
  if (!['pending', 'processing'].includes(record.status)) throw new Error(JSON.stringify(record))
  return phaseOf[record.stage ?? ''] ?? 'reading'
}
