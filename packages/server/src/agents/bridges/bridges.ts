import { type MachineShare, partOf } from '../../kernel/concurrency/machine-share.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Agent } from '../agent.ts'
import { declining, type Offer } from '../invocation/offer.ts'
import type { AgentLimits } from '../limits.ts'
import type { Invoke } from '../protocol.ts'
import { createWorkerSlots, type WorkerSlots } from '../workers/worker-slots.ts'
import { bridgeHandler, type HandlerSources } from './bridge-handler.ts'
import type { Fetch, RunningInvocation } from './bridge-package.ts'
import { bridgeCapacity, isBridgeType } from './bridge-settings.ts'

/** In-process workers, for agents whose type names a bridge: the platform itself calls the model. They exist while they have work. */
export type Bridges = {
  /** Does the platform answer for agents of this type? */
  serves(type: unknown): boolean
  /** Undefined for an agent that the platform does not answer for. */
  offerTo(agent: Agent): Offer | undefined
  loadOf(agent: { id: string; type?: unknown; config?: unknown }): BridgeLoad | undefined
  /** The fields of these agents that `loadOf` needs. */
  describe(agentIds: readonly string[]): Promise<ReadonlyMap<string, { type: string; config: unknown }>>
  /** The agents that have an invocation running here. */
  agentIds(): string[]
  /** The agent was deleted: its invocations are cancelled. */
  lose(agentId: string): void
}

/** Fetch through the SSRF guard, for answers that stream. */
type Stream = (
  url: string,
  request: { method: string; headers: Readonly<Record<string, string>>; body: string; signal: AbortSignal },
) => Promise<{ status: number; headers: Readonly<Record<string, string>>; body: AsyncIterable<Uint8Array> }>

export type BridgesOptions = Omit<HandlerSources, 'fetch'> & {
  stream: Stream
  limits: AgentLimits
  share: MachineShare
  log: { warn(fields: object, text: string): void }
}

export type BridgeLoad = { capacity: number; inFlight: number }

type BridgeWorker = {
  readonly applicationId: string
  readonly slots: WorkerSlots
  readonly running: Map<string, RunningInvocation>
}

/** For installations where bridges are off. */
export const noBridges: Bridges = {
  serves: () => false,
  offerTo: () => undefined,
  loadOf: () => undefined,
  describe: async () => new Map(),
  agentIds: () => [],
  lose() {},
}

/** The name of these workers in the history. */
const workerId = 'platform'

export function createBridges({ limits, share, log, stream, ...rest }: BridgesOptions): Bridges {
  const sources: HandlerSources = { ...rest, fetch: fetchThrough(stream, rest.bridges) }
  const workers = new Map<string, BridgeWorker>()

  /** Both ends of a worker's connection, without a socket between them. */
  function open(agentId: string, applicationId: string): BridgeWorker {
    const running: BridgeWorker['running'] = new Map()
    const slots: WorkerSlots = createWorkerSlots({
      limits,
      breach: () => lose(agentId),
      onChange: () => slots.count() === 0 && workers.delete(agentId),
      send(frame) {
        if (frame.t === 'invoke') begin(frame)
        else if (frame.t === 'credit') running.get(frame.id)?.addCredit(frame.bytes)
        else if (frame.t === 'cancel') running.get(frame.id)?.cancel(frame.reason)
      },
    })
    const warn = (line: string) => log.warn({ agentId }, line)

    function begin(invoke: Invoke): void {
      const { id } = invoke
      slots.read({ t: 'accept', id })
      const run = sources.bridges.runInvocation(invoke, bridgeHandler(sources, agentId), {
        send: slots.read,
        log: warn,
      })
      running.set(id, run)
      run.ended.catch((error) => log.warn({ agentId, err: error }, 'bridge failed')).finally(() => running.delete(id))
    }
    const worker = { applicationId, slots, running }
    workers.set(agentId, worker)
    return worker
  }

  function lose(agentId: string): void {
    const worker = workers.get(agentId)
    workers.delete(agentId)
    for (const run of worker?.running.values() ?? []) run.cancel('the agent was deleted')
    worker?.slots.lose(false)
  }

  const inFlight = (agentId: string): number => workers.get(agentId)?.slots.count() ?? 0
  const inFlightOf = (applicationId: string): number =>
    workers
      .values()
      .reduce((sum, worker) => (worker.applicationId === applicationId ? sum + worker.slots.count() : sum), 0)
  return {
    serves: isBridgeType,
    offerTo({ id, applicationId, type, config }) {
      if (!isBridgeType(type)) return undefined
      if (inFlight(id) >= partOf(bridgeCapacity(config), share)) return declining('busy')
      if (inFlightOf(applicationId) >= limits.bridgeCallsPerApplication) return declining('crowded')
      return (invoke, on) => (workers.get(id) ?? open(id, applicationId)).slots.offer(workerId, invoke, on)
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
    agentIds: () => [...workers.keys()],
    lose,
  }
}

const fetchThrough =
  (stream: Stream, { ProviderError }: HandlerSources['bridges']): Fetch =>
  async (url, { redirect: _, ...request }) => {
    const { status, headers, body } = await stream(url, request).catch((error) => {
      // Only the agent's owner can change the address that the guard refused, so the message is passed on.
      const isRefused = error instanceof ApiError && error.code === 'invalid_request'
      throw isRefused ? new ProviderError(error.message, { cause: error }) : error
    })
    const get = (name: string): string | null => headers[name.toLowerCase()] ?? null
    return { ok: status >= 200 && status < 300, status, headers: { get }, body }
  }
