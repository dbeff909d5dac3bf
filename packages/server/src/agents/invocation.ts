import { isRevoked } from '../access/revocation.ts'
import type { ApiError, ErrorCode } from '../errors.ts'
import type { Agent } from './agent.ts'
import { isBridgeType } from './bridge-settings.ts'
import type { Entry, History } from './history.ts'
import type { Limits } from './limits.ts'
import { declined, type Ending, failure, readEnding, workerFailure } from './outcome.ts'
import type { CancelReason, Invoke, Message } from './protocol.ts'
import { entryOf, invokeFrame, isRemembered, type Question } from './question.ts'
import type { Offer, Run, RunEvent } from './run.ts'
import { uuidV7 } from './uuid-v7.ts'
import { createWholeCharacters, type WholeCharacters } from './whole-characters.ts'

/** Whoever waits for the answer. It hears `fail` or `done` once, also when it has left. */
export type Client = {
  /** The answer begins. */
  open(invocationId: string): void
  /** A piece of it. False when the client has not read what it was given before. */
  write(text: string): boolean
  done(ending: Ending & { durationMs: number; invocationId: string }): void
  fail(error: ApiError): void
}

/** What can be done to a running invocation from outside. */
export type Invocation = {
  readonly id: string
  readonly question: Question
  /** The client has read: the worker may send more. */
  room(): void
  /** The client is gone. */
  leave(reason: CancelReason): void
  /** Ends it with an error. */
  end(code: ErrorCode, message: string, reason: CancelReason): void
}

export type InvocationServices = {
  limits: Limits
  history: History
  hasReady(agent: Agent): boolean
  offerTo(agent: Agent, conversationId: string | undefined): Offer
  /** What was said before in this conversation, for agents that do not remember it themselves. */
  recall(question: Question): Promise<Message[]>
  onOver(invocation: Invocation, entry: Entry): void
}

type Life = {
  readonly services: InvocationServices
  readonly question: Question
  readonly client: Client
  readonly id: string
  readonly entry: Entry
  readonly startedAt: number
  state: 'waiting' | 'open' | 'over'
  run: Run | undefined
  readonly characters: WholeCharacters
  /** The answer so far, if it is to be stored. */
  readonly kept: string[] | undefined
  outputBytes: number
  /** Bytes that the client has taken and the worker was not given back yet. */
  owed: number
  hasRoom: boolean
  /** When it is over at the latest, and when it is unless something is heard before, by `performance.now()`. */
  readonly endsBy: number
  silentBy: number
  /** Rings at `ringsAt`, when the first of the two may have come: setting it anew for every output would cost more. */
  timer: NodeJS.Timeout | undefined
  ringsAt: number
  readonly invocation: Invocation
}

/**
 * The life of an invocation: begin → reserve → offer → accepted → first output → more → the end. The end comes once,
 * from the worker, from a timer, or from outside; and whatever ends it, nothing of it is left.
 */
export function beginInvocation(services: InvocationServices, question: Question, client: Client): Invocation {
  const { agent, call } = question
  const id = uuidV7()
  const entry = entryOf(id, question)
  const startedAt = performance.now()
  const life: Life = {
    services,
    question,
    client,
    id,
    entry,
    startedAt,
    state: 'waiting',
    run: undefined,
    characters: createWholeCharacters(),
    kept: entry.input === null ? undefined : [],
    outputBytes: 0,
    owed: 0,
    hasRoom: true,
    endsBy: startedAt + agent.maxDurationMs,
    silentBy: startedAt + Math.min(agent.timeoutMs, call.timeoutMs ?? Number.POSITIVE_INFINITY),
    timer: undefined,
    ringsAt: Number.POSITIVE_INFINITY,
    invocation: {
      id,
      question,
      room() {
        life.hasRoom = true
        repay(life)
      },
      leave: (reason) => leave(life, reason),
      end: (code, message, reason) => stop(life, failure(code, message, id), reason),
    },
  }
  setTimer(life, startedAt)
  offer(life).catch((error) => isOver(life) || fail(life, error))
  return life.invocation
}

const isOver = ({ state }: Life): boolean => state === 'over'

const elapsed = ({ startedAt }: Life): number => Math.round(performance.now() - startedAt)

/** For the first of what may come. */
function setTimer(life: Life, now: number): void {
  clearTimeout(life.timer)
  life.ringsAt = Math.min(life.endsBy, life.silentBy)
  life.timer = setTimeout(ring, Math.ceil(life.ringsAt - now), life)
}

function ring(life: Life): void {
  const now = performance.now()
  if (now >= life.endsBy) timeOut(life, 'The agent did not finish in time.')
  else if (now < life.silentBy) setTimer(life, now)
  else
    timeOut(
      life,
      life.state === 'waiting'
        ? 'The agent did not begin to answer in time.'
        : 'The agent stopped sending before its answer was complete.',
    )
}

const timeOut = (life: Life, message: string): void => stop(life, failure('agent_timeout', message, life.id), 'timeout')

/** From the first output on: the wait for the next begins anew. */
function heard(life: Life): void {
  if (life.state !== 'open') return
  const now = performance.now()
  life.silentBy = now + life.question.agent.idleTimeoutMs
  if (life.silentBy < life.ringsAt) setTimer(life, now)
}

