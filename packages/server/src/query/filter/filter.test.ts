import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '../../kernel/errors.ts'
import type { Attribute, Attributes, AttributeType } from '../values/attribute.ts'
import { parseFilter } from './filter.ts'

const types: readonly AttributeType[] = [
  'string',
  'integer',
  'number',
  'boolean',
  'date',
  'datetime',
  'time',
  'uuid',
  'json',
  'binary',
  'geometry',
]
const lists: readonly Attribute[] = [
  { name: 'strings', type: 'array' },
  { name: 'integers', type: 'array', itemType: 'integer' },
  { name: 'documents', type: 'array', itemType: 'json' },
]

/** One attribute of each type, called like it, and three lists. */
const attributes: Attributes = new Map(
  [...types.map((type): Attribute => ({ name: type, type })), ...lists].map((attribute) => [attribute.name, attribute]),
)

const parse = (input: unknown) => parseFilter(input, attributes)
const same = (input: unknown, other: unknown) => assert.deepEqual(parse(input), parse(other))
const attribute = (name: string) => attributes.get(name)
const compare = (name: string, comparison: string, value: string) => ({
  kind: 'compare',
  attribute: attribute(name),
  comparison,
  value,
})
const like = (pattern: string, ignoreCase = false) => ({
  kind: 'like',
  attribute: attribute('string'),
  pattern,
  ignoreCase,
})
const isNull = (name: string) => ({ kind: 'is', attribute: attribute(name), value: null })
const not = (filter: unknown) => ({ kind: 'not', filter })

function refused(input: unknown, path: string, message?: string | RegExp, code?: string): void {
  assert.throws(
    () => parse(input),
    (error) => {
      assert.ok(error instanceof ApiError)
      const [fault] = error.faults
      assert.equal(error.code, 'invalid_filter')
      assert.equal(error.status, 400)
      assert.equal(fault?.path, path)
      assert.equal(error.message, `${path}: ${fault?.message}`)
      if (typeof message === 'string') assert.equal(fault?.message, message)
      else if (message) assert.match(fault?.message ?? '', message)
      if (code) assert.equal(fault?.code, code)
      return true
    },
  )
}

describe('a filter', () => {
  test('that is empty matches every row', () => {
    for (const input of [undefined, null, '', {}, '{}', 'null'])
      assert.deepEqual(parse(input), { kind: 'and', filters: [] })
  })

  test('reads a value as equality, a list as membership, null as absence, and several keys as all of them', () => {
    assert.deepEqual(parse({ integer: 1 }), compare('integer', 'eq', '1'))
    assert.deepEqual(parse({ integer: [1, '2'] }), { kind: 'in', attribute: attribute('integer'), values: ['1', '2'] })
    assert.deepEqual(parse({ integer: null }), isNull('integer'))
    const both = [compare('integer', 'eq', '1'), compare('string', 'eq', 'x')]
    assert.deepEqual(parse({ integer: 1, string: 'x' }), { kind: 'and', filters: both })
    assert.deepEqual(parse({ integer: { $gt: 1, $lt: 9 } }), {
      kind: 'and',
      filters: [compare('integer', 'gt', '1'), compare('integer', 'lt', '9')],
    })
  })

  test('$and and $or take lists, indexed objects and objects; $not negates a group', () => {
    const one = compare('integer', 'eq', '1')
    const two = compare('string', 'eq', 'x')
    for (const operator of ['and', 'or']) {
      const expected = { kind: operator, filters: [one, two] }
      assert.deepEqual(parse({ [`$${operator}`]: [{ integer: 1 }, { string: 'x' }] }), expected)
      assert.deepEqual(parse({ [`$${operator}`]: { 0: { integer: '1' }, 1: { string: 'x' } } }), expected)
      assert.deepEqual(parse({ [`$${operator}`]: { integer: '1', string: 'x' } }), expected)
      assert.deepEqual(parse({ [`$${operator}`]: [] }), { kind: operator, filters: [] })
    }
    assert.deepEqual(parse({ $not: { integer: 1 } }), not(one))
  })

  test('$and, $or and $not combine conditions on one attribute', () => {
    const filters = [compare('integer', 'lt', '1'), compare('integer', 'gt', '9'), isNull('integer')]
    assert.deepEqual(parse({ integer: { $or: [{ $lt: 1 }, { $gt: 9 }, null] } }), { kind: 'or', filters })
    assert.deepEqual(parse({ integer: { $or: { $lt: 1, $gt: 9, $eq: null } } }), { kind: 'or', filters })
    assert.deepEqual(parse({ integer: { $and: [{ $lt: 1 }, { $gt: 9 }, null] } }), { kind: 'and', filters })
    assert.deepEqual(parse({ integer: { $not: { $gt: 9 } } }), not(compare('integer', 'gt', '9')))
    assert.deepEqual(parse({ integer: { $not: 9 } }), not(compare('integer', 'eq', '9')))
    same({ integer: { $not: [1, 2] } }, { integer: { $notIn: [1, 2] } })
  })

  test('means the same as deep-object query string and as JSON text', () => {
    same({ integer: { $gte: '10' } }, { integer: { $gte: 10 } })
    same({ integer: { $in: '1,2' } }, { integer: { $in: [1, 2] } })
    same({ integer: { $in: { 0: '1', 1: '2' } } }, { integer: { $in: [1, 2] } })
    same({ integer: { 0: '1', 1: '2' } }, { integer: [1, 2] })
    same({ integer: { $between: '1,9' } }, { integer: { $between: [1, 9] } })
    same({ strings: { $contains: 'a,b' } }, { strings: { $contains: ['a', 'b'] } })
    same({ integer: { $in: '' } }, { integer: { $in: [] } })
    same({ integer: { $in: 1 } }, { integer: { $in: [1] } })
    same('{"integer":{"$gt":1}}', { integer: { $gt: 1 } })
    const bare = Object.assign(Object.create(null), { integer: Object.assign(Object.create(null), { $gt: '1' }) })
    same(bare, { integer: { $gt: 1 } })
    assert.deepEqual(parse({ string: 'a,b' }), compare('string', 'eq', 'a,b'))
    assert.deepEqual(parse({ string: ['a,b'] }), { kind: 'in', attribute: attribute('string'), values: ['a,b'] })
  })
})

