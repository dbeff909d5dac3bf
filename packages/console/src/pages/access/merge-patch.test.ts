import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mergePatch } from '../../../../server/src/api/resource/documents/merge-patch.ts'
import { mergePatchOf } from './merge-patch.ts'

const value = fc.oneof(fc.string(), fc.boolean(), fc.array(fc.string(), { maxLength: 2 }))
const flat = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { noNullPrototype: true })
const nested = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(value, flat), { noNullPrototype: true })

test('a patch makes of what is stored what the form says, by the server’s rule', () => {
  fc.assert(
    fc.property(nested, nested, (before, after) => {
      assert.deepEqual(mergePatch(before, mergePatchOf(before, after)), after)
    }),
  )
})

test('a patch names only what was changed', () => {
  const before = { name: 'a', mapping: { email: 'mail', metadata: { unit: 'department' } }, scopes: ['openid'] }
  const after = { name: 'b', mapping: { email: 'mail', metadata: {} }, scopes: ['openid'] }
  assert.deepEqual(mergePatchOf(before, after), { name: 'b', mapping: { metadata: { unit: null } } })
  assert.deepEqual(mergePatchOf(before, before), {})
})
