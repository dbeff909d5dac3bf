import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { connectWorker } from '../../../testing/agent-worker.ts'
import { type TestDatabase, testDatabase } from '../../../testing/database.ts'
import { type ReplicaProcess, startReplica } from '../../../testing/processes/replica-process.ts'
import { until } from '../../../testing/until.ts'
import type { MetricValues } from '../../kernel/concurrency/metrics-exchange.ts'
import { sql } from '../../kernel/db/sql.ts'
import { loadConfig } from '../../kernel/settings/config.ts'
import { countWorkers } from './count-workers.ts'
import { shareOf } from './share.ts'
import { addEnded } from './worker-metrics.ts'

// One database is enough: several processes cannot share the embedded one.

const skip = process.env.TEST_DATABASE_URL ? false : 'the embedded database belongs to one process'
const DATABASE_URL = 'postgres://a/b'

test('there is a worker for each core up to eight, unless WORKERS says otherwise, and one on an embedded database', () => {
  assert.equal(countWorkers({ DATABASE_URL }, 2), 2)
  assert.equal(countWorkers({ DATABASE_URL: 'nonsense' }, 2), 2, 'the process that connects says what is wrong')
  assert.equal(countWorkers({ DATABASE_URL }, 16), 8)
  assert.equal(countWorkers({ DATABASE_URL, WORKERS: '16' }, 2), 16)
  assert.equal(countWorkers({ DATABASE_URL, WORKERS: 'many' }, 2), 1, 'the one process refuses it')
  assert.equal(countWorkers({ WORKERS: '4' }, 4), 1)
  assert.throws(
    () => shareOf(loadConfig({ WORKERS: '4' }), undefined),
    /WORKERS must be 1 or unset without DATABASE_URL/,
  )
})

test('beside a PostgreSQL of the same machine there are fewer workers, and one alone below four cores', () => {
  for (const url of [
    'postgres://a@localhost/b',
    'postgres://a@127.0.0.1:5433/b',
    'postgres://a@[::1]/b',
    'postgres:///b?host=/run/postgresql',
    'host=db.example hostaddr=127.0.0.1 dbname=b',
    'postgres://a@db.example,localhost/b',
  ])
    assert.deepEqual(
      [1, 2, 3, 4, 8, 64].map((cores) => countWorkers({ DATABASE_URL: url }, cores)),
      [1, 1, 1, 3, 6, 8],
      url,
    )
  assert.equal(countWorkers({ DATABASE_URL: 'postgres://a@localhost/b', WORKERS: '2' }, 2), 2)
})

test('the workers of a machine have no more connections and memory together than the settings allow', () => {
  const whole = loadConfig({ DATABASE_URL })
  const part = shareOf(whole, { number: 1, count: 4 })
  for (const name of ['TENANT_CONNECTIONS', 'TILE_CONNECTIONS', 'TILE_CACHE_MB', 'MAX_CONNECTIONS'] as const)
    assert.equal(part[name], Math.floor(whole[name] / 4), name)
  assert.equal(shareOf(whole, { number: 8, count: 8 }).DATABASE_POOL_SIZE, 2, 'one could wait for itself')
})

test('counters of workers that have ended are kept, gauges are not', () => {
  const metrics = (value: number): MetricValues => [
    { name: 'requests', type: 'counter', values: [{ value, labels: { status: 200 } }] },
    { name: 'bytes', type: 'gauge', values: [{ value, labels: {} }] },
  ]
  const [requests, ...others] = addEnded(addEnded([], metrics(3)), metrics(4))
  assert.deepEqual([requests?.values[0]?.value, others], [7, []])
})