describe('the operators of a filter', () => {
  test('compare by =, <, > and their like', () => {
    assert.deepEqual(parse({ integer: { $eq: 1 } }), compare('integer', 'eq', '1'))
    assert.deepEqual(parse({ integer: { $ne: 1 } }), not(compare('integer', 'eq', '1')))
    for (const comparison of ['gt', 'gte', 'lt', 'lte']) {
      assert.deepEqual(parse({ integer: { [`$${comparison}`]: 1 } }), compare('integer', comparison, '1'))
    }
    const range = { kind: 'and', filters: [compare('integer', 'gte', '1'), compare('integer', 'lte', '9')] }
    assert.deepEqual(parse({ integer: { $between: [1, 9] } }), range)
    assert.deepEqual(parse({ integer: { $notBetween: [1, 9] } }), not(range))
  })

  test('test membership in a list, also in an empty one', () => {
    const list = (values: string[]) => ({ kind: 'in', attribute: attribute('integer'), values })
    assert.deepEqual(parse({ integer: { $in: [1, 2] } }), list(['1', '2']))
    assert.deepEqual(parse({ integer: { $notIn: [1, 2] } }), not(list(['1', '2'])))
    assert.deepEqual(parse({ integer: { $in: [] } }), list([]))
    assert.deepEqual(parse({ integer: { $notIn: [] } }), not(list([])))
  })

  test('match patterns; the text operators escape what is special in a pattern', () => {
    assert.deepEqual(parse({ string: { $like: 'a%' } }), like('a%'))
    assert.deepEqual(parse({ string: { $notLike: 'a%' } }), not(like('a%')))
    assert.deepEqual(parse({ string: { $iLike: 'a%' } }), like('a%', true))
    assert.deepEqual(parse({ string: { $notILike: 'a%' } }), not(like('a%', true)))
    assert.deepEqual(parse({ string: { $startsWith: '5%_\\' } }), like('5\\%\\_\\\\%'))
    assert.deepEqual(parse({ string: { $endsWith: '5%' } }), like('%5\\%'))
    assert.deepEqual(parse({ string: { $substring: '' } }), like('%%'))
  })

  test('test any type for null', () => {
    for (const name of [...types, 'strings', 'documents']) {
      for (const input of [null, { $eq: null }, { $is: null }, { $is: 'null' }]) {
        assert.deepEqual(parse({ [name]: input }), isNull(name))
      }
      for (const input of [{ $ne: null }, { $not: null }, { $not: 'null' }]) {
        assert.deepEqual(parse({ [name]: input }), not(isNull(name)))
      }
    }
  })

  test('the text null is a text where the attribute is a string, and null elsewhere', () => {
    assert.deepEqual(parse({ string: 'null' }), compare('string', 'eq', 'null'))
    assert.deepEqual(parse({ string: { $ne: 'null' } }), not(compare('string', 'eq', 'null')))
    assert.deepEqual(parse({ integer: 'null' }), isNull('integer'))
    assert.deepEqual(parse({ integer: { $ne: 'null' } }), not(isNull('integer')))
  })

  test('$is tells true from false and unknown', () => {
    for (const value of [true, false]) {
      const expected = { kind: 'is', attribute: attribute('boolean'), value }
      assert.deepEqual(parse({ boolean: { $is: value } }), expected)
      assert.deepEqual(parse({ boolean: { $is: String(value) } }), expected)
    }
    refused({ boolean: { $is: 'yes' } }, 'query/filter/boolean/$is', 'must be null, true or false, not "yes"')
    refused(
      { integer: { $is: true } },
      'query/filter/integer/$is',
      'must be null: $is takes no other value for type integer',
    )
  })

  test('lists contain, overlap and equal; JSON contains and equals', () => {
    const items = (relation: string) => ({
      kind: 'items',
      attribute: attribute('integers'),
      itemType: 'integer',
      relation,
      values: ['1', '2'],
    })
    assert.deepEqual(parse({ integers: { $contains: [1, 2] } }), items('contains'))
    assert.deepEqual(parse({ integers: { $overlap: '1,2' } }), items('overlap'))
    assert.deepEqual(parse({ integers: { $eq: [1, 2] } }), items('eq'))
    assert.deepEqual(parse({ integers: { $ne: [1, 2] } }), not(items('eq')))
    const json = (relation: string, value: string) => ({ kind: 'json', attribute: attribute('json'), relation, value })
    assert.deepEqual(parse({ json: { $contains: { a: 1 } } }), json('contains', '{"a":1}'))
    assert.deepEqual(parse({ json: { $contains: '{"a":1}' } }), json('contains', '{"a":1}'))
    assert.deepEqual(parse({ json: { $eq: [1] } }), json('eq', '[1]'))
    assert.deepEqual(parse({ json: 'plain' }), json('eq', '"plain"'))
  })
})

