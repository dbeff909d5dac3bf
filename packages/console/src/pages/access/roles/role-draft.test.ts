import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Role } from '@graticule/client'
import { draftOf, emptyRole, patchOf, roleOf } from './role-draft.ts'

const role = {
  name: 'editor',
  description: '',
  permissions: { datasets: { read: '*', write: ['a'] } },
} as unknown as Role

test('a role that is only a name grants null, whatever the grid had before', () => {
  assert.equal(roleOf({ ...emptyRole, name: 'guest' }).permissions, null)
  assert.equal(roleOf({ ...draftOf(role), kind: 'name' }).permissions, null)
  assert.deepEqual(roleOf(draftOf(role)).permissions, role.permissions)
})

test('a change of a role takes away the rights that the grid no longer has', () => {
  const next = { ...draftOf(role), permissions: { datasets: { read: '*' as const }, styles: { read: '*' as const } } }
  assert.deepEqual(patchOf(role, next), { permissions: { datasets: { write: null }, styles: { read: '*' } } })
  assert.deepEqual(patchOf(role, { ...next, kind: 'name' }), { permissions: null })
  assert.deepEqual(patchOf(role, draftOf(role)), {})
})
