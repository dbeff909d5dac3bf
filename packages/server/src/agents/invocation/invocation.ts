import { isRevoked } from '../../api/access/revocation.ts'
import { uuidV7 } from '../../api/access/secrets/uuid-v7.ts'
import type { ApiError, ErrorCode } from '../../kernel/errors.ts'
import type { ExceededLimit } from '../../kernel/limits/limits.ts'
import type { Agent } from '../agent.ts'
import { isBridgeType } from '../bridges/bridge-settings.ts'
import type { History, InvocationRecord } from '../history/history.ts'
import type { AgentLimits } from '../limits.ts'
import type { CancelReason, Invoke, Message } from '../protocol.ts'
import type { Offer, RunEvent, WorkerRun } from './offer.ts'
import { declined, type Ending, failure, lost, readEnding, workerFailure } from './outcome.ts'
import { entryOf, invokeFrame, isRemembered, type Question } from './question.ts'
import { createSurrogateJoiner, type SurrogateJoiner } from './surrogate-pairs.ts'

/** The receiver of an answer. `fail` or `done` is called exactly once, even after the client has disconnected. */
export type InvocationClient = {
  /** The answer begins: the headers can be sent. */
  open(invocationId: string): void
  /** False means back-pressure: the client has not read what was written before. */
  write(text: string): boolean
  done(ending: Ending & { durationMs: number; invocationId: string }): void
  fail(error: ApiError): void
}

/** The handle of a running invocation. */
export type Invocation = {
  readonly id: string
  readonly question: Question
  /** The client has read: the worker may send more. */
  room(): void
  /** The client has disconnected. */
  leave(reason: CancelReason): void
  /** Ends it with an error. */
  end(code: ErrorCode, message: string, reason: CancelReason): void
}

export type InvocationServices = {
  limits: AgentLimits
  history: History
  hasReady(agent: Agent): boolean
  offerTo(agent: Agent, conversationId: string | undefined): Offer
  /** Earlier messages of the conversation, for agents whose memory the platform keeps. */
  recall(question: Question): Promise<Message[]>
  onOver(invocation: Invocation, entry: InvocationRecord): void
}

type ActiveInvocation = {
  readonly services: InvocationServices
  readonly question: Question
  readonly client: InvocationClient
  readonly id: string
  readonly entry: InvocationRecord
  readonly startedAt: number
  state: 'waiting' | 'open' | 'over'
  run: WorkerRun | undefined
  readonly characters: SurrogateJoiner
  /** The answer so far, if it is to be stored. */
  readonly output: string[] | undefined
  outputBytes: number
  /** Flow control: bytes that the client has taken and for which the worker has no new credit yet. */
  unreturnedCredit: number
  hasRoom: boolean
  /** The total deadline, and the idle deadline that output moves, both by `performance.now()`. */
  readonly endsBy: number
  silentUntil: number
  /** One lazy timer for both deadlines: it is not reset for every output, but checks what has passed when it fires. */
  timer: NodeJS.Timeout | undefined
  timerDueAt: number
  readonly invocation: Invocation
}

/**
 * The state machine of an invocation: begin → reserve → offer → accepted → first output → more → the end. The end comes
 * exactly once, from the worker, a timer or outside, and releases everything that the invocation held.
 */
export function beginInvocation(
  services: InvocationServices,
  question: Question,
  client: InvocationClient,
): Invocation {
  const { agent, call } = question
  const id = uuidV7()
  const entry = entryOf(id, question)
  const startedAt = performance.now()
  const active: ActiveInvocation = {
    services,
    question,
    client,
    id,
    entry,
    startedAt,
    state: 'waiting',
    run: undefined,
    characters: createSurrogateJoiner(),
    output: entry.input === null ? undefined : [],
    outputBytes: 0,
    unreturnedCredit: 0,
    hasRoom: true,
    endsBy: startedAt + agent.maxDurationMs,
    silentUntil: startedAt + Math.min(agent.timeoutMs, call.timeoutMs ?? Number.POSITIVE_INFINITY),
    timer: undefined,
    timerDueAt: Number.POSITIVE_INFINITY,
    invocation: {
      id,
      question,
      room() {
        active.hasRoom = true
        returnCredit(active)
      },
      leave: (reason) => leave(active, reason),
      end: (code, message, reason) => stop(active, failure(code, message, id), reason),
    },
  }
  setTimer(active, startedAt)
  offer(active).catch((error) => isOver(active) || fail(active, error))
  return active.invocation
}

