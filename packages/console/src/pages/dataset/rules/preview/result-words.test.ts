import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUnbound, seenWords, writeWords } from './result-words.ts'
import { bodyOf, rolesIn, type Viewer } from './viewer.ts'

const clerk: Viewer = { kind: 'role', role: 'clerk' }
const emmy: Viewer = { kind: 'user', id: '7', email: 'emmy@example.org' }

test('what somebody sees is said in a sentence, also nothing, everything and a table without rows', () => {
  assert.equal(seenWords(emmy, { count: 2, total: 3 }), 'emmy@example.org sees 2 of 3 rows.')
  assert.equal(seenWords(clerk, { count: 0, total: 3 }), 'Somebody with the role clerk sees no row of 3.')
  assert.equal(seenWords({ kind: 'anyone' }, { count: 3, total: 3 }), 'A key without a user sees all 3 rows.')
  assert.equal(
    seenWords({ kind: 'signed-in' }, { count: 1, total: 1 }),
    'Somebody signed in without roles sees the only row.',
  )
  assert.equal(seenWords(emmy, { count: 0, total: 0 }), 'The dataset has no rows yet.')
})

test('what somebody may write is said as far as rules decide it', () => {
  const words = (mayAppend: boolean, mayChange: number, mayDelete: number) =>
    writeWords({ mayAppend, mayChange, mayDelete })
  assert.equal(words(false, 0, 0), 'May write nothing.')
  assert.equal(words(true, 2, 0), 'May add rows, change 2 and delete none, as far as the key grants it.')
  assert.equal(words(false, 0, 1), 'May add none, change none and delete 1, as far as the key grants it.')
})

test('rules are tried as a user that there is, somebody who need not be there, or nobody', () => {
  assert.deepEqual([emmy, clerk, { kind: 'signed-in' } as const, { kind: 'anyone' } as const].map(bodyOf), [
    { userId: '7' },
    { user: { roles: ['clerk'] } },
    { user: {} },
    {},
  ])
  assert.deepEqual(
    rolesIn([{ levels: ['read'], roles: ['b', 'a'] }, { levels: ['read'] }, { levels: ['read'], roles: ['a'] }]),
    ['a', 'b'],
  )
  assert.deepEqual([isUnbound({ kind: 'anyone' }, 'users'), isUnbound(emmy, 'users')], [true, false])
  assert.equal(isUnbound({ kind: 'anyone' }, 'all'), false)
})
