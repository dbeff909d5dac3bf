import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatasetAttribute } from '../../dataset.ts'
import type { Rule } from '../rule.ts'
import { ownerOf, rowsOfUser } from '../templates.ts'
import { draftOf, type RuleDraft, rowsAs, ruleOf } from './rule-draft.ts'

const attribute = (name: string, type: DatasetAttribute['type'], primaryKey = false): DatasetAttribute =>
  ({ name, type, primaryKey }) as DatasetAttribute
const attributes = [
  attribute('id', 'integer', true),
  attribute('town', 'string'),
  attribute('owner', 'string'),
  attribute('price', 'integer'),
  attribute('tags', 'array'),
]

const changed = (rule: Rule, part: Partial<RuleDraft> = {}) =>
  ruleOf({ ...draftOf(rule, attributes), ...part }, rule, attributes)
const full: Rule = {
  roles: ['clerk'],
  levels: ['read', 'change'],
  where: { $not: { owner: '$user.email' } },
  attributes: ['id', 'town'],
  set: { owner: '$user.email', price: 3, tags: ['a'] },
}

test('a rule that the form opens and does not change stays as it is, whatever it is', () => {
  const rules: Rule[] = [
    full,
    { levels: ['delete', 'read'] },
    { users: 'signed-in', levels: ['read'], where: {}, set: {} },
    { users: 'anyone', roles: ['a'], levels: ['read'], where: { owner: { $eq: '$user.email' } } },
    { levels: ['read'], where: { owner: { $eq: 'x' }, gone: 3 } },
    { levels: ['append'], set: { gone: 1, price: null } },
  ]
  for (const rule of rules) assert.deepEqual(changed(rule), { value: rule })
})

test('a change of one part of a rule leaves the others as they were', () => {
  assert.deepEqual(changed(full, { levels: ['change'] }), { value: { ...full, levels: ['change'] } })
  const { roles: _, ...others } = full
  assert.deepEqual(changed(full, { who: 'anyone' }), { value: { users: 'anyone', ...others } })
  assert.deepEqual(changed(full, { attributes: null, set: [] }), {
    value: { roles: ['clerk'], levels: full.levels, where: full.where },
  })
})

test('what is missing in a rule is said', () => {
  const missing = (rule: Rule, part: Partial<RuleDraft>) => {
    const read = changed(rule, part)
    return 'missing' in read ? read.missing : null
  }
  assert.match(missing(full, { roles: [] }) ?? '', /Choose a role/)
  assert.match(missing(full, { levels: [] }) ?? '', /what they may do/)
  assert.match(missing(full, { attributes: [] }) ?? '', /attribute/)
  assert.match(missing(full, { levels: ['read'] }) ?? '', /only written/)
  assert.match(missing(full, { rows: { ...draftOf(full, attributes).rows, json: '{' } }) ?? '', /not valid JSON/)
  const rows = rowsAs('conditions', draftOf({ levels: ['read'] }, attributes).rows, attributes)
  assert.match((rows && missing({ levels: ['read'] }, { rows })) ?? '', /Type a value/)
})

test('conditions become JSON and conditions again, and JSON that is more stays JSON', () => {
  const rows = draftOf({ levels: ['read'], where: { owner: '$user.email', price: { $lt: 5 } } }, attributes).rows
  assert.equal(rows.kind, 'conditions')
  const json = rowsAs('json', rows, attributes)
  assert.deepEqual(JSON.parse(json?.json ?? ''), { owner: '$user.email', price: { $lt: 5 } })
  assert.deepEqual(json && rowsAs('conditions', json, attributes)?.conditions, rows.conditions)
  const more = draftOf(full, attributes).rows
  assert.equal(more.kind, 'json')
  assert.equal(rowsAs('conditions', more, attributes), undefined)
  // What was typed is there again after a look at all rows.
  const all = rowsAs('all', rows, attributes)
  assert.deepEqual(all && rowsAs('conditions', all, attributes), rows)
})

test('the template of own rows takes the attribute that says whose a row is, and what it holds', () => {
  assert.equal(ownerOf(attributes)?.name, 'owner')
  assert.deepEqual(rowsOfUser({ attributes, type: 'sql' }), { levels: ['read'], where: { owner: '$user.email' } })
  const byId = [attribute('id', 'integer', true), attribute('user_id', 'integer')]
  assert.deepEqual(rowsOfUser({ attributes: byId, type: 'table' }).set, { user_id: '$user.id' })
  assert.deepEqual(rowsOfUser({ attributes: [], type: 'table' }), { levels: ['read'] })
})
