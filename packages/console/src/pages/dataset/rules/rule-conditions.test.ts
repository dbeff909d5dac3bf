import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@graticule/client'
import type { ColumnType } from '../attribute.ts'
import { type CallerSource, callerSourceNames, callerSources, readCallerValue, variableOf } from './caller-value.ts'
import { type RuleCondition, readConditions, writeConditions } from './rule-conditions.ts'
import { ruleOperators, ruleOperatorsOf } from './rule-operators.ts'

const types = new Map<string, ColumnType>([
  ['owner', 'string'],
  ['user_id', 'integer'],
  ['founded', 'date'],
  ['active', 'boolean'],
  ['teams', 'array'],
  ['note', 'json'],
  ['geom', 'geometry'],
])

const roundTrip = (where: JsonObject): JsonObject | undefined => {
  const read = readConditions(where, types)
  return read && writeConditions(read)
}

test('every value of a caller comes back from its variable as it was', () => {
  for (const source of callerSourceNames) {
    const value = { source, path: callerSources[source].hasMembers ? 'a.b' : '' }
    assert.deepEqual(readCallerValue(variableOf(value)), value)
  }
  for (const text of ['$user.metadata.', '$user', '$user.name', 'x', '$$user.id', 7, null])
    assert.equal(readCallerValue(text), undefined)
})

test('every operator of a rule comes back from its JSON as it was, with a fixed value and with one of the caller', () => {
  const samples = { none: [], one: ['1'], two: ['1', '2'], list: ['1', '2', '3'], caller: [] }
  const caller = { source: 'metadata' as CallerSource, path: 'team' }
  for (const [attribute, type] of types) {
    for (const operator of ruleOperatorsOf(type)) {
      const { takes, takesCaller } = ruleOperators[operator]
      const values: RuleCondition['values'][] = [
        ...(takes === 'caller' ? [] : [samples[takes]]),
        ...(takesCaller ? [caller] : []),
      ]
      for (const value of values) {
        const conditions = [{ attribute, operator, values: value }]
        const where = writeConditions({ join: 'all', conditions })
        assert.deepEqual(readConditions(where, types), { join: 'all', conditions }, `${attribute} ${operator}`)
      }
    }
  }
})

test('conditions are written as people write them, and collisions go to $and', () => {
  const cases: JsonObject[] = [
    { owner: '$user.email' },
    { owner: 'emmy', user_id: { $gte: 3, $lt: 9 } },
    {
      owner: { $in: '$user.roles' },
      geom: { $within: '$user.metadata.district' },
      teams: { $overlap: '$claims.groups' },
    },
    { $or: [{ owner: '$user.email' }, { active: true }] },
    { owner: '$user.email', $and: [{ owner: { $ne: 'x' } }] },
  ]
  for (const where of cases) assert.deepEqual(roundTrip(where), where)
  assert.equal(writeConditions({ join: 'all', conditions: [] }), undefined)
})

test('a text that begins with a dollar is one, and no value of the caller', () => {
  assert.deepEqual(readConditions({ owner: '$$user.id' }, types)?.conditions, [
    { attribute: 'owner', operator: 'is', values: ['$user.id'] },
  ])
  assert.deepEqual(roundTrip({ owner: '$$user.id' }), { owner: '$$user.id' })
  assert.deepEqual(roundTrip({ owner: { $in: ['$$a', 'b'] } }), { owner: { $in: ['$$a', 'b'] } })
})

test('what a list of conditions cannot say is not read, so that it stays as it is written', () => {
  const cases: JsonObject[] = [
    { $not: { owner: '$user.email' } },
    { $or: [{ owner: 'a', active: true }, { user_id: 1 }] },
    { $or: [{ owner: 'a' }, { $and: [{ owner: 'b' }, { active: true }] }] },
    { owner: { $in: ['$user.email', 'all'] } },
    { gone: '$user.email' },
    { owner: { $eq: '$user.metadata.team' } },
    { owner: '$user.nothing' },
    { geom: { $dwithin: { point: [7, 46], distance: 10 } } },
    { geom: { $intersects: [1, 2, 3, 4] } },
    { owner: {} },
    { $and: ['x'] },
  ]
  for (const where of cases) assert.equal(readConditions(where, types), undefined, JSON.stringify(where))
})

test('the mail and the id of a user mean the same with and without an operator', () => {
  assert.deepEqual(roundTrip({ owner: { $eq: '$user.email' } }), { owner: '$user.email' })
})
