import { randomUUID } from 'node:crypto'
import { connectWorker } from '../../packages/server/testing/agent-worker.ts'
import { httpSink } from '../../packages/server/testing/peers/http-sink.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { call } from '../http.ts'
import { add, described } from '../load.ts'
import type { FaultServer } from '../server.ts'
import { make, makeTenant } from '../tenants.ts'
import { seconds, untilSo } from '../wait.ts'
import { startReplicas } from './replicas.ts'

const replicaCount = 3

async function openReplicas(context: FaultContext, env: Record<string, string> = {}): Promise<FaultServer[]> {
  const { url } = await context.postgres()
  return startReplicas(context, replicaCount, { DATABASE_URL: url, TRUST_PROXY: 'true', ...env })
}

const revokedWithinMs = 1_000

async function runRevocation(context: FaultContext): Promise<Measurements> {
  const replicas = await openReplicas(context)
  const [first] = replicas
  if (!first) throw new Error('no replica')
  const { id: applicationId } = await makeTenant(first, 'revocation')
  const agents = replicas.map(() => context.agent(2))
  const times: number[] = []
  for (let round = 0; round < context.size(10, 40); round++) {
    const { id: key } = await make(first, 'apikeys', { type: 'app', applicationId, permissions: { '*': { '*': '*' } } })
    const statusAt = async (n: number): Promise<number> =>
      (await call(replicas[n]?.url ?? '', 'GET', '/api/v1/styles', { key, agent: agents[n] as never })).status
    const isRefused = (n: number) =>
      untilSo(
        async () => (await statusAt(n)) === 401,
        10_000,
        () => 'not refused',
        5,
      )
    const used = await Promise.all(replicas.map((_, n) => statusAt(n)))
    expect(
      used.every((status) => status === 200),
      () => `a new key: ${used}`,
    )
    // Again a moment later, so that what each replica has cached is young.
    await Promise.all(replicas.map((_, n) => statusAt(n)))
    const at = replicas[round % replicaCount]
    const removed = await at?.call('DELETE', `/api/v1/apikeys/${key}`)
    expect((removed?.status ?? 500) < 300, () => `DELETE: ${removed?.status}`)
    const begun = performance.now()
    await Promise.all(replicas.map((_, n) => isRefused(n)))
    times.push(performance.now() - begun)
  }
  const longest = Math.max(...times)
  expect(longest <= context.allowed(revokedWithinMs), () => `a revoked key was good for ${seconds(longest)}`)
  return { 'revoked keys': times.length, 'refused by all three replicas after at most': seconds(longest) }
}

/** Of one account from one address. */
const allowedGuesses = 10

async function runRateLimit(context: FaultContext): Promise<Measurements> {
  const replicas = await openReplicas(context)
  const [first] = replicas
  if (!first) throw new Error('no replica')
  const { id: applicationId } = await makeTenant(first, 'guesses')
  const statuses = new Map<number, number>()
  const rounds = context.size(3, 10)
  for (let round = 0; round < rounds; round++) {
    const body = { email: `${randomUUID()}@example.org`, password: 'a wrong one', applicationId }
    const headers = { 'x-forwarded-for': `198.51.100.${round}` }
    const guess = (n: number) =>
      call(replicas[n % replicaCount]?.url ?? '', 'POST', '/api/v1/auth/login', { body, headers })
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => guess(n)))
    for (const { status } of answers) add(statuses, status)
  }
  const isExact = statuses.get(401) === rounds * allowedGuesses && statuses.get(429) === rounds * (60 - allowedGuesses)
  expect(isExact, () => `answers: ${described(statuses)}`)
  return { 'accounts with 60 wrong passwords at once': rounds, 'guesses that were looked at, of each': allowedGuesses }
}

const repetitions = 50

async function runIdempotency(context: FaultContext): Promise<Measurements> {
  const replicas = await openReplicas(context)
  const [first] = replicas
  if (!first) throw new Error('no replica')
  const sink = await httpSink()
  context.defer(() => sink.close())
  const { key } = await makeTenant(first, 'repetitions')
  const settings = { url: sink.url }
  const { id } = await make(first, 'contactpoints', { name: 'sink', type: 'webhook', settings }, key)
  const rounds = context.size(2, 10)
  for (let round = 0; round < rounds; round++) {
    const before = sink.requests.length
    const headers = { 'idempotency-key': randomUUID() }
    const send = (n: number) =>
      call(replicas[n % replicaCount]?.url ?? '', 'POST', `/api/v1/contactpoints/${id}/send`, {
        key,
        headers,
        body: { message: `number ${round}` },
      })
    const answers = await Promise.all(Array.from({ length: repetitions }, (_, n) => send(n)))
    const texts = new Set(answers.map(({ status, text }) => `${status} ${text}`))
    expect(texts.size === 1, () => `${repetitions} equal requests got ${texts.size} answers: ${[...texts].slice(0, 3)}`)
    const isSent = async () =>
      (await first.call('GET', `/api/v1/contactpoints/${id}/deliveries`, { key })).body.every(isOver)
    await untilSo(isSent, 30_000, () => 'the message was not sent')
    expect(sink.requests.length === before + 1, () => `the message was sent ${sink.requests.length - before} times`)
    const other = { key, headers, body: { message: 'another' } }
    const { status } = await first.call('POST', `/api/v1/contactpoints/${id}/send`, other)
    expect(status === 409, () => `another body with the same key: ${status}`)
  }
  return { ...(await invokeRepeatedly(first, key)), 'messages sent with 50 equal requests each': `${rounds}, one each` }
}

const isOver = ({ status }: { status: string }): boolean => status !== 'pending'

async function invokeRepeatedly(server: FaultServer, key: string): Promise<Measurements> {
  const { id: agentId } = await make(server, 'agents', {}, key)
  let jobs = 0
  const worker = await connectWorker({
    url: server.url,
    key,
    agentId,
    concurrency: 64,
    handle({ send }) {
      jobs++
      send({ t: 'accept' })
      setTimeout(() => {
        send({ t: 'delta', text: 'done' })
        send({ t: 'done' })
      }, 300)
    },
  })
  const headers = { 'idempotency-key': randomUUID() }
  const invoke = () => server.call('POST', `/api/v1/agents/${agentId}/invoke`, { key, headers, body: { input: 'a' } })
  await Promise.all(Array.from({ length: repetitions }, invoke))
  const again = await invoke()
  worker.close()
  expect(again.status === 200 && jobs === 1, () => `${jobs} invocations, then ${again.status}`)
  return { 'invocations with 50 equal requests': jobs }
}

export const revocation: Fault = {
  name: 'revocation',
  promise: 'A revoked key is refused on every replica within 1 s',
  run: runRevocation,
}
export const rateLimit: Fault = {
  name: 'rate-limit',
  promise:
    'Replicas count wrong passwords together: 10 guesses for an account from an address in 15 minutes, also at once',
  run: runRateLimit,
}
export const idempotency: Fault = {
  name: 'idempotency',
  promise: 'Fifty equal requests at once with one `Idempotency-Key` have one effect, over all replicas',
  run: runIdempotency,
}