describe('the faults of a filter', () => {
  test('name an unknown attribute, also one called like a property of Object', () => {
    for (const name of ['secret', 'toString', '__proto__', 'constructor', 'hasOwnProperty', '', '0']) {
      const input = JSON.parse(`{"${name}":{"$eq":1}}`)
      refused(input, `query/filter/${name}`, / is not an attribute\. .*Allowed: string, /, 'unknown_attribute')
      refused(
        { $or: [input] },
        `query/filter/$or/0/${name}`,
        / is not an attribute\. .*Allowed: string, /,
        'unknown_attribute',
      )
    }
  })

  test('name an unknown operator, also one called like a property of Object', () => {
    for (const operator of ['$regexp', '$GT', 'gt', '__proto__', 'toString', '$where']) {
      refused(
        { integer: JSON.parse(`{"${operator}":1}`) },
        `query/filter/integer/${operator}`,
        / is not an operator for type integer/,
      )
    }
    refused(
      { $gt: 1 },
      'query/filter/$gt',
      '$gt must stand below an attribute: {"attribute": {"$gt": …}}',
      'unknown_operator',
    )
    refused({ integer: {} }, 'query/filter/integer', 'must hold an operator such as $eq')
  })

  test('name a value that is not a filter', () => {
    refused('{', 'query/filter', /must be JSON/, 'invalid_json')
    refused('5', 'query/filter', 'must be an object, not 5')
    refused([{ integer: 1 }], 'query/filter', 'must be an object, not a list')
    refused({ $or: 1 }, 'query/filter/$or', 'must be an object, not 1')
    refused({ $and: [1] }, 'query/filter/$and/0', 'must be an object, not 1')
    refused({ $not: [{ integer: 1 }] }, 'query/filter/$not', 'must be an object, not a list')
    refused({ integer: undefined }, 'query/filter/integer', 'must have a value')
    refused({ json: { $eq: undefined } }, 'query/filter/json/$eq', 'must have a value')
    assert.throws(() => parseFilter({ x: 1 }, attributes, 'body/where'), /^ApiError: body\/where\/x: "x" is not/)
  })

  test('suggest the nearest name for a misspelt one, and list all faults together', () => {
    refused({ Strings: 'x' }, 'query/filter/Strings', /Did you mean "strings"\?/)
    refused({ integer: { gte: 1 } }, 'query/filter/integer/gte', /Did you mean "\$gte"\?/)
    refused({ string: { $ilike: 'a' } }, 'query/filter/string/$ilike', /Did you mean "\$iLike"\?/)
    refused({ $ro: [] }, 'query/filter/$ro', /Did you mean "\$or"\?/)
    const input = { nmuber: 1, integer: { $gt: 'x', $lt: 'y' }, $or: [{ boolean: true }, { uuid: 7 }] }
    assert.throws(
      () => parse(input),
      (error) => {
        assert.ok(error instanceof ApiError)
        const paths = ['nmuber', 'integer/$gt', 'integer/$lt', '$or/1/uuid'].map((path) => `query/filter/${path}`)
        assert.deepEqual(
          error.faults.map(({ path }) => path),
          paths,
        )
        assert.match(error.message, /The request has 4 faults/)
        return true
      },
    )
  })

  test('name an operator that does not apply to the type of its attribute', () => {
    const inapplicable: Record<string, AttributeType[]> = {
      $eq: ['binary', 'geometry'],
      $gt: ['boolean', 'json', 'binary', 'geometry'],
      $in: ['json', 'binary', 'geometry'],
      $between: ['boolean', 'json'],
      $like: ['integer', 'uuid', 'json', 'date'],
      $startsWith: ['integer', 'uuid'],
      $contains: ['string', 'integer', 'geometry'],
      $overlap: ['json', 'string'],
      $bbox: ['json', 'string'],
      $dwithin: ['number'],
    }
    for (const [operator, names] of Object.entries(inapplicable)) {
      for (const name of names) {
        const message = new RegExp(`^\\${operator} does not apply to type ${name}\\. Allowed: `)
        refused(
          { [name]: { [operator]: '1,2' } },
          `query/filter/${name}/${operator}`,
          message,
          'operator_not_applicable',
        )
      }
    }
    refused({ strings: { $in: ['a'] } }, 'query/filter/strings/$in', /^\$in does not apply to type array\./)
    refused({ strings: { $not: ['a'] } }, 'query/filter/strings/$not', /^\$notIn does not apply to type array\./)
    refused({ documents: { $contains: [{}] } }, 'query/filter/documents/$contains', /only be compared with null/)
  })

  test('name the path of a value of the wrong type', () => {
    refused({ integer: { $gte: 'abc' } }, 'query/filter/integer/$gte', 'must be an integer, not "abc"', 'invalid_value')
    refused({ integer: { $in: '1,x' } }, 'query/filter/integer/$in', 'must be an integer, not "x"')
    refused({ integer: { $in: [1, 'x'] } }, 'query/filter/integer/$in/1', 'must be an integer, not "x"')
    refused({ integer: { $gt: { $gt: 1 } } }, 'query/filter/integer/$gt', 'must be an integer, not an object')
    refused({ integer: { $gt: [1] } }, 'query/filter/integer/$gt', 'must be an integer, not a list')
    refused({ string: { $eq: { a: 1 } } }, 'query/filter/string/$eq', 'must be a string, not an object')
    refused({ string: true }, 'query/filter/string', 'must be a string, not true')
    refused({ string: { $like: 5 } }, 'query/filter/string/$like', 'must be a string, not 5')
    refused({ integer: { $gt: null } }, 'query/filter/integer/$gt', /^must not be null/)
    refused({ integer: { $in: [1, null] } }, 'query/filter/integer/$in/1', /^must not be null/)
    refused({ integer: { $between: [1] } }, 'query/filter/integer/$between', /must be two values/)
    refused({ integer: { $between: '1,2,3' } }, 'query/filter/integer/$between', /must be two values/)
    refused({ string: { $like: 'a\\' } }, 'query/filter/string/$like', 'must not end with a single backslash')
    assert.deepEqual(parse({ string: { $like: 'a\\\\' } }), like('a\\\\'))
  })
})