/** The whole server with two workers. */
describe('workers', { skip }, () => {
  const master = randomUUID()
  const agents: Agent[] = []
  /** Which worker answered which request, by the log. */
  const answeredBy = new Map<string, number>()
  let database: TestDatabase
  let server: ReplicaProcess

  type Options = { method?: string; body?: object; key?: string; agent?: Agent; prefer?: string }
  async function send(path: string, { method = 'GET', body, key = master, agent = new Agent(), prefer }: Options = {}) {
    const id = randomUUID()
    const type = body && { 'content-type': 'application/json' }
    const headers = { 'x-api-key': key, 'x-request-id': id, ...type, ...(prefer && { prefer }) }
    const asked = request(`${server.url}${path}`, { method, agent, headers })
    asked.end(body && JSON.stringify(body))
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return { status: answer.statusCode ?? 0, answer, id }
  }
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
  async function call(path: string, options: Options = {}): Promise<{ status: number; body: any; id: string }> {
    const { status, answer, id } = await send(`/api/v1${path}`, options)
    const content = await text(answer)
    return { status, id, body: content === '' ? undefined : JSON.parse(content) }
  }

  /** A connection that this worker has accepted; all requests by it are answered there. */
  async function connectionTo(worker: number): Promise<Agent> {
    for (;;) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      agents.push(agent)
      const { id } = await call('/healthcheck', { agent })
      await until(() => answeredBy.has(id))
      if (answeredBy.get(id) === worker) return agent
    }
  }
  const connections = () => Promise.all([connectionTo(1), connectionTo(2)])
  const countStyles = async (): Promise<number> => {
    const metrics = await text((await send('/metrics')).answer)
    return Number(/duration_seconds_count{operation="styles.list",status="200"} (\d+)/.exec(metrics)?.[1] ?? 0)
  }
  const workerPids = (): string[] => {
    try {
      return execFileSync('pgrep', ['-P', String(server.process.pid)], { encoding: 'utf8' })
        .trim()
        .split('\n')
    } catch {
      return []
    }
  }

  before(async () => {
    database = await testDatabase()
    server = await startReplica({
      DATABASE_URL: database.url ?? '',
      MASTER_API_KEY: master,
      WORKERS: '2',
      LOG_LEVEL: 'info',
      SECRET_KEY: 'a secret for tests, long enough to be one',
    })
    createInterface({ input: server.process.stdout ?? process.stdin }).on('line', (line) => {
      const { worker, requestId } = line.startsWith('{') ? JSON.parse(line) : {}
      if (requestId) answeredBy.set(requestId, worker)
    })
  })
  after(async () => {
    for (const agent of agents) agent.destroy()
    await server?.end('SIGKILL')
    await database?.close()
  })

  test('are restarted one by one on SIGHUP without a failed request, also while they are starting, and their counts go on', async (t) => {
    // The first has greeted; the second has just begun.
    await until(() => workerPids().length === 2)
    const old = workerPids()
    const counted = await countStyles()
    const failed: unknown[] = []
    let isOver = false
    t.after(() => {
      isOver = true
    })
    const ask = async () => {
      while (!isOver) {
        const status = await fetch(`${server.url}/api/v1/styles`, { headers: { 'x-api-key': master } }).then(
          async (answer) => (await answer.arrayBuffer()) && answer.status,
          (error) => error,
        )
        if (status !== 200) failed.push(status)
      }
    }
    const clients = [ask(), ask(), ask()]
    server.process.kill('SIGHUP')
    await until(() => workerPids().length === 2 && !workerPids().some((pid) => old.includes(pid)))
    await connections()
    isOver = true
    await Promise.all(clients)
    assert.deepEqual(failed, [])
    assert.ok((await countStyles()) > counted)
  })

  test('answer on one port, and see at once what another one has changed', async () => {
    const [first, second] = await connections()
    const made = { type: 'app', permissions: { styles: { read: '*' } } }
    const { id: key } = (await call('/apikeys', { method: 'POST', body: made, agent: first })).body
    assert.equal((await call('/styles', { key, agent: second })).status, 200)
    assert.ok((await call(`/apikeys/${key}`, { method: 'DELETE', agent: first })).status < 300)
    await until(async () => (await call('/styles', { key, agent: second })).status === 401)
  })

  test('count wrong passwords together', async () => {
    const [first, second] = await connections()
    const body = { email: 'nobody@example.org', password: 'a wrong one', applicationId: randomUUID() }
    const statuses: number[] = []
    for (let n = 0; n < 11; n++) {
      const agent = n % 2 ? first : second
      statuses.push((await call('/auth/login', { method: 'POST', body, key: '', agent })).status)
    }
    assert.deepEqual(statuses, [...Array(10).fill(401), 429])
  })

  test('reach an agent whose worker is connected to another of them', async () => {
    const both = await connections()
    const { id: agentId } = (await call('/agents', { method: 'POST', body: {} })).body
    const { close } = await connectWorker({ url: server.url, key: master, agentId })
    for (const agent of both) {
      await until(async () => (await call(`/agents/${agentId}`, { agent })).body.workers === 1)
      const { status, body } = await call(`/agents/${agentId}/invoke`, { method: 'POST', body: { input: 'a' }, agent })
      assert.deepEqual([status, body.text], [200, 'a'])
    }
    close()
  })

  test('work on an upload once', async () => {
    const form = new FormData()
    form.append('file', new Blob(['name,lon,lat\na,1,2\n']), 'places.csv')
    const sent = await fetch(`${server.url}/api/v1/uploads`, {
      method: 'POST',
      body: form,
      headers: { 'x-api-key': master },
    })
    const { id } = (await sent.json()) as { id: string }
    await until(async () => (await call(`/uploads/${id}`)).body.status === 'completed')
    const [row] = await database.db.query<{ attempts: number }>(
      sql`SELECT attempts FROM svc.uploads WHERE id = ${id}::uuid`,
    )
    assert.equal(row?.attempts, 1)
  })

  test('tell each other when the status of an upload changes, so that who waits elsewhere need not wait for a poll', async () => {
    const [first, second] = await connections()
    const { id: applicationId } = (await call('/applications')).body[0]
    const waited = async (): Promise<number> => {
      const id = randomUUID()
      // Nobody takes it before its time.
      await database.db.query(sql`
        INSERT INTO svc.uploads (id, application_id, file_name, path, options, size, attempts, heard_at)
        VALUES (${id}::uuid, ${applicationId}::uuid, 'a', ${id}, '{}', 1, 1, now() + interval '1 hour')`)
      const begun = performance.now()
      const waiting = call(`/uploads/${id}`, { agent: second, prefer: 'wait=30' })
      await setTimeout(100)
      assert.ok((await call(`/uploads/${id}`, { method: 'DELETE', agent: first })).status < 300)
      assert.equal((await waiting).body.status, 'cancelled')
      return performance.now() - begun
    }
    // A poll comes a second after the client.
    await until(async () => (await waited()) < 900)
  })

  test('add up their metrics', async () => {
    const [first, second] = await connections()
    const before = await countStyles()
    for (const agent of [first, first, first, second, second]) await call('/styles', { agent })
    await until(async () => (await countStyles()) === before + 5)
  })

  test('are replaced when they are killed, and the others go on', async () => {
    const both = await connections()
    const [doomed = ''] = workerPids()
    process.kill(Number(doomed), 'SIGKILL')
    const isOpen = (agent: Agent) => Object.keys(agent.freeSockets).length > 0
    await until(() => both.filter(isOpen).length === 1)
    assert.equal((await call('/styles', { agent: both.find(isOpen) ?? new Agent() })).status, 200)
    for (let n = 0; n < 20; n++) assert.equal((await call('/styles')).status, 200)
    await connections()
  })

  test('end when their supervisor is killed', async () => {
    const workers = workerPids()
    assert.equal(workers.length, 2)
    await server.end('SIGKILL')
    const isRunning = (pid: string): boolean => {
      try {
        return process.kill(Number(pid), 0)
      } catch {
        return false
      }
    }
    await until(() => !workers.some(isRunning))
  })
})
