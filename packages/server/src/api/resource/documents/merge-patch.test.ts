import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergePatch } from './merge-patch.ts'

// The examples of RFC 7396, appendix A.
const examples: [unknown, unknown, unknown][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]

for (const [target, patch, result] of examples) {
  test(`${JSON.stringify(target)} patched with ${JSON.stringify(patch)} is ${JSON.stringify(result)}`, () => {
    assert.deepEqual(mergePatch(target, patch), result)
  })
}

test('a member called __proto__ is a member like any other', () => {
  const merged = mergePatch(JSON.parse('{"__proto__":{"a":1},"b":2}'), JSON.parse('{"__proto__":{"c":3}}'))
  assert.equal(JSON.stringify(merged), '{"__proto__":{"a":1,"c":3},"b":2}')
  assert.equal(({} as Record<string, unknown>).c, undefined)
})
