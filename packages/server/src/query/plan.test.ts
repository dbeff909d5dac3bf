import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../errors.ts'
import type { Attribute } from './attribute.ts'
import { parsePlan } from './plan.ts'

const attributes = new Map<string, Attribute>([
  ['pop', { name: 'pop', type: 'integer' }],
  ['odd; name', { name: 'odd; name', type: 'string' }],
])
const namesOf = (text: string) => parsePlan({ attributes: [text] }, attributes).columns.map(({ name }) => name)

test('an alias has letters, digits, _, -, . and blanks; anything else is 400', () => {
  for (const alias of ['total', 'Größe 2.0', 'a-b_c', '人口']) {
    for (const expression of ['pop', 'sum(pop)', 'count(*)']) {
      assert.deepEqual(namesOf(`${expression} as ${alias}`), [alias])
    }
  }
  for (const alias of ["x'; drop", 'a"b', 'a,b', 'a(b)', 'a;b', 'a/b', 'a\tb', '$1', 'a\nb', 'x'.repeat(64)]) {
    assert.throws(
      () => namesOf(`sum(pop) as ${alias}`),
      (error) => error instanceof ApiError && error.status === 400,
      alias,
    )
  }
  assert.deepEqual(namesOf('odd; name'), ['odd; name'], 'an attribute keeps its own name')
})
