// The link to the platform: one connection, with reconnection, back-off and migration to another replica.
import { backoffMs } from './backoff.ts'
import { type Connection, type Ending, openConnection } from './connection.ts'
import type { FromLink, LinkSettings, ToLink } from './link-messages.ts'
import type { Invoke, PlatformFrame } from './protocol.ts'

/** `going`: asked to reconnect elsewhere, still accepts work until then. `leaving`: accepts none, finishes what it has. */
type Stage = 'opening' | 'serving' | 'going' | 'leaving'

type Link = {
  readonly settings: LinkSettings
  readonly tell: (message: FromLink) => void
  readonly connections: Map<Connection, { stage: Stage; openedAt: number }>
  /** The connection of each invocation, until its last frame is sent. */
  readonly owners: Map<string, Connection>
  /** Running handlers, including those whose connection is lost. */
  readonly running: Set<string>
  retry?: NodeJS.Timeout | undefined
  /** Attempts since the last good connection. */
  attempt: number
  /** Refusals since the last welcome. */
  refusals: number
  /** Why the last connection failed, so that the same line is not logged for every attempt. */
  lastFailure: string | undefined
  hasServed: boolean
  isDraining: boolean
  refusal?: { status: number; message: string }
}

/** Permanent refusals: the key, the agent or this version is not accepted. */
const refusingStatuses = new Set([400, 401, 403, 404, 426])
/** How many refusals a worker that has served before tolerates, since they may be temporary. Others give up at once. */
const maxRefusals = 5
/** A connection that lasted this long resets the back-off. */
const goodAfterMs = 5_000

/** Keeps one connection open, replaces it when it breaks or must move, and routes answers to their connections. */
export function createLink(settings: LinkSettings, tell: (message: FromLink) => void): (message: ToLink) => void {
  const link: Link = {
    settings,
    tell,
    connections: new Map(),
    owners: new Map(),
    running: new Set(),
    attempt: 0,
    refusals: 0,
    lastFailure: undefined,
    hasServed: false,
    isDraining: false,
  }
  open(link)
  return (message) => {
    if (message.type === 'output') output(link, message)
    else if (message.type === 'forget') link.running.delete(message.id)
    else drain(link)
  }
}

const has = ({ connections }: Link, stage: Stage): boolean =>
  [...connections.values()].some((connection) => connection.stage === stage)
const stageOf = ({ connections }: Link, connection: Connection) => connections.get(connection)?.stage
const log = ({ tell }: Link, line: string) => tell({ type: 'log', line })

function open(link: Link) {
  link.retry = undefined
  if (link.isDraining || has(link, 'opening')) return
  const connection = openConnection(link.settings, {
    welcomed: () => welcomed(link, connection),
    frame: (frame) => receive(link, connection, frame),
    closed: (ending) => closed(link, connection, ending),
  })
  link.connections.set(connection, { stage: 'opening', openedAt: performance.now() })
}

function openIn(link: Link, ms: number) {
  if (!link.isDraining) link.retry ??= setTimeout(open, ms, link)
}

function welcomed(link: Link, connection: Connection) {
  const state = link.connections.get(connection)
  if (!state) return
  state.stage = 'serving'
  link.hasServed = true
  link.refusals = 0
  link.lastFailure = undefined
  log(link, 'Serving.')
  for (const other of link.connections.keys()) if (other !== connection) leave(link, other)
}

/** Drains a connection: it gets no new work and is closed after its last answer. */
function leave(link: Link, connection: Connection) {
  const state = link.connections.get(connection)
  if (!state) return
  if (state.stage === 'opening') return connection.cut('no longer needed')
  if (state.stage !== 'leaving') connection.send({ t: 'drain' })
  state.stage = 'leaving'
  if (![...link.owners.values()].includes(connection)) connection.close()
}

function receive(link: Link, connection: Connection, frame: PlatformFrame) {
  if (frame.t === 'invoke') take(link, connection, frame)
  else if (frame.t === 'goaway') goAway(link, connection, frame.reconnectAfterMs)
  else if ((frame.t === 'credit' || frame.t === 'cancel') && link.owners.get(frame.id) === connection) {
    link.tell({ type: 'frame', frame })
  }
}

function goAway(link: Link, connection: Connection, reconnectAfterMs: number) {
  const state = link.connections.get(connection)
  if (state?.stage !== 'serving') return
  state.stage = 'going'
  log(link, 'The platform asks this worker to reconnect.')
  openIn(link, reconnectAfterMs)
}

function take(link: Link, connection: Connection, frame: Invoke) {
  const { owners, running, settings } = link
  const { id } = frame
  if (owners.has(id)) return
  if (stageOf(link, connection) === 'leaving' || running.size >= settings.capacity) {
    return connection.send({ t: 'reject', id, code: 'busy', message: 'The worker has no free slot.' })
  }
  owners.set(id, connection)
  running.add(id)
  connection.send({ t: 'accept', id })
  link.tell({ type: 'frame', frame })
}

function output(link: Link, { id, isTerminal, text }: Extract<ToLink, { type: 'output' }>) {
  const owner = link.owners.get(id)
  if (isTerminal) {
    link.running.delete(id)
    link.owners.delete(id)
  }
  if (!owner) return
  owner.send(text)
  if (isTerminal && stageOf(link, owner) === 'leaving') leave(link, owner)
}

function closed(link: Link, connection: Connection, ending: Ending) {
  const state = link.connections.get(connection)
  link.connections.delete(connection)
  loseWork(link, connection)
  if (link.isDraining) return endIfIdle(link)
  if (state?.stage === 'leaving' || has(link, 'serving')) return
  if (isRefused(link, ending)) return drain(link)
  if (state && state.stage !== 'opening' && performance.now() - state.openedAt > goodAfterMs) link.attempt = 0
  if (ending.reason !== link.lastFailure) log(link, `Not connected: ${ending.reason}. Trying again until it works.`)
  link.lastFailure = ending.reason
  openIn(link, Math.max(ending.retryAfterMs ?? 0, backoffMs(link.attempt++)))
}

function loseWork({ owners, tell }: Link, connection: Connection) {
  for (const [id, owner] of owners) {
    if (owner !== connection) continue
    owners.delete(id)
    tell({ type: 'frame', frame: { t: 'cancel', id, reason: 'connection_lost' } })
  }
}

function isRefused(link: Link, { status = 0, reason }: Ending): boolean {
  if (!refusingStatuses.has(status)) return false
  link.refusals++
  if (link.hasServed && link.refusals < maxRefusals) return false
  link.refusal = { status, message: reason }
  return true
}

function drain(link: Link) {
  link.isDraining = true
  clearTimeout(link.retry)
  for (const connection of link.connections.keys()) leave(link, connection)
  endIfIdle(link)
}

function endIfIdle({ connections, refusal, tell }: Link) {
  if (connections.size === 0) tell({ type: 'ended', ...(refusal && { refusal }) })
}
