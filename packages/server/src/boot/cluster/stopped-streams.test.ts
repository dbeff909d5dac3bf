import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { testDatabase } from '../../../testing/database.ts'
import { openStream } from '../../../testing/event-client.ts'
import { startReplica, startWorkerProcess } from '../../../testing/processes/replica-process.ts'
import { until } from '../../../testing/until.ts'

// One database is enough: several processes cannot share the embedded one.

type Live = { inFlight: number }

const skip = process.env.TEST_DATABASE_URL ? false : 'the embedded database belongs to one process'

test('endless answers of agents end with 503 shutting_down when two workers stop, whichever of them has the agent', {
  skip,
}, async (t) => {
  const master = randomUUID()
  const database = await testDatabase()
  const server = await startReplica({
    DATABASE_URL: database.url ?? '',
    MASTER_API_KEY: master,
    WORKERS: '2',
    AGENT_DRAIN_MS: '1000',
    SECRET_KEY: 'a secret for tests, long enough to be one',
  })
  t.after(async () => {
    await server.end('SIGKILL')
    await database.close()
  })
  const headers = { 'x-api-key': master, 'content-type': 'application/json' }
  const agents = `${server.url}/api/v1/agents`
  const { id } = (await (await fetch(agents, { method: 'POST', headers, body: '{}' })).json()) as { id: string }
  const agent = await startWorkerProcess({ URLS: server.url, KEY: master, AGENT: id, CONCURRENCY: '100' })
  t.after(() => agent.end('SIGKILL'))
  // Each on a connection of its own, so that both workers have some.
  const streams = await Promise.all(
    Array.from({ length: 12 }, () => openStream(`${agents}/${id}/stream`, master, { input: 'words 1000000 20' })),
  )
  const body = JSON.stringify({ input: 'hang' })
  const answers = Array.from({ length: 12 }, () => fetch(`${agents}/${id}/invoke`, { method: 'POST', headers, body }))
  await until(() => streams.every((stream) => stream.text() !== ''))
  const inFlight = async () => ((await (await fetch(`${agents}/${id}`, { headers })).json()) as Live).inFlight
  await until(async () => (await inFlight()) === streams.length + answers.length)
  await server.end('SIGTERM')
  for (const stream of streams) {
    await stream.over
    assert.equal(stream.last()?.data.code, 'shutting_down')
  }
  for (const answer of await Promise.all(answers)) {
    assert.deepEqual([answer.status, ((await answer.json()) as { code: string }).code], [503, 'shutting_down'])
  }
})
