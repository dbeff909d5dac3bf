import type { FastifyInstance } from 'fastify'
import type { Bus } from '../kernel/bus/bus.ts'
import { constant, poll } from '../kernel/concurrency/retry.ts'
import { unwatched, type Watch } from '../kernel/concurrency/work-watch.ts'
import type { Db } from '../kernel/db/db.ts'
import { report } from '../kernel/events.ts'
import type { Agent } from './agent.ts'
import type { BridgeLoad, Bridges } from './bridges/bridges.ts'
import { watchDeletedAgents } from './deleted-agents.ts'
import { recallTurns } from './history/conversation-memory.ts'
import { createHistory, type History, type InvocationRecord } from './history/history.ts'
import { beginInvocation, type Invocation, type InvocationClient } from './invocation/invocation.ts'
import { offerInTurn } from './invocation/offer.ts'
import type { Question } from './invocation/question.ts'
import type { Tracing } from './invocation/tracing.ts'
import type { AgentLimits } from './limits.ts'
import { createDetachingMap } from './workers/detaching-map.ts'
import { createRemoteWorkers, type RemoteWorkers } from './workers/remote-workers.ts'
import { startReplicaHeartbeat } from './workers/replica-heartbeat.ts'
import { createUpgrades, type Upgrades } from './workers/websocket-upgrade.ts'
import { createWorkers, type WorkerInfo, type Workers } from './workers/workers.ts'

/** The fields of an agent that come from its connections and not from its row. */
export type AgentStatus = {
  status: 'online' | 'draining' | 'offline'
  workers: number
  capacity: number
  inFlight: number
}

/** The agents of this installation, as this replica reaches them: its own workers, those of other replicas, and bridges. */
export type Agents = {
  readonly replicaId: string
  readonly limits: AgentLimits
  readonly tracing: Tracing
  readonly workers: Workers
  readonly upgrades: Upgrades
  readonly history: History
  readonly bridges: Bridges
  begin(question: Question, client: InvocationClient): Invocation
  /** The number of invocations whose client is at this replica. */
  inFlight(): number
  /** Cancels an invocation on whichever replica has its client. */
  stop(replicaId: string, invocationId: string): void
  workersOf(agentId: string): WorkerInfo[]
  live(agent: { id: string; type?: unknown; config?: unknown }): AgentStatus
  /** Closes the connections of agents that were deleted, without waiting for the next periodic check. */
  recheck(): Promise<void>
  attach(http: FastifyInstance): void
  /** Graceful shutdown: sends the workers to other replicas, waits for running invocations, then closes. */
  close(): Promise<void>
}

export type AgentsOptions = {
  db: Db
  bus: Bus
  bridges: Bridges
  limits: AgentLimits
  tracing: Tracing
  /** Watches the heartbeat. */
  watch?: Watch | undefined
  /** Told of each invocation that ends. */
  onInvocation?: ((applicationId: string) => void) | undefined
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void }
}

const connectPath = /^\/api\/v1\/agents\/[^/]+\/connect\/?$/

export function createAgents({
  db,
  bus,
  bridges,
  limits,
  tracing,
  onInvocation,
  watch = unwatched,
  log,
}: AgentsOptions): Agents {
  const onError = (error: unknown) => log.warn({ err: error }, 'agents: background work failed')
  const active = createDetachingMap<Invocation>()
  const history = createHistory(db, bus.id, onError)
  const upgrades = createUpgrades(limits.frameBytes)
  const workers = createWorkers({
    limits,
    onChange: (agentId, lasting) => remoteWorkers.announce(agentId, lasting),
    onReady: ({ agentId, hello }) => remoteWorkers.announceReady(agentId, hello.workerId),
  })
  const remoteWorkers: RemoteWorkers = createRemoteWorkers(bus, workers, stopHere)
  const replicaHeartbeat = startReplicaHeartbeat({ db, id: bus.id, historyDays: limits.historyDays, onError, watch })
  const deletedAgents = watchDeletedAgents({ db, workers, bridges, onError })

  function stopHere(invocationId: string): void {
    active.get(invocationId)?.end('cancelled', 'The invocation was cancelled.', 'admin')
  }

  function onOver({ id, question }: Invocation, entry: InvocationRecord): void {
    active.delete(id)
    question.trace.end?.(entry)
    reportEnd(log, entry)
    onInvocation?.(entry.applicationId)
  }

  /** Workers of this replica first, then those of other replicas, then the platform itself. */
  function offerTo(agent: Agent, conversationId: string | undefined) {
    const offers = [
      () => workers.offerTo(agent.id, conversationId),
      () => remoteWorkers.offerTo(agent.id, conversationId),
      () => bridges.offerTo(agent),
    ]
    return offerInTurn(() => offers.shift()?.())
  }

  const workersOf = (agentId: string) => [...workers.infosOf(agentId), ...remoteWorkers.infosOf(agentId)]
  const hasReady = (agent: Agent) =>
    bridges.serves(agent.type) || workers.hasReady(agent.id) || remoteWorkers.hasReady(agent.id)
  const recall = (question: Question) => recallTurns(db, history, question)
  const services = { limits, history, offerTo, onOver, hasReady, recall }
  const parts = { replicaId: bus.id, limits, tracing, workers, upgrades, history, workersOf, bridges }
  return {
    ...parts,
    begin(question, client) {
      const invocation = beginInvocation(services, question, client)
      active.set(invocation.id, invocation)
      return invocation
    },
    inFlight: () => active.size,
    stop: (replicaId, id) => (replicaId === bus.id ? stopHere(id) : remoteWorkers.stop(replicaId, id)),
    live: (agent) => liveOf(workersOf(agent.id), bridges.loadOf(agent)),
    recheck: deletedAgents.check,
    attach: (http) => upgrades.attach(http, connectPath),
    async close() {
      // Without another replica, workers have nowhere to go: only their running invocations are waited for.
      const isLast = remoteWorkers.isAlone()
      workers.sendAway(limits.drainMs)
      const isDone = () =>
        active.size === 0 && [...workers.connections()].every((one) => isLast && one.inFlight() === 0)
      await poll(() => isDone() || undefined, { withinMs: limits.drainMs, pauseMs: constant(20) })
      for (const { end } of active.values()) end('shutting_down', 'The server is stopping.', 'shutting_down')
      remoteWorkers.close()
      deletedAgents.close()
      await workers.close()
      await history.flush()
      await replicaHeartbeat.close()
    },
  }
}

function reportEnd(log: AgentsOptions['log'], entry: InvocationRecord): void {
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

function liveOf(infos: readonly WorkerInfo[], own: BridgeLoad | undefined): AgentStatus {
  const online = infos.filter(({ status }) => status === 'online')
  return {
    status: own || online.length > 0 ? 'online' : infos.length > 0 ? 'draining' : 'offline',
    workers: infos.length,
    capacity: online.reduce((sum, { capacity }) => sum + capacity, own?.capacity ?? 0),
    inFlight: infos.reduce((sum, { inFlight }) => sum + inFlight, own?.inFlight ?? 0),
  }
}
