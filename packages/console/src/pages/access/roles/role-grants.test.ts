import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grantsOfNames, grantsOfRole } from './role-grants.ts'

const declared = [
  { name: 'reader', permissions: { datasets: { read: '*' as const } } },
  { name: 'surveyor', permissions: { datasets: { execute: '*' as const, append: '*' as const } } },
  { name: 'guest', permissions: null },
]

test('a role says what it grants and not what it lacks, because the key behind a token may grant that', () => {
  assert.deepEqual(declared.map(grantsOfRole), [
    'Reads all datasets.',
    'Adds rows to and queries all datasets.',
    'Only a name, for rules.',
  ])
})

test('several roles grant together what one of them does, and names that grant nothing say nothing', () => {
  assert.equal(grantsOfNames(['reader', 'surveyor'], declared), 'Reads, adds rows to and queries all datasets.')
  assert.equal(grantsOfNames(['guest', 'a name that nobody declared'], declared), undefined)
})
