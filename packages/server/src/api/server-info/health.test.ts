import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unavailable } from '../../kernel/db/database-error.ts'
import type { Row } from '../../kernel/db/db.ts'
import { createHealth } from './health.ts'

/** A database whose answers the test gives. */
function slowDatabase() {
  const asked: PromiseWithResolvers<Row[]>[] = []
  const query = <R extends Row>(): Promise<R[]> => {
    const answer = Promise.withResolvers<Row[]>()
    asked.push(answer)
    return answer.promise as Promise<R[]>
  }
  return { asked, health: createHealth({ kind: 'postgres', query }) }
}

test('the health of a database that is free is ok, and many questions at once are one query', async () => {
  const { asked, health } = slowDatabase()
  const checks = [health.check(), health.check(), health.check()]
  asked[0]?.resolve([])
  assert.deepEqual(await Promise.all(checks), ['ok', 'ok', 'ok'])
  assert.equal(asked.length, 1)
})

test('a database that does not answer at once is busy, and nobody waits for it', async () => {
  const { asked, health } = slowDatabase()
  assert.equal(await health.check(), 'busy')
  assert.equal(await health.check(), 'busy')
  asked[0]?.resolve([])
  await asked[0]?.promise
  const next = health.check()
  asked[1]?.resolve([])
  assert.equal(await next, 'ok')
})

test('a database that failed stays failed until it answers again', async () => {
  const { asked, health } = slowDatabase()
  const failing = health.check()
  asked[0]?.reject(unavailable(new Error('gone')))
  await assert.rejects(failing, { code: 'unavailable' })
  await assert.rejects(health.check(), { code: 'unavailable' })
  asked[1]?.resolve([])
  await asked[1]?.promise
  const next = health.check()
  asked[2]?.resolve([])
  assert.equal(await next, 'ok')
})

test('a database that has been silent for ten seconds is taken to be lost', async (t) => {
  const { health } = slowDatabase()
  assert.equal(await health.check(), 'busy')
  const later = performance.now() + 10_001
  t.mock.method(performance, 'now', () => later)
  await assert.rejects(health.check(), { code: 'unavailable', message: /does not answer/ })
})
