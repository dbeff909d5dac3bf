import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stays, until } from '../../../testing/until.ts'
import type { Db } from '../../kernel/db/db.ts'
import type { ApiError } from '../../kernel/errors.ts'
import type { Caller } from './acl.ts'
import { createRevocation } from './revocation.ts'

const caller: Caller = {
  keyHash: 'aa',
  type: 'app',
  applicationId: '00000000-0000-4000-8000-000000000000',
  everyApplication: false,
  permissions: {},
  userId: null,
  expiresAt: null,
  keyExpiresAt: null,
  allowedOrigins: null,
  bearer: null,
}

/** A database that answers as it is told. */
function fakeDb(answer: () => Promise<object[]>) {
  const asked: unknown[] = []
  const db = {
    query(statement: unknown) {
      asked.push(statement)
      return answer()
    },
  } as unknown as Db
  return { db, asked }
}

const unreachable = () => Promise.reject(new Error('The database cannot be reached'))

test('a database that cannot be asked ends nothing, until its time is over', async (t) => {
  const { db, asked } = fakeDb(unreachable)
  const revocation = createRevocation({ db, onError: () => {}, unconfirmedMs: 1_500 })
  t.after(revocation.close)
  const reasons: ApiError[] = []
  const start = performance.now()
  revocation.watch(caller, (reason) => reasons.push(reason))
  await until(() => asked.length >= 2)
  assert.equal(reasons.length, 0)
  await until(() => reasons.length > 0)
  assert.ok(performance.now() - start >= 1_500)
  assert.equal(reasons[0]?.code, 'unavailable')
})

test('callers are looked up together, and none that are done', async (t) => {
  const { db, asked } = fakeDb(async () => [{ name: 'aa' }])
  const revocation = createRevocation({ db, onError: () => {} })
  t.after(revocation.close)
  const reasons: ApiError[] = []
  const stops = Array.from({ length: 100 }, () => revocation.watch(caller, (reason) => reasons.push(reason)))
  revocation.watch({ ...caller, keyHash: 'bb' }, (reason) => reasons.push(reason))
  revocation.recheck()
  await until(() => reasons.length > 0)
  assert.equal(asked.length, 1)
  assert.deepEqual(
    reasons.map(({ code }) => code),
    ['key_revoked'],
  )
  for (const stop of stops) stop()
  const before = asked.length
  await stays(() => asked.length <= before + 1, 1_200)
})
