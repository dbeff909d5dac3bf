import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@graticule/client'
import type { ColumnType } from './attribute.ts'
import { describePart, type FilterCondition, fromWhere, type Part, toWhere } from './filter.ts'
import { operators, operatorsOf, parseValue } from './operators.ts'

const types = new Map<string, ColumnType>([
  ['name', 'string'],
  ['pop', 'integer'],
  ['price', 'number'],
  ['founded', 'date'],
  ['active', 'boolean'],
  ['geom', 'geometry'],
  ['tags', 'json'],
])
const one = (attribute: string, operator: FilterCondition['operator'], ...values: FilterCondition['values']): Part => ({
  any: [{ attribute, operator, values }],
})

test('every operator of every type comes back from its JSON as it was', () => {
  const samples = { none: [], one: ['1'], two: ['1', '2'], list: ['1', '2', '3'], box: [1, 2, 3, 4] }
  for (const [attribute, type] of types) {
    for (const operator of operatorsOf(type)) {
      const part = one(attribute, operator, ...samples[operators[operator].takes])
      assert.deepEqual(fromWhere(toWhere([part]), types), [part], `${attribute} ${operator}`)
    }
  }
})

test('conditions become one flat object, and only what collides goes to $and', () => {
  assert.deepEqual(toWhere([one('pop', 'atLeast', 10), one('pop', 'below', 20), one('name', 'contains', 'a')]), {
    pop: { $gte: 10, $lt: 20 },
    name: { $iLike: '%a%' },
  })
  assert.deepEqual(toWhere([one('name', 'contains', 'a'), one('name', 'contains', 'b')]), {
    name: { $iLike: '%a%' },
    $and: [{ name: { $iLike: '%b%' } }],
  })
  assert.equal(toWhere([]), undefined)
})

test('an or-group is one part, also beside another one', () => {
  const either: Part = {
    any: [
      { attribute: 'active', operator: 'is', values: [true] },
      { attribute: 'pop', operator: 'atLeast', values: [5] },
    ],
  }
  const where = toWhere([either, one('pop', 'below', 9), either])
  assert.deepEqual(where, {
    $or: [{ active: { $eq: true } }, { pop: { $gte: 5 } }],
    pop: { $lt: 9 },
    $and: [{ $or: [{ active: { $eq: true } }, { pop: { $gte: 5 } }] }],
  })
  assert.deepEqual(fromWhere(where, types), [either, one('pop', 'below', 9), either])
})

test('the short forms of the grammar are understood: a value, a list, null', () => {
  assert.deepEqual(fromWhere({ name: 'x', pop: [1, 2], founded: null, price: { $not: null } }, types), [
    one('name', 'is', 'x'),
    one('pop', 'oneOf', 1, 2),
    one('founded', 'isNull'),
    one('price', 'isNotNull'),
  ])
})

test('what the builder cannot show stays as it is, in one custom part beside the others', () => {
  const unknown: JsonObject[] = [
    { $not: { pop: 1 } },
    { tags: { $contains: { a: 1 } } },
    { geom: { $dwithin: { point: [1, 2], distance: 5 } } },
    { $or: [{ pop: 1, name: 'x' }, { active: true }] },
    { nowhere: 1 },
  ]
  for (const where of unknown) assert.deepEqual(fromWhere(where, types), [{ custom: where }])
  const [first, second] = unknown as [JsonObject, JsonObject]
  const parts = fromWhere({ ...first, pop: { $gte: 3 }, ...second }, types)
  assert.deepEqual(parts, [one('pop', 'atLeast', 3), { custom: { ...first, ...second } }])
  assert.deepEqual(toWhere(parts), { pop: { $gte: 3 }, ...first, ...second })
})

test('contains searches for signs of patterns as they are typed, and knows patterns of others apart', () => {
  const part = one('name', 'contains', '50%_\\')
  const where = toWhere([part])
  assert.deepEqual(where, { name: { $iLike: '%50\\%\\_\\\\%' } })
  assert.deepEqual(fromWhere(where, types), [part])
  assert.deepEqual(fromWhere({ name: { $iLike: '%a_b%' } }, types), [one('name', 'matches', '%a_b%')])
})

test('chips say conditions in words', () => {
  const say = (part: Part) => describePart(part, types).replaceAll(/[\s.,’]/g, ' ')
  assert.equal(say(one('pop', 'atLeast', 1_000_000)), 'pop ≥ 1 000 000')
  assert.equal(say(one('pop', 'is', '9007199254740993')), 'pop = 9 007 199 254 740 993')
  assert.equal(say(one('name', 'contains', 'a')), 'name contains “a”')
  assert.equal(say(one('founded', 'between', '1900-01-01', '1950-01-01')), 'founded between 1900-01-01 and 1950-01-01')
  assert.equal(say(one('name', 'oneOf', 'a', 'b', 'c', 'd', 'e')), 'name is one of “a”  “b”  “c” and 2 more')
  assert.equal(say({ custom: {} }), 'custom filter')
})

test('typed values are read by the attribute’s type, and what cannot be read is told', () => {
  const value = (type: ColumnType, text: string) => {
    const read = parseValue(type, text)
    return 'value' in read ? read.value : read.error
  }
  assert.equal(value('integer', '1 000 000'), 1_000_000)
  assert.equal(value('integer', '9007199254740993'), '9007199254740993')
  assert.equal(value('integer', '1.5'), 'Must be a whole number such as 1000.')
  assert.equal(value('number', '-.5e3'), -500)
  assert.equal(value('number', '0.1234567890123456789'), '0.1234567890123456789')
  assert.equal(value('number', '12,5'), 'Must be a number such as 12.5.')
  assert.equal(value('boolean', 'false'), false)
  assert.equal(value('date', '2026-1-3'), 'Must be a date such as 2026-01-31.')
  assert.equal(value('datetime', '2026-01-03T10:00'), '2026-01-03T10:00')
  assert.equal(value('string', ' x '), ' x ')
  assert.equal(value('string', ''), 'Type a value.')
})
