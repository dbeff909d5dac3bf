import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../kernel/errors.ts'
import type { Attribute, Attributes } from '../values/attribute.ts'
import { parseFilter } from './filter.ts'

const attributes: Attributes = new Map(
  (['string', 'integer', 'json'] as const).map((type): [string, Attribute] => [type, { name: type, type }]),
)

const accepted = (input: unknown) => assert.doesNotThrow(() => parseFilter(input, attributes))

function refused(input: unknown, code: string): void {
  assert.throws(
    () => parseFilter(input, attributes),
    (error) => error instanceof ApiError && error.status === 400 && error.faults[0]?.code === code,
  )
}

const nested = (levels: number): unknown => (levels === 1 ? { integer: 1 } : { $and: [nested(levels - 1)] })

test('a filter nests ten objects deep', () => {
  accepted(nested(10))
  refused(nested(11), 'too_deep')
  const conditions = (levels: number): unknown => (levels === 0 ? 1 : { $not: conditions(levels - 1) })
  accepted({ integer: conditions(9) })
  refused({ integer: conditions(10) }, 'too_deep')
})

test('input of any depth is refused, not a stack overflow', () => {
  const deep = (open: string, close: string) => `${open.repeat(200_000)}1${close.repeat(200_000)}`
  for (const text of [
    deep('{"$not":', '}'),
    deep('{"$and":[', ']}'),
    deep('{"integer":', '}'),
    `{"$or":${deep('[', ']')}}`,
  ]) {
    assert.throws(() => parseFilter(text, attributes), ApiError)
  }
  refused(`{"json":{"$contains":${deep('[', ']')}}}`, 'too_deep')
  refused({ json: { $contains: JSON.parse(deep('{"a":', '}')) } }, 'too_deep')
})

test('a filter has 200 nodes: conditions and operators', () => {
  const many = (count: number) => ({ $or: Array.from({ length: count }, (_, integer) => ({ integer })) })
  accepted(many(199))
  refused(many(200), 'too_many_nodes')
  refused({ $or: Array.from({ length: 300 }, () => ({})) }, 'too_many_nodes')
  refused({ integer: { $or: Array.from({ length: 200 }, () => 1) } }, 'too_many_nodes')
  assert.throws(
    () => parseFilter({ $or: Array.from({ length: 900 }, () => ({ integer: 1 })) }, attributes),
    (error) => error instanceof ApiError && error.faults.length === 1,
    'one fault, not one for each node beyond',
  )
})

test('a list has 1000 values, of which each may be as long as any', () => {
  const values = Array.from({ length: 1000 }, (_, index) => index)
  const list = values.join(',')
  accepted({ integer: { $in: values } })
  accepted({ integer: { $in: list } })
  accepted({ string: { $in: values.map((value) => `${value}`.padEnd(100)).join(',') } })
  accepted({ integer: { ...values } })
  refused({ integer: { $in: [...values, 1] } }, 'too_many_values')
  refused({ integer: { $in: `${list},1` } }, 'too_many_values')
  refused({ integer: { ...values, 1000: 1 } }, 'too_many_values')
})

test('text, patterns and JSON have a length', () => {
  accepted({ string: 'x'.repeat(10_000) })
  refused({ string: 'x'.repeat(10_001) }, 'too_long')
  refused({ integer: '1'.repeat(10_001) }, 'too_long')
  accepted({ string: { $like: '%'.repeat(256) } })
  for (const operator of ['$like', '$notLike', '$iLike', '$notILike', '$startsWith', '$endsWith', '$substring']) {
    refused({ string: { [operator]: '%'.repeat(257) } }, 'too_long')
  }
  accepted({ json: { $eq: ['x'.repeat(9996)] } })
  refused({ json: { $eq: ['x'.repeat(9997)] } }, 'too_long')
})

test('NUL and lone surrogates are refused wherever text goes', () => {
  for (const text of ['a\0', '\ud800', 'a\udc00b']) {
    refused({ string: text }, 'invalid_value')
    refused({ string: { $in: [text] } }, 'invalid_value')
    refused({ string: { $like: text } }, 'invalid_value')
    refused({ json: { $eq: [{ a: text }] } }, 'invalid_value')
    refused({ json: { $eq: { [text]: 1 } } }, 'invalid_value')
  }
  accepted({ string: '😀' })
})

test('a message shows a long value and a long name cut', () => {
  assert.throws(
    () => parseFilter({ integer: 'x'.repeat(9000) }, attributes),
    (error) => error instanceof ApiError && error.message.length < 120,
  )
  assert.throws(
    () => parseFilter({ ['x'.repeat(9000)]: 1 }, attributes),
    (error) => error instanceof ApiError && error.message.length < 220,
  )
})
