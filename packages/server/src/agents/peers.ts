import { type Bus, createPeerRuns, isRunMessage, type PeerRuns, type RunMessage } from './peer-runs.ts'
import { type Offer, offerInTurn } from './run.ts'
import type { WorkerInfo, Workers } from './workers.ts'

/** What replicas say to each other about agents. */
type Message =
  | { k: 'alive' | 'who' | 'bye' }
  /** The workers of some agents, or all there are. */
  | { k: 'state'; isWhole: boolean; agents: [agentId: string, workers: WorkerInfo[]][] }
  | { k: 'ready'; agentId: string; workerId: string }
  | { k: 'stop'; id: string }
  | RunMessage

/** The other replicas: what workers they have, and how to reach those. */
export type Peers = {
  offerTo(agentId: string, conversationId: string | undefined): Offer
  hasReady(agentId: string): boolean
  infosOf(agentId: string): WorkerInfo[]
  isAlone(): boolean
  /** Tells the others about the workers of an agent: at once, or soon if only their load changed. */
  announce(agentId: string, lasting: boolean): void
  announceReady(agentId: string, workerId: string): void
  /** Asks a replica to end an invocation that a client of its own made. */
  stop(replicaId: string, invocationId: string): void
  close(): void
}

type Peer = { heardAt: number; readonly agents: Map<string, WorkerInfo[]>; readonly runs: PeerRuns }

const aliveMs = 2_000
const deadMs = 6_000
const loadMs = 250
/** Every so many signs of life all is said again, for whoever missed something. */
const wholeEvery = 5

export function createPeers(bus: Bus, workers: Workers, onStop: (invocationId: string) => void): Peers {
  const peers = new Map<string, Peer>()
  let beats = 0

  const say = (message: Message) => bus.broadcast(message)
  const news = createNews(workers, say)
  const infosOf = (peer: Peer, agentId: string) => peer.agents.get(agentId) ?? []
  const ready = (agentId: string) =>
    [...peers].filter(([, peer]) => infosOf(peer, agentId).some(({ status }) => status === 'online'))

  function peerOf(id: string): Peer {
    const known = peers.get(id)
    if (known) return known
    const runs = createPeerRuns({ bus, workers, peerId: id, onAbsent: () => drop(id) })
    const peer = { heardAt: 0, agents: new Map(), runs }
    peers.set(id, peer)
    return peer
  }

  /** A replica that is silent or gone takes its workers and its clients along. */
  function drop(id: string): void {
    const peer = peers.get(id)
    peers.delete(id)
    peer?.runs.lose()
  }

  bus.listen((said, from) => {
    const message = said as Message
    if (message.k === 'bye') return drop(from)
    const peer = peerOf(from)
    peer.heardAt = performance.now()
    if (message.k === 'who') news.all()
    else if (message.k === 'state') learn(peer, message)
    else if (message.k === 'ready') workers.supersede(message.agentId, message.workerId)
    else if (message.k === 'stop') onStop(message.id)
    else if (isRunMessage(message)) peer.runs.hear(message)
  })
  const heart = setInterval(() => {
    beats += 1
    if (beats % wholeEvery === 0) news.all()
    else say({ k: 'alive' })
    for (const [id, { heardAt }] of peers) if (performance.now() - heardAt > deadMs) drop(id)
  }, aliveMs).unref()
  say({ k: 'who' })

  return {
    offerTo(agentId, conversationId) {
      // What they last said of their load orders them; whether they have a slot they know themselves.
      const inOrder = ready(agentId).sort(([, a], [, b]) => freeIn(infosOf(b, agentId)) - freeIn(infosOf(a, agentId)))
      return offerInTurn(() => inOrder.shift()?.[1].runs.offerTo(agentId, conversationId))
    },
    hasReady: (agentId) => ready(agentId).length > 0,
    infosOf: (agentId) => [...peers.values()].flatMap((peer) => infosOf(peer, agentId)),
    isAlone: () => peers.size === 0,
    announce: news.about,
    announceReady: (agentId, workerId) => say({ k: 'ready', agentId, workerId }),
    stop: (replicaId, id) => bus.post(replicaId, { k: 'stop', id } satisfies Message),
    close() {
      clearInterval(heart)
      news.close()
      say({ k: 'bye' })
    },
  }
}

const freeIn = (infos: readonly WorkerInfo[]): number =>
  infos.reduce((sum, { status, capacity, inFlight }) => (status === 'online' ? sum + capacity - inFlight : sum), 0)

function learn({ agents: known }: Peer, { isWhole, agents }: Extract<Message, { k: 'state' }>): void {
  if (isWhole) known.clear()
  for (const [agentId, infos] of agents) {
    if (infos.length > 0) known.set(agentId, infos)
    else known.delete(agentId)
  }
}

/** Tells the others what workers there are here; of changes in their load only now and then. */
function createNews(workers: Workers, say: (message: Message) => void) {
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const tell = (agentIds: Iterable<string>, isWhole: boolean) =>
    say({ k: 'state', isWhole, agents: Array.from(agentIds, (id) => [id, workers.infosOf(id)]) })

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
