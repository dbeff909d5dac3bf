import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { declining, type Offer, offerInTurn } from '../invocation/offer.ts'
import type { AgentLimits } from '../limits.ts'
import { closeCodes } from '../protocol.ts'
import { serveConnection, type WorkerConnection, type WorkerIdentity, type WorkerLink } from './worker-connection.ts'

/** A worker as the API and other replicas see it. */
export type WorkerInfo = {
  connectionId: string
  workerId: string
  status: 'online' | 'draining'
  capacity: number
  inFlight: number
  version: string | null
  sdk: string | null
  connectedAt: string
}

/** The workers whose WebSockets this replica holds, and load balancing among them. */
export type Workers = {
  /** Serves an authorized socket until it ends. */
  serve(identity: WorkerIdentity, link: WorkerLink): void
  /** Offers an invocation to the workers of an agent that are free, the least loaded first. */
  offerTo(agentId: string, conversationId: string | undefined): Offer
  /** Is there a worker that is not draining? */
  hasReady(agentId: string): boolean
  infosOf(agentId: string): WorkerInfo[]
  agentIds(): string[]
  countOf(applicationId: string): number
  connections(): Iterable<WorkerConnection>
  /** The worker has connected elsewhere: closes its old connection. */
  supersede(agentId: string, workerId: string): void
  /** Asks the workers to reconnect to another replica. */
  sendAway(drainMs: number): void
  close(): Promise<void>
}

export type WorkersOptions = {
  limits: AgentLimits
  /** The workers of an agent changed; not `lasting` if only their load did. */
  onChange(agentId: string, lasting: boolean): void
  onReady(connection: WorkerConnection): void
}

export function createWorkers({ limits, onChange, onReady }: WorkersOptions): Workers {
  const byAgent = new Map<string, Set<WorkerConnection>>()
  const all = function* () {
    for (const connections of byAgent.values()) yield* connections
  }
  const of = (agentId: string): WorkerConnection[] => [...(byAgent.get(agentId) ?? [])]
  const heartbeat = setInterval(() => {
    const now = performance.now()
    for (const connection of all()) connection.beat(now)
  }, limits.busyPingMs).unref()

  function add(connection: WorkerConnection): void {
    const { agentId, hello } = connection
    supersede(agentId, hello.workerId)
    const connections = byAgent.get(agentId) ?? new Set()
    byAgent.set(agentId, connections.add(connection))
    onChange(agentId, true)
    onReady(connection)
  }

  function remove(connection: WorkerConnection): void {
    const connections = byAgent.get(connection.agentId)
    connections?.delete(connection)
    if (connections?.size === 0) byAgent.delete(connection.agentId)
    onChange(connection.agentId, true)
  }

  /** A connection that is draining finishes its work. Any other is half-open, because its process has a new one. */
  function supersede(agentId: string, workerId: string): void {
    for (const old of of(agentId)) {
      if (old.hello.workerId !== workerId) continue
      if (old.state.isGoingAway || old.state.isDraining) old.state.isDraining = true
      else old.close(closeCodes.superseded, 'superseded')
    }
  }

  return {
    serve: (identity, link) =>
      serveConnection(identity, link, limits, {
        onReady: add,
        onChange: ({ agentId }) => onChange(agentId, false),
        onGone: remove,
      }),
    offerTo: (agentId, conversationId) => offerToFree(() => of(agentId), conversationId),
    hasReady: (agentId) =>
      byAgent
        .get(agentId)
        ?.values()
        .some(({ state }) => !state.isDraining) ?? false,
    infosOf: (agentId) => of(agentId).map(infoOf),
    agentIds: () => [...byAgent.keys()],
    countOf: (applicationId) => [...all()].filter((one) => one.applicationId === applicationId).length,
    connections: all,
    supersede,
    sendAway(drainMs) {
      for (const { state, send } of all()) {
        state.isGoingAway = true
        // Jitter, or all workers would reconnect to the next replica at the same moment.
        send({ t: 'goaway', reconnectAfterMs: Math.floor(Math.random() * Math.min(1_000, drainMs / 10)), drainMs })
      }
    },
    async close() {
      clearInterval(heartbeat)
      for (const connection of [...all()]) connection.close(closeCodes.restart, 'restart')
      await wait(0)
    },
  }
}

/** Offers to free workers in the order of `choose`, to each once. */
function offerToFree(connections: () => WorkerConnection[], conversationId: string | undefined): Offer {
  const tried: WorkerConnection[] = []
  let wasBusy = false
  return offerInTurn(() => {
    const ready = connections().filter((one) => !one.state.isDraining && !tried.includes(one))
    const free = ready.filter((one) => one.isFree())
    const chosen = choose(free, conversationId)
    if (chosen) {
      tried.push(chosen)
      return chosen.offer
    }
    if (ready.length === 0 || wasBusy) return undefined
    wasBusy = true
    return busyOffer
  })
}

/** Declines once where all workers are busy, so that the client is told `busy` and not `nobody`. */
const busyOffer = declining('busy')

/** Rendezvous hashing keeps a conversation with its worker; otherwise the less loaded of two random workers is taken. */
function choose(free: readonly WorkerConnection[], conversationId: string | undefined): WorkerConnection | undefined {
  if (free.length < 2) return free[0]
  if (conversationId !== undefined) {
    return free.map((one) => ({ one, rank: rankOf(conversationId, one) })).sort((a, b) => b.rank - a.rank)[0]?.one
  }
  const first = Math.floor(Math.random() * free.length)
  const second = (first + 1 + Math.floor(Math.random() * (free.length - 1))) % free.length
  const [a, b] = [free[first], free[second]]
  return a && b && loadOf(b) < loadOf(a) ? b : a
}

const loadOf = (connection: WorkerConnection): number => connection.inFlight() / connection.state.capacity

const rankOf = (conversationId: string, { hello }: WorkerConnection): number =>
  createHash('md5').update(`${conversationId} ${hello.workerId}`).digest().readUInt32BE(0)

const infoOf = ({ connectionId, hello, state, inFlight, connectedAt }: WorkerConnection): WorkerInfo => ({
  connectionId,
  workerId: hello.workerId,
  status: state.isDraining ? 'draining' : 'online',
  capacity: state.capacity,
  inFlight: inFlight(),
  version: hello.version ?? null,
  sdk: hello.sdk ?? null,
  connectedAt: connectedAt.toISOString(),
})
