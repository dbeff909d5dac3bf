import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Db } from '../../kernel/db/db.ts'
import { compileSql, type Sql } from '../../kernel/db/sql.ts'
import { createHistory, type InvocationRecord } from './history.ts'

/** Longer than a history waits before it writes. */
const aWhileMs = 200

/** Time of a mocked clock, which a busy machine does not change. What is due is written meanwhile. */
async function pass(t: TestContext, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    t.mock.timers.tick(10)
    await setImmediate()
  }
}

/** A history on a database that only notes what it is told to write, fails as often as it is told to, and may not answer yet. */
function historyOf(failures = 0, isBack: Promise<void> = Promise.resolve()) {
  const written: string[][] = []
  let left = failures
  const query = async (statement: Sql) => {
    await isBack
    if (left-- > 0) throw new Error('not now')
    const text = compileSql(statement).values.find((value) => String(value).startsWith('['))
    written.push((JSON.parse(String(text)) as InvocationRecord[]).map(({ id, status }) => `${id} ${status}`))
    return []
  }
  const history = createHistory({ query } as unknown as Db, 'here', () => {})
  return { history, written }
}

const running = (id: string) => ({ id, status: 'running' }) as InvocationRecord
const end = (entry: InvocationRecord) => Object.assign(entry, { status: 'succeeded' } as const)

test('an invocation that is soon over is written once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { history, written } = historyOf()
  const entries = ['a', 'b'].map(running)
  entries.forEach(history.note)
  await pass(t, 60)
  for (const entry of entries) history.note(end(entry))
  await pass(t, aWhileMs)
  assert.deepEqual(written, [['a succeeded', 'b succeeded']])
})

test('one that goes on is written while it runs, and again at its end', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { history, written } = historyOf()
  const entry = running('a')
  history.note(entry)
  await pass(t, aWhileMs)
  assert.deepEqual(written, [['a running']])
  history.note(end(entry))
  await pass(t, aWhileMs)
  assert.deepEqual(written, [['a running'], ['a succeeded']])
})

test('what is asked for at once is written at once, also what has only begun', async () => {
  const { history, written } = historyOf()
  history.note(end(running('a')))
  history.note(running('b'))
  await history.flush()
  assert.deepEqual(written, [['a succeeded', 'b running']])
  await history.flush()
  assert.equal(written.length, 1)
})

test('what could not be written is written later', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { history, written } = historyOf(1)
  const entry = running('b')
  history.note(end(running('a')))
  history.note(entry)
  await history.flush()
  assert.deepEqual(written, [])
  history.note(end(entry))
  await pass(t, aWhileMs)
  assert.deepEqual(written, [['a succeeded', 'b succeeded']])
})

test('while the database hangs, only so much waits for it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const gate = Promise.withResolvers<void>()
  const { history, written } = historyOf(0, gate.promise)
  history.note(end(running('first')))
  await pass(t, aWhileMs)
  for (let batch = 0; batch < 3; batch++) {
    for (let n = 0; n < 15_000; n++) history.note(end(running(`${batch} ${n}`)))
    await pass(t, aWhileMs)
  }
  gate.resolve()
  await history.flush()
  assert.deepEqual(
    written.map((batch) => batch.length),
    [1, 20_000],
  )
})
