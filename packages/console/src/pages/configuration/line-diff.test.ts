import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DiffLine, diffJson, diffLines, withoutEqualRuns } from './line-diff.ts'

const marks = { same: ' ', added: '+', removed: '-' }
const shown = (lines: readonly DiffLine[]) => lines.map(({ kind, text }) => marks[kind] + text.trim())
const changes = (lines: readonly DiffLine[]) => shown(lines.filter(({ kind }) => kind !== 'same'))

test('what both texts have stays, the rest is removed or added at its place', () => {
  assert.deepEqual(shown(diffLines(['a', 'b', 'c', 'd'], ['a', 'c', 'x', 'd'])), [' a', '-b', ' c', '+x', ' d'])
  assert.deepEqual(shown(diffLines([], ['a'])), ['+a'])
  assert.deepEqual(shown(diffLines(['a'], [])), ['-a'])
  assert.deepEqual(shown(diffLines(['a', 'a'], ['a'])), [' a', '-a'])
})

test('both sides of a difference can be read back from it', () => {
  const before = ['x', 'q', 'a', 'b', 'x', 'c', 'y', 'a']
  const after = ['x', 'a', 'x', 'c', 'c', 'z', 'y', 'b', 'a']
  const lines = diffLines(before, after)
  const side = (left: DiffLine['kind']) => lines.filter(({ kind }) => kind !== left).map(({ text }) => text)
  assert.deepEqual([side('added'), side('removed')], [before, after])
  assert.equal(lines.filter(({ kind }) => kind === 'same').length, 6)
})

test('the order of keys is no difference', () => {
  assert.deepEqual(changes(diffJson({ a: 1, b: { c: 2, d: [1] } }, { b: { d: [1], c: 2 }, a: 1 })), [])
  assert.deepEqual(changes(diffJson({ a: 1, b: 2 }, { b: 3, a: 1 })), ['-"b": 2', '+"b": 3'])
})

test('texts that are too long to compare are replaced whole, at once', () => {
  const many = (name: string) => Array.from({ length: 30_000 }, (_, index) => `${name}${index}`)
  const lines = diffLines(['same', ...many('a')], ['same', ...many('b')])
  assert.equal(lines.length, 60_001)
})

test('long runs of equal lines are left out', () => {
  const lines = diffLines(
    Array.from({ length: 20 }, (_, index) => String(index)),
    Array.from({ length: 20 }, (_, index) => (index === 10 ? 'x' : String(index))),
  )
  const parts = withoutEqualRuns(lines, 2)
  assert.deepEqual(
    parts.map((part) => (part.kind === 'skipped' ? `… ${part.count}` : part.text)),
    ['… 8', '8', '9', '10', 'x', '11', '12', '… 7'],
  )
})
