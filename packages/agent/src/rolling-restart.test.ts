import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testDatabase } from '../../server/testing/database.ts'
import { startNats } from '../../server/testing/peers/nats.ts'
import { type ReplicaProcess, startReplica } from '../../server/testing/processes/replica-process.ts'
import { until } from '../../server/testing/until.ts'
import { startBalancer } from '../testing/balancer.ts'
import { startProgram } from '../testing/worker-process.ts'

// One database is enough: several processes cannot share the embedded one.

const skip = process.env.TEST_DATABASE_URL ? false : 'the embedded database belongs to one process'

/** `WORDS MS`: so many words, one in so many milliseconds. */
const program = `
  import { setTimeout as sleep } from 'node:timers/promises'
  import { serveAgent } from '@graticule/agent'
  const { GRATICULE_URL: url, GRATICULE_API_KEY: apiKey, AGENT_ID: agentId } = process.env
  await serveAgent({ url, apiKey, agentId, capacity: 16 }, async function* ({ input }) {
    const [words, ms] = input.split(' ').map(Number)
    for (let n = 0; n < words; n++) {
      yield n + ' '
      await sleep(ms)
    }
  })`

test('two replicas are replaced one after the other, and one worker of this package fails no call', {
  skip,
  timeout: 180_000,
}, async (t) => {
  const key = randomUUID()
  const database = await testDatabase()
  const nats = await startNats()
  const balancer = await startBalancer()
  const replicas: ReplicaProcess[] = []
  t.after(async () => {
    for (const { end } of replicas) await end('SIGKILL')
    await balancer.close()
    await nats.stop()
    await database.close()
  })
  async function start(): Promise<ReplicaProcess> {
    const replica = await startReplica({
      DATABASE_URL: database.url ?? '',
      NATS_URL: nats.url,
      MASTER_API_KEY: key,
      SECRET_KEY: 'a secret for tests, long enough to be one',
    })
    replicas.push(replica)
    return replica
  }
  /** Each call has a connection of its own, so that the balancer decides where it goes. */
  async function call(method: string, path: string, body?: object, url = balancer.url) {
    const sent = request(`${url}/api/v1/agents${path}`, {
      method,
      agent: false,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
    })
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
    sent.on('error', (error) => reject(new Error(`${method} ${path}`, { cause: error })))
    sent.on('response', (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode ?? 0, body: answer }), reject)
    })
    sent.end(body && JSON.stringify(body))
    return promise
  }

  let serving = [await start(), await start()]
  balancer.route(serving.map(({ url }) => url))
  const agentId: string = JSON.parse((await call('POST', '', {})).body).id
  const env = { GRATICULE_URL: balancer.url, GRATICULE_API_KEY: key, AGENT_ID: agentId }
  const worker = startProgram(t, program, env)
  const hasWorker = async ({ url }: ReplicaProcess) =>
    JSON.parse((await call('GET', `/${agentId}`, undefined, url)).body).status === 'online'
  const seenByAll = async () => (await Promise.all(serving.map(hasWorker))).every(Boolean)
  await until(seenByAll)

  let isOver = false
  const outcomes: Record<string, number> = {}
  const client = async () => {
    while (!isOver) {
      const outcome = await call('POST', `/${agentId}/invoke`, { input: '3 10' }).then(
        ({ status, body }) => (status === 200 && JSON.parse(body).text === '0 1 2 ' ? 'whole' : `${status} ${body}`),
        (error: Error) => error.message,
      )
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
  }
  const clients = [client(), client(), client()]
  const streams = []
  for (const old of serving) {
    streams.push(
      call('POST', `/${agentId}/stream`, { input: '150 20' }),
      call('POST', `/${agentId}/stream`, { input: '150 20' }),
    )
    await sleep(300)
    const fresh = await start()
    serving = [...serving.filter((one) => one !== old), fresh]
    balancer.route(serving.map(({ url }) => url))
    // A balancer takes a replica out before it is stopped: what is on its way there still arrives.
    await sleep(500)
    await old.end('SIGTERM')
    assert.equal(old.process.exitCode, 0)
    await until(seenByAll)
  }
  isOver = true
  await Promise.all(clients)
  assert.deepEqual(Object.keys(outcomes), ['whole'], JSON.stringify(outcomes))
  assert.ok((outcomes.whole ?? 0) > 50, JSON.stringify(outcomes))
  for (const { status, body } of await Promise.all(streams)) {
    assert.equal(status, 200)
    assert.match(body, /event: done\n/, 'a stream that had begun was finished')
    assert.equal(body.match(/event: delta\n/g)?.length, 150)
  }
  assert.match(worker.output(), /asks this worker to reconnect/)
})