async function offer(life: Life): Promise<void> {
  const { services, question, entry, id } = life
  const { agent, call } = question
  // Not before the caller has the invocation in hand.
  await undefined
  if (!agent.enabled) return fail(life, declined('nobody', id))
  if (!services.hasReady(agent)) return fail(life, declined(isBridgeType(agent.type) ? 'unbridged' : 'nobody', id))
  if (agent.maxConcurrency === null) services.history.note(entry)
  else if (!(await services.history.reserve(entry, agent.maxConcurrency))) return fail(life, declined('busy', id))
  const messages = call.messages ?? (isRemembered(question) ? await services.recall(question) : undefined)
  // The client may have left while the database was asked; then a place that was reserved is free again.
  if (isOver(life)) return void (await services.history.write(entry))
  const remainingMs = Math.max(1, agent.maxDurationMs - elapsed(life))
  const invoke = invokeFrame(id, question, messages, remainingMs, services.limits.windowBytes)
  offerAgain(life, invoke, maxMoves)
}

/** How often a worker may move on while it is being asked. */
const maxMoves = 3

/** Until a worker that is lost is known to be, and one that has moved is known to be elsewhere. */
const moveMs = 30

/** Whoever declines because its worker has just left for another replica says so: the worker is asked there. */
function offerAgain(life: Life, invoke: Invoke, moves: number): void {
  const { services, question } = life
  const { agent, call } = question
  life.run = services.offerTo(agent, call.conversationId)(invoke, (event) => {
    if (isOver(life)) return
    if (event.t !== 'declined' || event.why !== 'nobody' || moves === 0) return hear(life, event)
    setTimeout(() => {
      if (isOver(life)) return
      if (services.hasReady(agent)) offerAgain(life, invoke, moves - 1)
      else hear(life, event)
    }, moveMs)
  })
}

function hear(life: Life, event: RunEvent): void {
  const { id, entry } = life
  if (event.t === 'declined') fail(life, declined(event.why, id))
  else if (event.t === 'accepted') entry.workerId = event.workerId
  else if (event.t === 'delta') take(life, event.text)
  else if (event.t === 'done') finish(life, event)
  else if (event.t === 'error') fail(life, workerFailure(event, id))
  else if (event.t === 'cancelled') fail(life, failure('agent_failed', 'The agent cancelled the invocation.', id))
  else if (event.t === 'lost') fail(life, failure('agent_disconnected', 'The agent disconnected.', id))
  else {
    if (event.t === 'start') open(life)
    heard(life)
  }
}

/** The first output: until now a failure was an HTTP status, from now on it is an event. */
function open(life: Life): void {
  if (life.state !== 'waiting') return
  life.state = 'open'
  life.entry.ttfbMs = elapsed(life)
  heard(life)
  life.client.open(life.id)
}

function take(life: Life, text: string): void {
  const { outputBytes: most } = life.services.limits
  open(life)
  heard(life)
  const bytes = Buffer.byteLength(text)
  life.outputBytes += bytes
  life.owed += bytes
  if (life.outputBytes > most) {
    stop(life, failure('agent_failed', `The answer is larger than ${most} bytes.`, life.id), 'output_limit')
    return
  }
  pass(life, life.characters.take(text))
  repay(life)
}

function pass(life: Life, text: string): void {
  if (text === '') return
  life.kept?.push(text)
  life.hasRoom = life.client.write(text)
}

/** Not for every piece: a quarter of the window at a time keeps the worker going. */
function repay(life: Life): void {
  if (!life.hasRoom || life.owed < life.services.limits.windowBytes / 4) return
  life.run?.credit(life.owed)
  life.owed = 0
}

function finish(life: Life, done: Extract<RunEvent, { t: 'done' }>): void {
  const { id, client, question, entry } = life
  const ending = readEnding(done, question.agent.model)
  if (!ending) {
    fail(life, failure('agent_failed', 'The agent ended its answer with a message that is not valid.', id))
    return
  }
  open(life)
  pass(life, life.characters.rest())
  const { finishReason, model, usage } = ending
  close(life, { status: 'succeeded', statusCode: 200, finishReason, model, usage }, () =>
    client.done({ ...ending, durationMs: entry.durationMs ?? 0, invocationId: id }),
  )
}

/** Ends it although the worker is still at it. */
function stop(life: Life, error: ApiError, reason: CancelReason): void {
  if (isOver(life)) return
  life.run?.cancel(reason)
  fail(life, error)
}

function leave(life: Life, reason: CancelReason): void {
  if (isOver(life)) return
  life.run?.cancel(reason)
  const left = failure('client_left', 'The client closed the connection.', life.id)
  close(life, { status: 'cancelled', statusCode: left.status }, () => life.client.fail(left))
}

function fail(life: Life, error: ApiError): void {
  const status = error.code === 'cancelled' || isRevoked(error) ? 'cancelled' : 'failed'
  close(life, { status, statusCode: error.status, errorCode: error.code }, () => life.client.fail(error))
}

function close(life: Life, result: Partial<Entry>, tell: () => void): void {
  if (isOver(life)) return
  const { services, entry, kept, outputBytes, question } = life
  life.state = 'over'
  clearTimeout(life.timer)
  const output = kept ? storable(kept.join('')) : null
  Object.assign(entry, result, { durationMs: elapsed(life), outputBytes, output })
  services.onOver(life.invocation, entry)
  // Its place must be free for whoever comes because this one has ended.
  if (question.agent.maxConcurrency !== null) void services.history.write(entry).then(tell)
  else {
    services.history.note(entry)
    tell()
  }
}

/** The database keeps neither NUL nor half a character. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed()