const isOver = ({ state }: ActiveInvocation): boolean => state === 'over'

const elapsed = ({ startedAt }: ActiveInvocation): number => Math.round(performance.now() - startedAt)

/** For the earlier of the two deadlines. */
function setTimer(active: ActiveInvocation, now: number): void {
  clearTimeout(active.timer)
  active.timerDueAt = Math.min(active.endsBy, active.silentUntil)
  active.timer = setTimeout(onTimer, Math.ceil(active.timerDueAt - now), active)
}

function onTimer(active: ActiveInvocation): void {
  const now = performance.now()
  if (now >= active.endsBy) timeOut(active, 'The agent did not finish in time.')
  else if (now < active.silentUntil) setTimer(active, now)
  else
    timeOut(
      active,
      active.state === 'waiting'
        ? 'The agent did not begin to answer in time.'
        : 'The agent stopped sending before its answer was complete.',
    )
}

const timeOut = (active: ActiveInvocation, message: string): void =>
  stop(active, failure('agent_timeout', message, active.id), 'timeout')

/** Before the first output another deadline counts. */
function restartIdleTimeout(active: ActiveInvocation): void {
  if (active.state !== 'open') return
  const now = performance.now()
  active.silentUntil = now + active.question.agent.idleTimeoutMs
  if (active.silentUntil < active.timerDueAt) setTimer(active, now)
}

async function offer(active: ActiveInvocation): Promise<void> {
  const { services, question, entry, id } = active
  const { agent, call } = question
  // Asynchronous from here on, so that the caller has its handle before the first callback.
  await undefined
  if (!agent.enabled) return fail(active, declined('nobody', id))
  if (!services.hasReady(agent)) return fail(active, declined(isBridgeType(agent.type) ? 'unbridged' : 'nobody', id))
  if (agent.maxConcurrency === null) services.history.note(entry)
  else if (!(await services.history.reserve(entry, agent.maxConcurrency))) {
    return fail(active, declined('busy', id, { limit: agent.maxConcurrency, limitName: 'agentInvocations' }))
  }
  const messages = call.messages ?? (isRemembered(question) ? await services.recall(question) : undefined)
  // The client may have disconnected during the queries. Writing the entry frees the place that was reserved.
  if (isOver(active)) return void (await services.history.write(entry))
  const remainingMs = Math.max(1, agent.maxDurationMs - elapsed(active))
  const invoke = invokeFrame(id, question, messages, remainingMs, services.limits.windowBytes)
  offerWithRetries(active, invoke, maxRetries)
}

/** How often an invocation is offered again because its worker reconnected to another replica. */
const maxRetries = 3

/** The time that replicas need to learn that a worker is lost, or has connected elsewhere. */
const retryMs = 30

/** `nobody` may mean that the worker is just moving to another replica, so the invocation is offered again, there. */
function offerWithRetries(active: ActiveInvocation, invoke: Invoke, retries: number): void {
  const { services, question } = active
  const { agent, call } = question
  active.run = services.offerTo(agent, call.conversationId)(invoke, (event) => {
    if (isOver(active)) return
    if (event.t !== 'declined' || event.why !== 'nobody' || retries === 0) return handleEvent(active, event)
    setTimeout(() => {
      if (isOver(active)) return
      if (services.hasReady(agent)) offerWithRetries(active, invoke, retries - 1)
      else handleEvent(active, event)
    }, retryMs)
  })
}

/** Of worker slots, only their workers know how many there are. */
function exceededBy({ services }: ActiveInvocation, why: string): ExceededLimit | undefined {
  if (why !== 'crowded') return undefined
  return { limit: services.limits.bridgeCallsPerApplication, limitName: 'bridgeCalls' }
}

