/**
 * Connections that many quick statements share: each carries several at a time, so that one write and one read serve all that came
 * in a turn of the event loop. Who has no place here asks elsewhere: nobody waits, and a statement that takes too long or fails
 * ends its connection, with the others that it carries.
 */
import { createMessageMemory } from '../wire/message-framer.ts'
import { type PostgresServer, poolKeyOf } from './postgres-client.ts'
import { connectRaw, type Done, type RawConnection, type RawStatement, type RowSink } from './raw-connection.ts'

/** A session on a server. */
export type LaneSession = { readonly key: string; readonly server: PostgresServer; readonly settings: string }

export type RawLanes = {
  /** False if there is no session, and then nothing is called. */
  send(session: LaneSession, statement: RawStatement, onRow: RowSink, done: Done): boolean
  close(): void
}

type Lane = { readonly key: string; connection: RawConnection | undefined; usedAt: number }

/** A further connection is opened before one carries more. */
const shallow = 4
const deepest = 16
const maxEach = 2
/** The least recently used connection is given up for another session when it was not used for so long. */
const restMs = 1_000
const idleMs = 30_000
/** After a failure to connect. */
const retryMs = 5_000

/**
 * Planning takes as long as finding a hundred rows, and what is quick always has the same plan: by an index. A statement
 * for which it is not the right one is slow, and is asked elsewhere, where each is planned by itself.
 */
export const plannedOnce = (settings: string): string => `${settings};SET plan_cache_mode = force_generic_plan`

export function laneSession(server: PostgresServer, settings: string): LaneSession {
  const planned = plannedOnce(settings)
  return { key: `${poolKeyOf(server).key} ${planned}`, server, settings: planned }
}

/** `timeoutMs` is what a statement may take. */
export function createRawLanes(maxTotal: number, timeoutMs: number, connect: typeof connectRaw = connectRaw): RawLanes {
  const lanes = createLaneSet(maxTotal, (server, settings, memory) =>
    connect(server, `${settings};SET statement_timeout = ${timeoutMs}`, memory),
  )
  return {
    send(session, statement, onRow, done) {
      const connection = lanes.shallowest(session.key)
      const depth = connection?.underWay ?? shallow
      if (depth >= shallow) lanes.open(session)
      if (!connection || depth >= deepest) return false
      connection.send(statement, onRow, done)
      return true
    },
    close: lanes.close,
  }
}

function createLaneSet(maxTotal: number, connect: typeof connectRaw) {
  const memory = createMessageMemory()
  const lanes = new Map<string, Lane[]>()
  const failedAt = new Map<string, number>()
  let isClosed = false
  const all = (): Lane[] => [...lanes.values()].flat()
  const sweep = setInterval(() => endIdle(performance.now() - idleMs), idleMs / 2).unref()

  function end(lane: Lane): void {
    lane.connection?.close()
    const left = (lanes.get(lane.key) ?? []).filter((one) => one !== lane)
    if (left.length > 0) lanes.set(lane.key, left)
    else lanes.delete(lane.key)
  }

  function endIdle(before: number): void {
    for (const lane of all()) if (isIdle(lane, before)) end(lane)
    failedAt.clear()
  }

  /** Gives up the least recently used one, unless all are in use. */
  function hasRoom(now: number): boolean {
    if (all().length < maxTotal) return true
    const [oldest] = all()
      .filter((lane) => isIdle(lane, now - restMs))
      .sort((a, b) => a.usedAt - b.usedAt)
    if (oldest) end(oldest)
    return oldest !== undefined
  }

  async function connectLane(lane: Lane, { server, settings }: LaneSession): Promise<void> {
    try {
      lane.connection = await connect(server, settings, memory)
      if (isClosed) end(lane)
    } catch {
      // Whoever asks elsewhere hears why.
      failedAt.set(lane.key, performance.now())
      end(lane)
    }
  }

  return {
    /** The connection that carries least. */
    shallowest(key: string): RawConnection | undefined {
      let best: Lane | undefined
      for (const lane of lanes.get(key) ?? []) {
        if (lane.connection?.isOpen === false) end(lane)
        else if (lane.connection && depthOf(lane) < depthOf(best)) best = lane
      }
      if (best) best.usedAt = performance.now()
      return best?.connection
    },
    /** Opens another connection, if there may be one. */
    open(session: LaneSession): void {
      const { key } = session
      const now = performance.now()
      const isTooSoon = now - (failedAt.get(key) ?? -retryMs) < retryMs
      const others = lanes.get(key) ?? []
      if (isClosed || isTooSoon || others.length >= maxEach || !hasRoom(now)) return
      const lane: Lane = { key, connection: undefined, usedAt: now }
      lanes.set(key, [...(lanes.get(key) ?? []), lane])
      void connectLane(lane, session)
    },
    close(): void {
      isClosed = true
      clearInterval(sweep)
      for (const lane of all()) {
        lane.connection?.cancel()
        end(lane)
      }
    },
  }
}

const depthOf = (lane: Lane | undefined): number => lane?.connection?.underWay ?? Number.POSITIVE_INFINITY

const isIdle = ({ connection, usedAt }: Lane, before: number): boolean =>
  connection !== undefined && connection.underWay === 0 && usedAt < before
