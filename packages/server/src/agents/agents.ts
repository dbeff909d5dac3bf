import type { FastifyInstance } from 'fastify'
import type { Db } from '../db/db.ts'
import { report } from '../events.ts'
import type { Agent } from './agent.ts'
import type { Bridges, Load } from './bridges.ts'
import { createHistory, type Entry, type History } from './history.ts'
import { beginInvocation, type Client, type Invocation } from './invocation.ts'
import type { Limits } from './limits.ts'
import { recallTurns } from './memory.ts'
import type { Bus } from './peer-runs.ts'
import { createPeers, type Peers } from './peers.ts'
import type { Question } from './question.ts'
import { createRegister } from './register.ts'
import { startReplica } from './replica.ts'
import { offerInTurn } from './run.ts'
import type { Tracing } from './tracing.ts'
import { createUpgrades, type Upgrades } from './upgrade.ts'
import { createWatch } from './watch.ts'
import { createWorkers, type WorkerInfo, type Workers } from './workers.ts'

/** What of an agent only its connections tell. */
export type Live = { status: 'online' | 'draining' | 'offline'; workers: number; capacity: number; inFlight: number }

/** The agents of this installation as this replica reaches them. */
export type Agents = {
  readonly replicaId: string
  readonly limits: Limits
  readonly tracing: Tracing
  readonly workers: Workers
  readonly upgrades: Upgrades
  readonly history: History
  readonly bridges: Bridges
  begin(question: Question, client: Client): Invocation
  /** How many invocations of this replica are under way. */
  inFlight(): number
  /** Ends an invocation of any replica because somebody asked for it. */
  stop(replicaId: string, invocationId: string): void
  workersOf(agentId: string): WorkerInfo[]
  live(agent: { id: string; type?: unknown; config?: unknown }): Live
  /** An agent was deleted: what serves it ends now. */
  recheck(): Promise<void>
  attach(http: FastifyInstance): void
  /** Finishes what has begun, sends the workers elsewhere, and lets go. */
  close(): Promise<void>
}

export type AgentsOptions = {
  db: Db
  bus: Bus
  bridges: Bridges
  limits: Limits
  tracing: Tracing
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void }
}

const connectPath = /^\/api\/v1\/agents\/[^/]+\/connect\/?$/

export function createAgents({ db, bus, bridges, limits, tracing, log }: AgentsOptions): Agents {
  const onError = (error: unknown) => log.warn({ err: error }, 'agents: background work failed')
  const active = createRegister<Invocation>()
  const history = createHistory(db, bus.id, onError)
  const upgrades = createUpgrades(limits.frameBytes)
  const workers = createWorkers({
    limits,
    onChange: (agentId, lasting) => peers.announce(agentId, lasting),
    onReady: ({ agentId, hello }) => peers.announceReady(agentId, hello.workerId),
  })
  const peers: Peers = createPeers(bus, workers, stopHere)
  const replica = startReplica({ db, id: bus.id, historyDays: limits.historyDays, onError })
  const watch = createWatch({ db, workers, bridges, onError })

  function stopHere(invocationId: string): void {
    active.get(invocationId)?.end('cancelled', 'The invocation was cancelled.', 'admin')
  }

  function onOver({ id, question }: Invocation, entry: Entry): void {
    active.delete(id)
    question.trace.end?.(entry)
    tellOver(log, entry)
  }

  /** Workers of this replica first, the platform itself last. */
  function offerTo(agent: Agent, conversationId: string | undefined) {
    const offers = [
      () => workers.offerTo(agent.id, conversationId),
      () => peers.offerTo(agent.id, conversationId),
      () => bridges.offerTo(agent),
    ]
    return offerInTurn(() => offers.shift()?.())
  }

  const workersOf = (agentId: string) => [...workers.infosOf(agentId), ...peers.infosOf(agentId)]
  const services = {
    ...{ limits, history, offerTo, onOver },
    hasReady: (agent: Agent) => bridges.serves(agent.type) || workers.hasReady(agent.id) || peers.hasReady(agent.id),
    recall: (question: Question) => recallTurns(db, history, question),
  }
  return {
    ...{ replicaId: bus.id, limits, tracing, workers, upgrades, history, workersOf, bridges },
    begin(question, client) {
      const invocation = beginInvocation(services, question, client)
      active.set(invocation.id, invocation)
      return invocation
    },
    inFlight: () => active.size,
    stop: (replicaId, id) => (replicaId === bus.id ? stopHere(id) : peers.stop(replicaId, id)),
    live: (agent) => liveOf(workersOf(agent.id), bridges.loadOf(agent)),
    recheck: watch.look,
    attach: (http) => upgrades.attach(http, connectPath),
    async close() {
      // Whoever is alone has nowhere to send its workers.
      const isLast = peers.isAlone()
      workers.sendAway(limits.drainMs)
      const isDone = () =>
        active.size === 0 && [...workers.connections()].every((one) => isLast && one.inFlight() === 0)
      await until(isDone, limits.drainMs)
      for (const { end } of active.values()) end('shutting_down', 'The server is stopping.', 'shutting_down')
      peers.close()
      watch.close()
      await workers.close()
      await history.flush()
      await replica.close()
    },
  }
}

function tellOver(log: AgentsOptions['log'], entry: Entry): void {
  const { id, agentId, status, statusCode, errorCode, durationMs, ttfbMs } = entry
  report('invocation', {
    code: status === 'succeeded' ? 'ok' : (errorCode ?? status),
    seconds: (durationMs ?? 0) / 1000,
    firstOutputSeconds: ttfbMs === null ? undefined : ttfbMs / 1000,
  })
  log.info(
    { invocationId: id, agentId, outcome: status, status: statusCode, errorCode, durationMs, ttfbMs },
    'invocation',
  )
}

function liveOf(infos: readonly WorkerInfo[], own: Load | undefined): Live {
  const online = infos.filter(({ status }) => status === 'online')
  return {
    status: own || online.length > 0 ? 'online' : infos.length > 0 ? 'draining' : 'offline',
    workers: infos.length,
    capacity: online.reduce((sum, { capacity }) => sum + capacity, own?.capacity ?? 0),
    inFlight: infos.reduce((sum, { inFlight }) => sum + inFlight, own?.inFlight ?? 0),
  }
}

async function until(isSo: () => boolean, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs
  while (!isSo() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
}
