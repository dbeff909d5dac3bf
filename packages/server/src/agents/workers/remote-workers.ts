import type { Bus } from '../../kernel/bus/bus.ts'
import { type Offer, offerInTurn } from '../invocation/offer.ts'
import { createRemoteRuns, isRunMessage, type RemoteRuns, type RunMessage } from './remote-runs.ts'
import type { WorkerInfo, Workers } from './workers.ts'

/** The messages between replicas about agents. */
type Message =
  | { k: 'alive' | 'who' | 'bye' }
  /** The workers of some agents, or with `isWhole` of all. */
  | { k: 'state'; isWhole: boolean; agents: [agentId: string, workers: WorkerInfo[]][] }
  | { k: 'ready'; agentId: string; workerId: string }
  | { k: 'stop'; id: string }
  | RunMessage

/** The workers of other replicas: a membership list with heartbeats over the bus, and the way to offer them invocations. */
export type RemoteWorkers = {
  offerTo(agentId: string, conversationId: string | undefined): Offer
  hasReady(agentId: string): boolean
  infosOf(agentId: string): WorkerInfo[]
  isAlone(): boolean
  /** Tells the other replicas about the workers of an agent: at once, or soon if only their load changed. */
  announce(agentId: string, lasting: boolean): void
  announceReady(agentId: string, workerId: string): void
  /** Asks a replica to end an invocation that one of its own clients made. */
  stop(replicaId: string, invocationId: string): void
  close(): void
}

type RemoteReplica = { heardAt: number; readonly agents: Map<string, WorkerInfo[]>; readonly runs: RemoteRuns }

const aliveMs = 2_000
const deadMs = 6_000
const loadMs = 250
/** Every fifth heartbeat carries the whole state, because the bus may lose a message. */
const wholeEvery = 5

export function createRemoteWorkers(bus: Bus, workers: Workers, onStop: (invocationId: string) => void): RemoteWorkers {
  const replicas = new Map<string, RemoteReplica>()
  let beats = 0

  const broadcast = (message: Message) => bus.broadcast(message)
  const announcer = createAnnouncer(workers, broadcast)
  const infosOf = (replica: RemoteReplica, agentId: string) => replica.agents.get(agentId) ?? []
  const ready = (agentId: string) =>
    [...replicas].filter(([, replica]) => infosOf(replica, agentId).some(({ status }) => status === 'online'))

  function replicaOf(id: string): RemoteReplica {
    const former = replicas.get(id)
    if (former) return former
    const runs = createRemoteRuns({ bus, workers, replicaId: id, onAbsent: () => drop(id, { isStopping: false }) })
    const replica = { heardAt: 0, agents: new Map(), runs }
    replicas.set(id, replica)
    return replica
  }

  /** The workers and the clients of a replica that is silent or gone are lost too. */
  function drop(id: string, { isStopping }: { isStopping: boolean }): void {
    const replica = replicas.get(id)
    replicas.delete(id)
    replica?.runs.lose(isStopping)
  }

  bus.listen((heard, from) => {
    const message = heard as Message
    if (message.k === 'bye') return drop(from, { isStopping: true })
    const replica = replicaOf(from)
    replica.heardAt = performance.now()
    if (message.k === 'who') announcer.all()
    else if (message.k === 'state') updateWorkers(replica, message)
    else if (message.k === 'ready') workers.supersede(message.agentId, message.workerId)
    else if (message.k === 'stop') onStop(message.id)
    else if (isRunMessage(message)) replica.runs.receive(message)
  })
  const heartbeat = setInterval(() => {
    beats += 1
    if (beats % wholeEvery === 0) announcer.all()
    else broadcast({ k: 'alive' })
    for (const [id, { heardAt }] of replicas) if (performance.now() - heardAt > deadMs) drop(id, { isStopping: false })
  }, aliveMs).unref()
  broadcast({ k: 'who' })

  return {
    offerTo(agentId, conversationId) {
      // Ordered by the load that they last announced. Whether a slot is free they check themselves.
      const inOrder = ready(agentId).sort(([, a], [, b]) => freeIn(infosOf(b, agentId)) - freeIn(infosOf(a, agentId)))
      return offerInTurn(() => inOrder.shift()?.[1].runs.offerTo(agentId, conversationId))
    },
    hasReady: (agentId) => ready(agentId).length > 0,
    infosOf: (agentId) => [...replicas.values()].flatMap((replica) => infosOf(replica, agentId)),
    isAlone: () => replicas.size === 0,
    announce: announcer.about,
    announceReady: (agentId, workerId) => broadcast({ k: 'ready', agentId, workerId }),
    stop: (replicaId, id) => bus.post(replicaId, { k: 'stop', id } satisfies Message),
    close() {
      clearInterval(heartbeat)
      announcer.close()
      broadcast({ k: 'bye' })
    },
  }
}

const freeIn = (infos: readonly WorkerInfo[]): number =>
  infos.reduce((sum, { status, capacity, inFlight }) => (status === 'online' ? sum + capacity - inFlight : sum), 0)

function updateWorkers(
  { agents: workers }: RemoteReplica,
  { isWhole, agents }: Extract<Message, { k: 'state' }>,
): void {
  if (isWhole) workers.clear()
  for (const [agentId, infos] of agents) {
    if (infos.length > 0) workers.set(agentId, infos)
    else workers.delete(agentId)
  }
}

/** Announces the workers of this replica. Changes of their load alone are debounced. */
function createAnnouncer(workers: Workers, broadcast: (message: Message) => void) {
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const tell = (agentIds: Iterable<string>, isWhole: boolean) =>
    broadcast({ k: 'state', isWhole, agents: Array.from(agentIds, (id) => [id, workers.infosOf(id)]) })

  function tellChanges(): void {
    clearTimeout(timer)
    timer = undefined
    tell(changed, false)
    changed.clear()
  }
  return {
    all: () => tell(workers.agentIds(), true),
    about(agentId: string, lasting: boolean): void {
      changed.add(agentId)
      if (lasting) tellChanges()
      else timer ??= setTimeout(tellChanges, loadMs).unref()
    },
    close: () => clearTimeout(timer),
  }
}
