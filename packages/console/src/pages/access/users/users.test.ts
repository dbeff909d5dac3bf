import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { User } from '@graticule/client'
import { resetLink, stateOf, userFilter } from './users.ts'

const user = { enabled: true, emailVerified: true, passwordResetToken: '' } as User

test('a search finds letters anywhere and takes wildcards as letters', () => {
  assert.equal(userFilter('  '), undefined)
  assert.deepEqual(userFilter('a_b%')?.$or, [
    { email: { $iLike: '%a\\_b\\%%' } },
    { firstName: { $iLike: '%a\\_b\\%%' } },
    { lastName: { $iLike: '%a\\_b\\%%' } },
  ])
})

test('the state of a user is one word', () => {
  assert.equal(stateOf(user).label, 'active')
  assert.equal(stateOf({ ...user, enabled: false }).label, 'disabled')
  assert.equal(stateOf({ ...user, emailVerified: false }).label, 'address not confirmed')
  assert.equal(stateOf({ ...user, emailVerified: false, passwordResetToken: 't' }).label, 'invited')
})

test('a reset link names the application, the token and the address', () => {
  const link = new URL(resetLink({ ...user, applicationId: 'A', passwordResetToken: 't/+', email: 'a+b@x.org' }))
  assert.ok(link.pathname.endsWith('reset-password'))
  assert.deepEqual(Object.fromEntries(link.searchParams), { application: 'A', token: 't/+', email: 'a+b@x.org' })
})
