import { memoryMb } from '../../bench/processes.ts'
import { psql } from '../../bench/tables.ts'
import type { Random } from '../../packages/server/testing/uploads/random.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { call } from '../http.ts'
import { described, p, startLoad } from '../load.ts'
import { make, makeLayer, makeTenant, pointsSql } from '../tenants.ts'
import { seconds, untilSo } from '../wait.ts'

const batch = 500
const startsWithinMs = 10_000
const p99Ms = 250
const memoryBound = 300

/** Copies of one tenant: the id of each is its key too, and that of its dataset and its style. */
const copySql = (from: number): string => `
  INSERT INTO svc.applications (id, name, description, contact)
    SELECT gen_random_uuid(), 'tenant ' || g, '', '' FROM generate_series(${from}, ${from + batch - 1}) g;
  CREATE TEMP TABLE added AS
    SELECT a.id, b.id AS database_id FROM svc.applications a
    JOIN svc.databases b ON b.application_id = a.id AND b."default"
    WHERE a.name LIKE 'tenant %' AND NOT EXISTS (SELECT FROM svc.datasets d WHERE d.id = a.id);
  INSERT INTO svc.apikeys (hash, secret, application_id, description, type, permissions)
    SELECT sha256(convert_to(id::text, 'UTF8')), '', id, '', 'app', '{"*": {"*": "*"}}' FROM added;
  INSERT INTO svc.datasets (id, application_id, type, source, name, description, attributes, database_id)
    SELECT a.id, a.id, d.type, d.source, d.name, '', d.attributes, a.database_id
    FROM added a CROSS JOIN (SELECT * FROM svc.datasets WHERE name = 'layer' LIMIT 1) d;
  INSERT INTO svc.styles (id, application_id, name, description, type, style)
    SELECT a.id, a.id, s.name, '', s.type, s.style FROM added a CROSS JOIN (SELECT * FROM svc.styles WHERE name = 'model' LIMIT 1) s`

async function run(context: FaultContext, random: Random): Promise<Measurements> {
  const { url } = await context.postgres()
  const env = { DATABASE_URL: url, DATA_DIR: await context.directory() }
  const first = await context.server(env)
  const tenant = await makeTenant(first, 'model')
  await makeLayer(first, tenant, pointsSql(1))
  await make(first, 'styles', { name: 'model', style: { version: 8, sources: {}, layers: [] } }, tenant.key)
  const emptyMb = await memoryMb(first)
  await first.kill('SIGTERM')
  const again = await context.server(env)
  const emptyStartMs = again.startedInMs
  await again.kill('SIGTERM')
  const count = context.size(1_000, 10_000)
  for (let from = 0; from < count; from += batch) psql(url, copySql(from))
  psql(url, 'ANALYZE')
  const ids = psql(url, `SELECT id FROM svc.applications WHERE name LIKE 'tenant %'`).trim().split('\n')
  const server = await context.server(env)
  const idleMb = await memoryMb(server)
  const agent = context.agent(8)
  const paths = (id: string) => [
    `/api/v1/styles/${id}`,
    '/api/v1/datasets',
    `/api/v1/datasets/${id}`,
    '/api/v1/auth/access',
  ]
  const ask = () => {
    const key = ids[Math.floor(random() * ids.length)] ?? ''
    const path = paths(key)[Math.floor(random() * 4)] ?? ''
    return call(server.url, 'GET', path, { key, agent })
  }
  // Each request is another tenant's, so nearly none finds its key in the cache.
  const load = startLoad({ clients: 4, pauseMs: 5, ask, isKept: ({ status }) => status === 200 })
  await untilSo(
    () => load.times.length >= context.size(2_000, 15_000),
    300_000,
    () => 'no answers',
    200,
  )
  await load.stop()
  const busyMb = await memoryMb(server)
  // A query opens a connection of the tenant's own role: some of them, in turn.
  const queried = await queryOf(ids.slice(0, context.size(100, 400)), server.url)
  expect(load.broken.size === 0, () => described(load.broken))
  expect(server.startedInMs <= context.allowed(startsWithinMs), () => `the start took ${seconds(server.startedInMs)}`)
  expect(p(load.times, 0.99) <= context.allowed(p99Ms), () => `p99 is ${p(load.times, 0.99)} ms`)
  expect(busyMb <= memoryBound, () => `the server takes ${busyMb} MB`)
  return {
    tenants: ids.length,
    start: `${seconds(server.startedInMs)} (with one tenant ${seconds(emptyStartMs)})`,
    'memory after the start, after requests': `${idleMb} MB, ${busyMb} MB (with one tenant ${emptyMb} MB)`,
    'p50 and p99 of requests of tenants at random': `${p(load.times, 0.5)} and ${p(load.times, 0.99)} ms`,
    'p50 and p99 of the first query of a tenant': `${p(queried, 0.5)} and ${p(queried, 0.99)} ms`,
  }
}

async function queryOf(ids: readonly string[], url: string): Promise<number[]> {
  const times: number[] = []
  for (const key of ids) {
    const { status, text, ms } = await call(url, 'GET', `/api/v1/datasets/${key}/query`, { key })
    expect(status === 200, () => `a query: ${status} ${text}`)
    times.push(ms)
  }
  return times
}

export const manyTenants: Fault = {
  name: 'many-tenants',
  promise:
    'With 10 000 tenants a server starts within 10 s, takes at most 300 MB, and answers with a p99 of at most 250 ms',
  run,
}
