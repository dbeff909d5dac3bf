import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { call } from '../http.ts'
import { described, p, startLoad } from '../load.ts'
import { masterKey } from '../server.ts'
import { seconds, untilSo } from '../wait.ts'

const probeP99Ms = 100
/** A machine that is busy with other things is slow before anything is wrong. */
const busyFactor = 2
const cutWithinMs = 15_000
const dripMs = 2_000
const opening = 200

type ClientConnection = { readonly socket: Socket; readonly since: number; closedAt: number | undefined }

/** Connections, opened some at a time: the backlog of a socket is short. */
async function open(url: string, count: number): Promise<ClientConnection[]> {
  const { port, hostname } = new URL(url)
  const held: ClientConnection[] = []
  for (let done = 0; done < count; done += opening) {
    const some = Array.from({ length: Math.min(opening, count - done) }, async () => {
      const socket = connect(Number(port), hostname)
      await once(socket, 'connect')
      const one: ClientConnection = { socket, since: performance.now(), closedAt: undefined }
      const end = () => {
        one.closedAt ??= performance.now()
      }
      socket.on('error', end).on('close', end).on('end', end).resume()
      held.push(one)
    })
    await Promise.all(some)
  }
  return held
}

/** Headers, a byte at a time. */
function drip(held: readonly ClientConnection[]): NodeJS.Timeout {
  const text = `GET /api/v1/healthcheck HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(1_000)}`
  let sent = 0
  return setInterval(() => {
    for (const { socket, closedAt } of held)
      if (closedAt === undefined && socket.writable) socket.write(text[sent] ?? 'x')
    sent++
  }, dripMs)
}

async function run(context: FaultContext): Promise<Measurements> {
  const { url: DATABASE_URL } = await context.postgres()
  const server = await context.server({ DATABASE_URL })
  const agent = context.agent(2)
  const probe = () => call(server.url, 'GET', '/api/v1/styles?limit=5', { key: masterKey, agent })
  const measure = async (ms: number) => {
    const load = startLoad({ clients: 2, pauseMs: 40, ask: probe, isKept: ({ status }) => status === 200 })
    await sleep(ms)
    await load.stop()
    expect(load.broken.size === 0, () => `the healthy client got ${described(load.broken)}`)
    return load.times
  }
  await measure(2_000)
  const alone = await measure(context.size(4_000, 10_000))
  const [idleCount, slowCount] = [context.size(1_000, 5_000), context.size(300, 1_000)]
  const idle = await open(server.url, idleCount)
  const slow = await open(server.url, slowCount)
  const dripping = drip(slow)
  context.defer(() => {
    clearInterval(dripping)
    for (const { socket } of [...idle, ...slow]) socket.destroy()
  })
  const under = await measure(context.size(8_000, 30_000))
  const open_ = () => slow.filter(({ closedAt }) => closedAt === undefined).length
  await untilSo(
    () => open_() === 0,
    2 * cutWithinMs,
    () => `${open_()} half-open connections were not cut`,
  )
  const longest = Math.max(...slow.map(({ since, closedAt = 0 }) => closedAt - since))
  expect(
    p(under, 0.99) <= Math.max(context.allowed(probeP99Ms), busyFactor * p(alone, 0.99)),
    () => `p99 of a healthy client: ${p(under, 0.99)} ms, alone ${p(alone, 0.99)} ms`,
  )
  expect(longest <= context.allowed(cutWithinMs), () => `a half-open connection was cut after ${seconds(longest)}`)
  return {
    'idle and slow connections': `${idleCount} and ${slowCount}`,
    'p99 of a healthy client': `${p(under, 0.99)} ms (alone ${p(alone, 0.99)} ms)`,
    'half-open connections cut after at most': seconds(longest),
  }
}

export const connections: Fault = {
  name: 'connections',
  promise:
    'With 5 000 idle and 1 000 slow connections a healthy client has a p99 of at most 100 ms; half-open ones are cut within 15 s',
  run,
}
