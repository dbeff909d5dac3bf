import assert from 'node:assert/strict'
import { test } from 'node:test'
import { roleUseOf, undeclaredNames, usersWith } from './role-use.ts'

const users = [{ roles: ['editor', 'guest', 'editor'] }, { roles: [] }, { roles: ['guest'] }]

test('users are counted once for each role, and at least where not all were looked at', () => {
  const use = roleUseOf(users, false)
  assert.deepEqual(
    ['guest', 'editor', 'nobody has it'].map((name) => usersWith(name, use)),
    ['2 users', '1 user', 'nobody'],
  )
  assert.equal(usersWith('guest', roleUseOf(users, true)), 'at least 2 users')
})

test('names that users have and nobody declared are listed in order', () => {
  const use = roleUseOf([...users, { roles: ['clerk'] }], false)
  assert.deepEqual(undeclaredNames([{ name: 'editor' }], use), ['clerk', 'guest'])
})
