import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnNames } from './column-names.ts'

// One database is enough: none is asked.

const longNames = ['a', 'ä', '漢', '𠮷'].map((letter) => letter.repeat(64))

test('columns whose names are equal after they were cut are told apart, and none is longer than 63 bytes', () => {
  for (const long of longNames) {
    const names = columnNames([...Array.from({ length: 12 }, (_, n) => `${long}${n}`), long])
    assert.equal(new Set(names.map((name) => name.toLowerCase())).size, 13)
    assert.ok(names.every((name) => Buffer.byteLength(name) <= 63 && name.isWellFormed()))
    assert.ok(names.every((name) => name.startsWith(long.slice(0, 10))))
    assert.deepEqual(
      columnNames([...Array.from({ length: 12 }, (_, n) => `${long}${n}`), long]),
      names,
      'the same again',
    )
  }
})