function handleEvent(active: ActiveInvocation, event: RunEvent): void {
  const { id, entry } = active
  if (event.t === 'declined') fail(active, declined(event.why, id, exceededBy(active, event.why)))
  else if (event.t === 'accepted') entry.workerId = event.workerId
  else if (event.t === 'delta') receiveText(active, event.text)
  else if (event.t === 'done') finish(active, event)
  else if (event.t === 'error') fail(active, workerFailure(event, id))
  else if (event.t === 'cancelled') fail(active, failure('agent_failed', 'The agent cancelled the invocation.', id))
  else if (event.t === 'lost') fail(active, lost(event, id))
  else {
    if (event.t === 'start') open(active)
    restartIdleTimeout(active)
  }
}

/** At the first output the headers are sent. Failures before it are an HTTP status, failures after it an event. */
function open(active: ActiveInvocation): void {
  if (active.state !== 'waiting') return
  active.state = 'open'
  active.entry.ttfbMs = elapsed(active)
  restartIdleTimeout(active)
  active.client.open(active.id)
}

function receiveText(active: ActiveInvocation, text: string): void {
  const { outputBytes: most } = active.services.limits
  open(active)
  restartIdleTimeout(active)
  const bytes = Buffer.byteLength(text)
  active.outputBytes += bytes
  active.unreturnedCredit += bytes
  if (active.outputBytes > most) {
    stop(active, failure('agent_failed', `The answer is larger than ${most} bytes.`, active.id), 'output_limit')
    return
  }
  forward(active, active.characters.take(text))
  returnCredit(active)
}

function forward(active: ActiveInvocation, text: string): void {
  if (text === '') return
  active.output?.push(text)
  active.hasRoom = active.client.write(text)
}

/** In quarters of the window: a credit frame for each piece would double the traffic. */
function returnCredit(active: ActiveInvocation): void {
  if (!active.hasRoom || active.unreturnedCredit < active.services.limits.windowBytes / 4) return
  active.run?.credit(active.unreturnedCredit)
  active.unreturnedCredit = 0
}

function finish(active: ActiveInvocation, done: Extract<RunEvent, { t: 'done' }>): void {
  const { id, client, question, entry } = active
  const ending = readEnding(done, question.agent.model)
  if (!ending) {
    fail(active, failure('agent_failed', 'The agent ended its answer with a message that is not valid.', id))
    return
  }
  open(active)
  forward(active, active.characters.rest())
  const { finishReason, model, usage } = ending
  close(active, { status: 'succeeded', statusCode: 200, finishReason, model, usage }, () =>
    client.done({ ...ending, durationMs: entry.durationMs ?? 0, invocationId: id }),
  )
}

/** Ends it while the worker is still working on it. */
function stop(active: ActiveInvocation, error: ApiError, reason: CancelReason): void {
  if (isOver(active)) return
  active.run?.cancel(reason)
  fail(active, error)
}

function leave(active: ActiveInvocation, reason: CancelReason): void {
  if (isOver(active)) return
  active.run?.cancel(reason)
  const left = failure('client_left', 'The client closed the connection.', active.id)
  close(active, { status: 'cancelled', statusCode: left.status }, () => active.client.fail(left))
}

function fail(active: ActiveInvocation, error: ApiError): void {
  const status = error.code === 'cancelled' || isRevoked(error) ? 'cancelled' : 'failed'
  close(active, { status, statusCode: error.status, errorCode: error.code }, () => active.client.fail(error))
}

function close(active: ActiveInvocation, result: Partial<InvocationRecord>, answerClient: () => void): void {
  if (isOver(active)) return
  const { services, entry, output, outputBytes, question } = active
  active.state = 'over'
  clearTimeout(active.timer)
  const stored = output ? storable(output.join('')) : null
  Object.assign(entry, result, { durationMs: elapsed(active), outputBytes, output: stored })
  services.onOver(active.invocation, entry)
  // With a limit, the place must be free before the client hears of the end and asks again.
  if (question.agent.maxConcurrency !== null) void services.history.write(entry).then(answerClient)
  else {
    services.history.note(entry)
    answerClient()
  }
}

/** PostgreSQL stores neither NUL nor a lone surrogate. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed()
