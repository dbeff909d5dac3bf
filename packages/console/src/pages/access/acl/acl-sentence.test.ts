import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicPermissions } from '../../../../../server/src/api/access/first-permissions.ts'
import type { Permissions } from '../../../../../server/src/api/access/grants.ts'
import { aclSentence, grantsSentence } from './acl-sentence.ts'

const cases: [Permissions, string][] = [
  [{ '*': { '*': '*' } }, 'May do everything: read, change and use all there is.'],
  [{}, 'May do nothing.'],
  [{ '*': { '*': [] } }, 'May do nothing.'],
  [{ '*': { read: '*', execute: '*' } }, 'Reads and uses everything; cannot change anything.'],
  [
    { datasets: { read: ['a', 'b'], execute: ['a', 'b'] }, tiles: { execute: '*' } },
    'Reads and queries 2 datasets; draws all tile sources; cannot change anything.',
  ],
  [{ datasets: { '*': ['a'] } }, 'Reads, changes and queries 1 dataset.'],
  [
    { '*': { read: '*' }, datasets: { read: ['a', 'b'] }, users: { '*': [] } },
    'Reads everything but users, of the datasets only 2; cannot change anything.',
  ],
  [{ '*': { read: '*', execute: '*' }, uploads: { '*': '*' } }, 'Reads and uses everything; changes all uploads.'],
  [{ datasets: { append: ['a'] } }, 'Adds rows to 1 dataset; cannot change anything else.'],
  [{ datasets: { append: ['a'], write: ['a'] } }, 'Changes 1 dataset.'],
  [{ datasets: { append: ['a', 'b'], write: ['a'] } }, 'Adds rows to 2 datasets; changes 1 dataset.'],
  [
    { '*': { read: '*' }, datasets: { append: ['a'] } },
    'Reads everything; adds rows to 1 dataset; cannot change anything else.',
  ],
  [{ '*': { append: '*' } }, 'Adds rows to all datasets; cannot change anything else.'],
  [
    publicPermissions,
    'Uses all configuration; serves all accounts of its users; reads and queries all datasets; reads and shows all maps; reads and draws all tile sources; cannot change anything.',
  ],
  [{ agents: { execute: ['a'] }, users: { execute: '*' } }, 'Asks 1 agent; cannot change anything.'],
]

for (const [permissions, sentence] of cases)
  test(`${JSON.stringify(permissions)} is said as "${sentence}"`, () => {
    assert.equal(aclSentence(permissions), sentence)
  })

test('rights that are added to others are said without what they lack', () => {
  assert.equal(grantsSentence({ datasets: { append: ['a'] } }), 'Adds rows to 1 dataset.')
  assert.equal(grantsSentence({ '*': { read: '*' } }), 'Reads everything.')
  assert.equal(grantsSentence({ users: { execute: '*' } }), 'May do nothing.', 'no operation asks for it')
})
