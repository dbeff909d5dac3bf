import { sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import type { Agent } from './agent.ts'
import { bridgeHandler, type HandlerSources } from './bridge-handler.ts'
import type { Fetch, Running } from './bridge-package.ts'
import { bridgeCapacity, isBridgeType } from './bridge-settings.ts'
import { createJobs, type Jobs } from './jobs.ts'
import type { Limits } from './limits.ts'
import type { Invoke } from './protocol.ts'
import { declining, type Offer } from './run.ts'

/** The workers that this replica is itself, for agents whose type names a bridge. They exist while they have work. */
export type Bridges = {
  /** Does the platform answer for agents of this type? */
  serves(type: unknown): boolean
  /** Nothing for an agent that it does not answer for. */
  offerTo(agent: Agent): Offer | undefined
  loadOf(agent: { id: string; type?: unknown; config?: unknown }): Load | undefined
  /** What `loadOf` needs to know of these agents. */
  describe(agentIds: readonly string[]): Promise<ReadonlyMap<string, { type: string; config: unknown }>>
  /** The agents that are answered for at the moment. */
  agentIds(): string[]
  /** The agent is gone, and with it what is done for it. */
  lose(agentId: string): void
}

/** The guarded way out, for answers that stream. */
type Stream = (
  url: string,
  request: { method: string; headers: Readonly<Record<string, string>>; body: string; signal: AbortSignal },
) => Promise<{ status: number; headers: Readonly<Record<string, string>>; body: AsyncIterable<Uint8Array> }>

export type BridgesOptions = Omit<HandlerSources, 'fetch'> & {
  stream: Stream
  limits: Limits
  log: { warn(fields: object, text: string): void }
}

export type Load = { capacity: number; inFlight: number }

type Desk = { readonly applicationId: string; readonly jobs: Jobs; readonly running: Map<string, Running> }

/** Where the platform answers for nobody. */
export const noBridges: Bridges = {
  serves: () => false,
  offerTo: () => undefined,
  loadOf: () => undefined,
  describe: async () => new Map(),
  agentIds: () => [],
  lose() {},
}

/** As the history calls it. */
const workerId = 'platform'

export function createBridges({ limits, log, stream, ...rest }: BridgesOptions): Bridges {
  const sources: HandlerSources = { ...rest, fetch: fetchThrough(stream, rest.bridges) }
  const desks = new Map<string, Desk>()

  /** The two ends of a worker's connection, without a socket in between. */
  function open(agentId: string, applicationId: string): Desk {
    const running: Desk['running'] = new Map()
    const jobs: Jobs = createJobs({
      limits,
      breach: () => lose(agentId),
      onChange: () => jobs.count() === 0 && desks.delete(agentId),
      send(frame) {
        if (frame.t === 'invoke') begin(frame)
        else if (frame.t === 'credit') running.get(frame.id)?.addCredit(frame.bytes)
        else if (frame.t === 'cancel') running.get(frame.id)?.cancel(frame.reason)
      },
    })
    const say = (line: string) => log.warn({ agentId }, line)

    function begin(invoke: Invoke): void {
      const { id } = invoke
      jobs.read({ t: 'accept', id })
      const run = sources.bridges.runInvocation(invoke, bridgeHandler(sources, agentId), { send: jobs.read, log: say })
      running.set(id, run)
      run.ended.catch((error) => log.warn({ agentId, err: error }, 'bridge failed')).finally(() => running.delete(id))
    }
    const desk = { applicationId, jobs, running }
    desks.set(agentId, desk)
    return desk
  }

  function lose(agentId: string): void {
    const desk = desks.get(agentId)
    desks.delete(agentId)
    for (const run of desk?.running.values() ?? []) run.cancel('the agent was deleted')
    desk?.jobs.lose()
  }

  const inFlight = (agentId: string): number => desks.get(agentId)?.jobs.count() ?? 0
  const inFlightOf = (applicationId: string): number =>
    desks.values().reduce((sum, desk) => (desk.applicationId === applicationId ? sum + desk.jobs.count() : sum), 0)
  return {
    serves: isBridgeType,
    offerTo({ id, applicationId, type, config }) {
      if (!isBridgeType(type)) return undefined
      if (inFlight(id) >= bridgeCapacity(config)) return declining('busy')
      if (inFlightOf(applicationId) >= limits.bridgeCallsPerApplication) return declining('crowded')
      return (invoke, on) => (desks.get(id) ?? open(id, applicationId)).jobs.offer(workerId, invoke, on)
    },
    loadOf: ({ id, type, config }) =>
      isBridgeType(type) ? { capacity: bridgeCapacity(config), inFlight: inFlight(id) } : undefined,
    async describe(agentIds) {
      if (agentIds.length === 0) return new Map()
      const rows = await sources.db.query<{ id: string; type: string; config: unknown }>(
        sql`SELECT id, type, config FROM svc.agents WHERE id = ANY(${agentIds}::uuid[])`,
      )
      return new Map(rows.map(({ id, type, config }) => [id, { type, config }]))
    },
    agentIds: () => [...desks.keys()],
    lose,
  }
}

const fetchThrough =
  (stream: Stream, { ProviderError }: HandlerSources['bridges']): Fetch =>
  async (url, { redirect: _, ...request }) => {
    const { status, headers, body } = await stream(url, request).catch((error) => {
      // What the guard refuses is for the agent's owner to mend, so they are told what it says.
      const isRefused = error instanceof ApiError && error.code === 'invalid_request'
      throw isRefused ? new ProviderError(error.message, { cause: error }) : error
    })
    const get = (name: string): string | null => headers[name.toLowerCase()] ?? null
    return { ok: status >= 200 && status < 300, status, headers: { get }, body }
  }
