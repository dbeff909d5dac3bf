import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ColumnType } from '../attribute.ts'
import type { Rule } from './rule.ts'
import { ruleSentence } from './rule-sentence.ts'

const types = new Map<string, ColumnType>([
  ['owner', 'string'],
  ['town', 'string'],
  ['price', 'integer'],
  ['geom', 'geometry'],
])
const sentence = (rule: Rule): string => ruleSentence(rule, types)

test('a rule is a sentence: who, what, which rows, which attributes, and what the server writes', () => {
  const cases: [Rule, string][] = [
    [
      {
        roles: ['surveyor'],
        levels: ['change', 'read'],
        where: { owner: '$user.email' },
        attributes: ['name', 'price'],
        set: { owner: '$user.email' },
      },
      'Users with the role surveyor see and change rows where owner is their e-mail; of these they see and write name, price; the server writes owner = their e-mail.',
    ],
    [{ levels: ['read'] }, 'Signed-in users see all rows.'],
    [{ users: 'anyone', levels: ['read'] }, 'All callers, also keys without a user, see all rows.'],
    [
      { roles: ['a', 'b', 'c'], levels: ['read', 'append', 'change', 'delete'] },
      'Users with one of the roles a, b or c see, add, change and delete all rows.',
    ],
    [{ levels: ['append'], attributes: ['note'] }, 'Signed-in users add rows; of these they write note.'],
    [
      { levels: ['append'], set: { owner: 'x', price: 3 } },
      'Signed-in users add rows; the server writes owner = “x” and price = 3.',
    ],
  ]
  for (const [rule, words] of cases) assert.equal(sentence(rule), words)
})

test('conditions are told in words, also nested ones, and only what has no words as JSON', () => {
  const words = (where: Rule['where']) => sentence({ levels: ['read'], ...(where && { where }) })
  const rows = 'Signed-in users see rows where'
  assert.equal(words({ owner: 'x', price: { $gte: 5 } }), `${rows} owner is “x” and price is at least 5.`)
  assert.equal(words({ owner: { $in: '$user.roles' } }), `${rows} owner is one of their roles.`)
  assert.equal(words({ owner: '$user.roles' }), `${rows} owner is one of their roles.`)
  assert.equal(words({ town: '$user.metadata.town' }), `${rows} town is their town (metadata).`)
  assert.equal(words({ $or: [{ owner: 'x' }, { town: 'y' }] }), `${rows} owner is “x” or town is “y”.`)
  assert.equal(
    words({ price: 5, $or: [{ owner: 'x' }, { $not: { town: 'y' } }] }),
    `${rows} price is 5 and (owner is “x” or not (town is “y”)).`,
  )
  assert.equal(words({ geom: { $dwithin: { distance: 5 } } }), `${rows} geom {"$dwithin":{"distance":5}}.`)
  assert.equal(words({}), 'Signed-in users see all rows.')
})
