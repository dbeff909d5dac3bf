import { setTimeout as sleep } from 'node:timers/promises'
import { psql } from '../../bench/tables.ts'
import type { Random } from '../../packages/server/testing/uploads/random.ts'
import type { PostgresCluster } from '../../scripts/postgres.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { type Answer, call } from '../http.ts'
import { described, startLoad } from '../load.ts'
import { type FaultServer, masterKey } from '../server.ts'
import { makeLayer, makeTenant, pointsSql } from '../tenants.ts'
import { seconds, untilSo } from '../wait.ts'
import { createLedger } from './ledger.ts'
import { startReplicas } from './replicas.ts'

const backWithinMs = 5_000
const clients = 12

const isAnnounced = ({ status, headers }: Answer): boolean =>
  status < 300 || ((status === 503 || status === 504) && Number(headers['retry-after']) > 0)

/** Reads of all kinds: records, queries, tiles made anew. */
async function readsOf(server: FaultServer, random: Random): Promise<() => string> {
  const tenant = await makeTenant(server, 'outage')
  const { dataset, tiles } = await makeLayer(server, tenant, pointsSql(2_000))
  const tile = () => {
    const z = 3 + Math.floor(random() * 10)
    return `/tiles/${tiles}/${z}/${Math.floor(random() * 2 ** z)}/${Math.floor(random() * 2 ** z)}.mvt`
  }
  const paths = [
    () => '/api/v1/styles?limit=10',
    () => `/api/v1/datasets/${dataset}/query?limit=50`,
    () => `/api/v1/datasets/${dataset}`,
    tile,
  ]
  return () => paths[Math.floor(random() * paths.length)]?.() ?? ''
}

/** Until each kind of request is answered with success again. */
async function recovery(server: FaultServer, path: () => string): Promise<number> {
  const isBack = async () => (await call(server.url, 'GET', path(), { key: masterKey })).status < 300
  return untilSo(isBack, 60_000, () => `no 200:\n${server.log()}`)
}

async function breakDatabase(cluster: PostgresCluster, server: FaultServer, options: BreakOptions) {
  const { random, path, rounds, outageMs } = options
  const times: number[] = []
  for (let n = 0; n < rounds; n++) {
    await sleep(500 + random() * 1_500)
    await cluster.control('restart --mode=immediate')
    times.push(await recovery(server, path))
  }
  await cluster.control('stop --mode=immediate')
  await sleep(outageMs)
  await cluster.control('start')
  times.push(await recovery(server, path))
  for (let n = 0; n < rounds; n++) {
    await sleep(500 + random() * 500)
    psql(
      cluster.adminUrl,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = $$client backend$$',
    )
    times.push(await recovery(server, path))
  }
  return times
}

type BreakOptions = { random: Random; path: () => string; rounds: number; outageMs: number }

async function run(context: FaultContext, random: Random): Promise<Measurements> {
  const cluster = await context.postgres()
  const replicas = await startReplicas(context, 2, { DATABASE_URL: cluster.url })
  const [server, other] = replicas
  if (!server || !other) throw new Error('no replicas')
  const path = await readsOf(server, random)
  const agent = context.agent(clients)
  const ask = (client: number) => call(client % 2 ? server.url : other.url, 'GET', path(), { key: masterKey, agent })
  const load = startLoad({ clients, pauseMs: 20, ask, isKept: isAnnounced })
  const ledger = createLedger(random)
  let isOver = false
  const write = async (): Promise<void> => {
    while (!isOver) await ledger.write(server.url)
  }
  const writing = [write(), write()]
  const outageMs = context.size(8_000, 30_000)
  const times = await breakDatabase(cluster, server, { random, path, rounds: context.size(2, 8), outageMs })
  await sleep(2_000)
  isOver = true
  await Promise.all([load.stop(), ...writing])
  await ledger.check(server.url)
  const longest = Math.max(...times)
  expect(load.broken.size === 0, () => `answers that were not announced: ${described(load.broken)}`)
  for (const { hasEnded, log } of replicas) expect(!hasEnded(), () => `a replica ended:\n${log()}`)
  expect(longest <= context.allowed(backWithinMs), () => `the first 200 came after ${seconds(longest)}`)
  return {
    'restarts, outages and cuts of all connections': times.length,
    outage: seconds(outageMs),
    answers: described(load.statuses),
    'first 200 after the database is back, at most': seconds(longest),
    'acknowledged writes': `${ledger.counts().acknowledged}, 0 lost`,
  }
}

export const databaseOutage: Fault = {
  name: 'database-outage',
  promise:
    'While PostgreSQL restarts or is gone, requests get 503 or 504 with `Retry-After` and nothing else; no process ends; ' +
    'the first 200 comes within 5 s after it is back',
  run,
}
