import type { Bench } from './bench.ts'
import { measureCpu } from './cpu.ts'
import { type Load, type LoadResult, runLoad } from './load.ts'
import { type Case, type Contender, ourName } from './part.ts'
import type { Server } from './processes.ts'
import type { Sample } from './statistics.ts'

export type Answer = { readonly path: string; readonly status: number; readonly body: Buffer }

/** What all contenders of a case are asked for, each at its own address. */
export type Requests = {
  readonly work: string
  readonly servers: readonly Server[]
  load(server: Server): Omit<Load, 'url'>
  /** Throws where the answers to the same requests differ. */
  equal?(ours: readonly Answer[], theirs: readonly Answer[]): void
  readonly wanted?: Case['wanted']
  readonly curve?: Case['curve']
  measure?(bench: Bench, load: Load, server: Server): Promise<Sample>
}

/** Enough to notice what is not alike, and few enough that it takes no time. */
const comparedRequests = 24

/** Requests a second of servers that are asked for the same. */
export function requestCase(bench: Bench, requests: Requests): Case {
  const { work, servers, wanted, curve } = requests
  const [ours] = servers
  const contenders = servers.map((server): Contender => {
    const load = { url: server.url, ...requests.load(server) }
    return {
      name: server.name,
      measure: () => (requests.measure ?? measureRate)(bench, load, server),
      equal: async () => {
        if (ours) await compareAnswers({ url: ours.url, ...requests.load(ours) }, load, requests.equal)
      },
    }
  })
  const unit = { unit: 'a second', better: 'more' } as const
  return { work, ...unit, contenders, ...(wanted && { wanted }), ...(curve && { curve }) }
}

async function measureRate(bench: Bench, load: Load, { pid }: Server): Promise<Sample> {
  const { seconds, databasePid } = bench
  let result: LoadResult | undefined
  const cpu = await measureCpu({ server: pid, database: databasePid }, async () => {
    result = await runLoad(load, seconds)
    return result.perSecond * seconds
  })
  const { perSecond = 0, p95Ms = 0, refused = 0 } = result ?? {}
  if (refused > 0) throw new Error(`${refused} requests were refused by ${load.url}`)
  return { value: perSecond, p95Ms, cpu }
}

async function compareAnswers(ours: Load, theirs: Load, equal: Requests['equal']): Promise<void> {
  const every = Math.ceil(ours.paths.length / comparedRequests)
  const sides: [Answer[], Answer[]] = [[], []]
  for (let index = 0; index < ours.paths.length; index += every) {
    sides[0].push(await ask(ours, index))
    sides[1].push(await ask(theirs, index))
  }
  equal?.(...sides)
}

/** One answer, unpacked. */
async function ask({ url, paths, headers, body }: Load, index: number): Promise<Answer> {
  const path = paths[index] ?? ''
  const post = body === undefined ? {} : { method: 'POST', body }
  const reply = await fetch(`${url}${path}`, { headers: { ...headers }, ...post })
  const answer = { path, status: reply.status, body: Buffer.from(await reply.arrayBuffer()) }
  if (answer.status >= 400) throw new Error(`${path}: ${answer.status} ${answer.body.subarray(0, 300)}`)
  return answer
}

export const isGraticule = ({ name }: Server): boolean => name === ourName
