import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../../../kernel/errors.ts'
import { parsePlan, type QueryRequest } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { type QueryJob, queryAnswer } from './memory-source-job.ts'
import { createMemoryThreads } from './memory-source-threads.ts'

const threads = createMemoryThreads()
after(() => threads.close())

const attributes = new Map<string, Attribute>([
  ['id', { name: 'id', type: 'integer' }],
  ['name', { name: 'name', type: 'string' }],
  ['more', { name: 'more', type: 'json' }],
  ['geometry', { name: 'geometry', type: 'geometry' }],
])
const rows = (count: number) =>
  Array.from({ length: count }, (_, id) => ({
    id,
    name: `name ${(id * 7919) % 10_007}`,
    geometry: { type: 'Point', coordinates: [(id % 360) - 180, (id % 170) - 85] },
  }))
const jobOf = (answer: unknown, query: QueryRequest = {}): QueryJob => ({
  answer: {
    kind: 'document',
    body: Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)),
    contentType: 'application/json',
  },
  plan: parsePlan(query, attributes),
  shape: { geometry: 'geojson' },
})
const limits = { applicationId: 'a', timeoutMs: 60_000 }

async function all(job: QueryJob, options = limits) {
  const { batches, isWhole } = await threads.run(job, options)
  const read: unknown[][] = []
  for await (const batch of batches) read.push(batch as unknown[])
  return { read, isWhole }
}
const hasCode = (code: string) => (error: unknown) => error instanceof ApiError && error.code === code

/** Takes a thread many seconds: every row is measured against a line of a thousand corners. */
const zigzag = Array.from({ length: 1_000 }, (_, index) => [index % 2 ? 9 : 8, index / 20])
const slow = jobOf(rows(50_000), {
  where: { geometry: { $dwithin: { geometry: { type: 'LineString', coordinates: zigzag }, distance: 5_000_000 } } },
  order: ['name'],
})

test('a thread answers what the event loop would, in batches, and leaves the loop free', async () => {
  const job = jobOf(rows(20_000), { where: { id: { $gte: 100 } }, order: ['-name', 'id'] })
  let turns = 0
  let isDone = false
  const counting = (async () => {
    for (; !isDone; turns++) await setImmediate()
  })()
  const { read, isWhole } = await all(job)
  isDone = true
  await counting
  assert.ok(turns > 100, String(turns))
  assert.equal(isWhole, false)
  assert.ok(read.length > 10, String(read.length))
  assert.deepEqual(read.flat(), [...queryAnswer(job)].flat())
})

test('no rows are no batch, and few are one', async () => {
  assert.deepEqual((await all(jobOf([]))).read, [])
  const { read, isWhole } = await all(jobOf(rows(3), { attributes: ['id'] }))
  assert.deepEqual([read, isWhole], [[[['0'], ['1'], ['2']]], true])
})

test('what is wrong is told as it would be without a thread', async () => {
  await assert.rejects(all(jobOf('no JSON')), hasCode('upstream_failed'))
  const deep = `[{"id":1,"more":${'['.repeat(100_000)}${']'.repeat(100_000)}}]`
  await assert.rejects(all(jobOf(deep)), hasCode('upstream_failed'))
  assert.deepEqual((await all(jobOf(deep, { attributes: ['id'] }))).read, [[['1']]])
  await assert.rejects(all(jobOf(`[${'{},'.repeat(100_001)}{}]`)), hasCode('too_many_rows'))
})

test('a job ends with its time, and the next one has a thread', async () => {
  await assert.rejects(all(slow, { ...limits, timeoutMs: 300 }), hasCode('query_timeout'))
  assert.equal((await all(jobOf(rows(3)))).read.length, 1)
})

test('a job ends with its signal, also while it waits for a thread, and says its reason', async () => {
  const reason = new Error('gone')
  const controllers = Array.from({ length: 4 }, () => new AbortController())
  const jobs = controllers.map(({ signal }) => all(slow, { ...limits, signal } as typeof limits))
  const ended = Promise.all(jobs.map((job) => assert.rejects(job, (error) => error === reason)))
  for (const controller of controllers.toReversed()) {
    controller.abort(reason)
    await setImmediate()
  }
  await ended
  await assert.rejects(all(slow, { ...limits, signal: AbortSignal.abort(reason) } as typeof limits), reason)
  assert.equal((await all(jobOf(rows(3)))).read.length, 1)
})

test('one application does not keep another waiting behind all its jobs', async () => {
  const order: string[] = []
  const run = async (applicationId: string) => {
    await all(jobOf(rows(5_000), { order: ['name'] }), { ...limits, applicationId })
    order.push(applicationId)
  }
  await Promise.all([...Array.from({ length: 8 }, () => run('greedy')), run('modest')])
  assert.ok(order.indexOf('modest') <= 4, order.join())
})

test('an answer that nobody reads on lets go of its thread', async () => {
  for (let index = 0; index < 4; index++) {
    const { batches } = await threads.run(jobOf(rows(5_000)), limits)
    for await (const _ of batches) break
  }
  assert.equal((await all(jobOf(rows(3)))).read.length, 1)
})
