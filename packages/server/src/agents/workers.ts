import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Connection, type Identity, type Link, serveConnection } from './connection.ts'
import type { Limits } from './limits.ts'
import { closeCodes } from './protocol.ts'
import { declining, type Offer, offerInTurn } from './run.ts'

/** A worker as others see it. */
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

/** The workers whose sockets this replica holds. */
export type Workers = {
  /** Takes over a socket that was let in. */
  serve(identity: Identity, link: Link): void
  /** Offers an invocation to the workers of an agent that are free, the least loaded first. */
  offerTo(agentId: string, conversationId: string | undefined): Offer
  /** Is there one that takes work? */
  hasReady(agentId: string): boolean
  infosOf(agentId: string): WorkerInfo[]
  agentIds(): string[]
  countOf(applicationId: string): number
  connections(): Iterable<Connection>
  /** A worker with this name connected elsewhere: what it has here is the past. */
  supersede(agentId: string, workerId: string): void
  /** Sends the workers elsewhere. */
  sendAway(drainMs: number): void
  close(): Promise<void>
}

export type WorkersOptions = {
  limits: Limits
  /** Something about the workers of an agent changed; `lasting` when it is more than how busy they are. */
  onChange(agentId: string, lasting: boolean): void
  onReady(connection: Connection): void
}

export function createWorkers({ limits, onChange, onReady }: WorkersOptions): Workers {
  const byAgent = new Map<string, Set<Connection>>()
  const all = function* () {
    for (const connections of byAgent.values()) yield* connections
  }
  const of = (agentId: string): Connection[] => [...(byAgent.get(agentId) ?? [])]
  const heart = setInterval(() => {
    const now = performance.now()
    for (const connection of all()) connection.beat(now)
  }, limits.busyPingMs).unref()

  function add(connection: Connection): void {
    const { agentId, hello } = connection
    supersede(agentId, hello.workerId)
    const connections = byAgent.get(agentId) ?? new Set()
    byAgent.set(agentId, connections.add(connection))
    onChange(agentId, true)
    onReady(connection)
  }

  function remove(connection: Connection): void {
    const connections = byAgent.get(connection.agentId)
    connections?.delete(connection)
    if (connections?.size === 0) byAgent.delete(connection.agentId)
    onChange(connection.agentId, true)
  }

  /** One that was told to leave finishes its work; any other is a socket that nobody is behind any more. */
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
        // Not all at the same moment, or the next replica gets them as a storm.
        send({ t: 'goaway', reconnectAfterMs: Math.floor(Math.random() * Math.min(1_000, drainMs / 10)), drainMs })
      }
    },
    async close() {
      clearInterval(heart)
      for (const connection of [...all()]) connection.close(closeCodes.restart, 'restart')
      await wait(0)
    },
  }
}

/** Offers to those who are free, the best first, and to nobody twice. */
function offerToFree(connections: () => Connection[], conversationId: string | undefined): Offer {
  const tried: Connection[] = []
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

/** All are busy; said once, so that the caller hears of it. */
const busyOffer = declining('busy')

/** A conversation stays with its worker if it can; otherwise the less busy of two that chance picks. */
function choose(free: readonly Connection[], conversationId: string | undefined): Connection | undefined {
  if (free.length < 2) return free[0]
  if (conversationId !== undefined) {
    return free.map((one) => ({ one, rank: rankOf(conversationId, one) })).sort((a, b) => b.rank - a.rank)[0]?.one
  }
  const first = Math.floor(Math.random() * free.length)
  const second = (first + 1 + Math.floor(Math.random() * (free.length - 1))) % free.length
  const [a, b] = [free[first], free[second]]
  return a && b && loadOf(b) < loadOf(a) ? b : a
}

const loadOf = (connection: Connection): number => connection.inFlight() / connection.state.capacity

const rankOf = (conversationId: string, { hello }: Connection): number =>
  createHash('md5').update(`${conversationId} ${hello.workerId}`).digest().readUInt32BE(0)

const infoOf = ({ connectionId, hello, state, inFlight, connectedAt }: Connection): WorkerInfo => ({
  connectionId,
  workerId: hello.workerId,
  status: state.isDraining ? 'draining' : 'online',
  capacity: state.capacity,
  inFlight: inFlight(),
  version: hello.version ?? null,
  sdk: hello.sdk ?? null,
  connectedAt: connectedAt.toISOString(),
})
