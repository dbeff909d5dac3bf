import { randomBytes, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../packages/server/testing/uploads/random.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { call, pointsCsv, uploadForm } from '../http.ts'
import { add, described, type Load, p, startLoad } from '../load.ts'
import type { FaultServer } from '../server.ts'
import { type FaultTenant, make, makeLayer, makeTenant, pointsSql } from '../tenants.ts'

const p99Ms = 1_000

/** What a well-behaved tenant does: maps, queries, records. */
async function goodPaths(server: FaultServer, tenant: FaultTenant): Promise<string[]> {
  const { dataset, tiles } = await makeLayer(server, tenant, pointsSql(2_000))
  return [
    '/api/v1/styles?limit=10',
    `/api/v1/datasets/${dataset}/query?limit=20`,
    `/tiles/${tiles}/4/8/6.mvt`,
    `/tiles/${tiles}/4/9/6.mvt`,
    `/tiles/${tiles}/5/16/12.mvt`,
  ]
}

type Attack = { stop(): Promise<void>; readonly statuses: Map<number | string, number> }

/** Heavy queries, heavy tiles, uploads, logins and garbage, all at once. */
async function attack(server: FaultServer, tenant: FaultTenant, random: Random, size: number): Promise<Attack> {
  const { url } = server
  const { key, id: applicationId } = tenant
  const heavy = `SELECT count(*) AS n FROM generate_series(1, 100000) a, generate_series(1, 100000) b`
  const { id: dataset } = await make(server, 'datasets', { type: 'sql', name: 'heavy', source: heavy }, key)
  const { tiles } = await makeLayer(server, tenant, pointsSql(300_000))
  const form = uploadForm('points.csv', pointsCsv(30_000))
  const statuses = new Map<number | string, number>()
  const tile = () => `/tiles/${tiles}/${Math.floor(random() * 3)}/0/0.mvt?filter[id][$gt]=${Math.floor(random() * 1e6)}`
  const login = () => ({ email: `${randomUUID()}@example.org`, password: 'wrong', applicationId })
  const kinds = [
    () => call(url, 'GET', `/api/v1/datasets/${dataset}/query?timeout=5000`, { key }),
    () => call(url, 'GET', tile(), { key }),
    () => call(url, 'POST', '/api/v1/uploads', { key, ...form }),
    () =>
      call(url, 'POST', '/api/v1/auth/login', {
        body: login(),
        headers: { 'x-forwarded-for': `198.51.100.${Math.floor(random() * 250)}` },
      }),
    () => sendGarbage(url),
  ]
  let isOver = false
  const assail = async (n: number): Promise<void> => {
    while (!isOver) {
      await (kinds[n % kinds.length] ?? sendGarbage)(url).then(
        ({ status }) => add(statuses, status),
        (error: NodeJS.ErrnoException) => add(statuses, error.code ?? 'failed'),
      )
      await sleep(5)
    }
  }
  const running = Array.from({ length: size }, (_, n) => assail(n))
  return {
    statuses,
    async stop() {
      isOver = true
      await Promise.all(running)
    },
  }
}

function sendGarbage(url: string): Promise<{ status: number }> {
  const { port, hostname } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined).on('close', () => resolve({ status: 0 }))
    socket.write(Buffer.concat([Buffer.from('GET / HTTP/1.1\r\n'), randomBytes(500)]))
    setTimeout(() => socket.destroy(), 50)
  })
}

async function run(context: FaultContext, random: Random): Promise<Measurements> {
  const { url: DATABASE_URL } = await context.postgres()
  const server = await context.server({ DATABASE_URL, TRUST_PROXY: 'true', WORKERS: '2' })
  const [good, hostile] = [await makeTenant(server, 'good'), await makeTenant(server, 'hostile')]
  const paths = await goodPaths(server, good)
  const agent = context.agent(3)
  const measure = async (ms: number): Promise<Load> => {
    const ask = (_: number, turn: number) =>
      call(server.url, 'GET', paths[turn % paths.length] ?? '', { key: good.key, agent })
    const load = startLoad({ clients: 3, pauseMs: 20, ask, isKept: ({ status }) => status === 200 || status === 204 })
    await sleep(ms)
    await load.stop()
    return load
  }
  await measure(3_000)
  const alone = await measure(context.size(5_000, 15_000))
  const attacking = await attack(server, hostile, random, context.size(40, 80))
  await sleep(2_000)
  const under = await measure(context.size(10_000, 40_000))
  await attacking.stop()
  expect(under.broken.size === 0, () => `the good tenant got ${described(under.broken)}`)
  expect(!server.hasEnded(), () => `the server ended:\n${server.log()}`)
  const bound = Math.max(context.allowed(p99Ms), 3 * p(alone.times, 0.99))
  expect(
    p(under.times, 0.99) <= bound,
    () => `p99 under attack ${p(under.times, 0.99)} ms, alone ${p(alone.times, 0.99)} ms`,
  )
  return {
    'p50 and p99 alone': `${p(alone.times, 0.5)} and ${p(alone.times, 0.99)} ms`,
    'p50 and p99 under attack': `${p(under.times, 0.5)} and ${p(under.times, 0.99)} ms`,
    'requests of the other tenant': `${under.times.length}, 0 failed`,
    'answers to the attacker': described(attacking.statuses),
  }
}

export const hostileTenant: Fault = {
  name: 'hostile-tenant',
  promise:
    'A tenant who sends heavy queries, tiles, uploads, logins and garbage at once fails no request of another, whose p99 stays within 1 s',
  run,
}
