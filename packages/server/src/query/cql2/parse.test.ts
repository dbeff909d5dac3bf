import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../errors.ts'
import type { Attribute, Attributes } from '../attribute.ts'
import { parseFilter } from '../filter.ts'
import { parseCql2Json, parseCql2Text } from './parse.ts'

const declared: readonly Attribute[] = [
  { name: 'name', type: 'string' },
  { name: 'pop', type: 'integer' },
  { name: 'area', type: 'number' },
  { name: 'isOpen', type: 'boolean' },
  { name: 'date', type: 'date' },
  { name: 'at', type: 'datetime' },
  { name: 'code', type: 'uuid' },
  { name: 'tags', type: 'array', itemType: 'string' },
  { name: 'doc', type: 'json' },
  { name: 'geom', type: 'geometry' },
  { name: 'odd "name"', type: 'string' },
]
const attributes: Attributes = new Map(declared.map((attribute) => [attribute.name, attribute]))
const path = 'query/filter'
const text = (filter: string) => parseCql2Text(filter, attributes, { path })
const json = (filter: unknown) => parseCql2Json(filter, attributes, { path })
const ours = (filter: unknown) => parseFilter(filter, attributes)
const property = (name: string) => ({ property: name })

function refused(parse: () => unknown, message: RegExp, code?: string, at = path): void {
  assert.throws(parse, (error) => {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 'invalid_filter')
    assert.equal(error.faults[0]?.path, at)
    assert.match(error.message, message)
    if (code) assert.equal(error.faults[0]?.code, code)
    return true
  })
}

test('text, JSON and our own grammar give the same tree for an attribute and a value', () => {
  const same: [string, unknown, unknown][] = [
    ["name = 'Oslo'", { op: '=', args: [property('name'), 'Oslo'] }, { name: 'Oslo' }],
    ["'Oslo' = name", { op: '=', args: ['Oslo', property('name')] }, { name: 'Oslo' }],
    ['pop >= 5', { op: '>=', args: [property('pop'), 5] }, { pop: { $gte: 5 } }],
    ['5 <= pop', { op: '<=', args: [5, property('pop')] }, { pop: { $gte: 5 } }],
    ['pop <> 2+3', { op: '<>', args: [property('pop'), { op: '+', args: [2, 3] }] }, { pop: { $ne: 5 } }],
    ['pop between 1 and 2', { op: 'between', args: [property('pop'), 1, 2] }, { pop: { $between: [1, 2] } }],
    ['pop in (1, 2)', { op: 'in', args: [property('pop'), [1, 2]] }, { pop: { $in: [1, 2] } }],
    ["name like 'O_l%'", { op: 'like', args: [property('name'), 'O_l%'] }, { name: { $like: 'O_l%' } }],
    ['name is not null', { op: 'not', args: [{ op: 'isNull', args: [property('name')] }] }, { name: { $not: null } }],
    ['isOpen = TRUE', { op: '=', args: [property('isOpen'), true] }, { isOpen: true }],
    [
      "at >= TIMESTAMP('2024-01-31T12:00:00Z')",
      { op: '>=', args: [property('at'), { timestamp: '2024-01-31T12:00:00Z' }] },
      { at: { $gte: '2024-01-31T12:00:00Z' } },
    ],
    [
      'S_INTERSECTS(geom, BBOX(1,2,3,4))',
      { op: 's_intersects', args: [property('geom'), { bbox: [1, 2, 3, 4] }] },
      { geom: { $bbox: [1, 2, 3, 4] } },
    ],
    [
      'S_CONTAINS(POLYGON((0 0,1 0,1 1,0 0)), geom)',
      {
        op: 's_contains',
        args: [
          {
            type: 'Polygon',
            coordinates: [
              [
                [0, 0],
                [1, 0],
                [1, 1],
                [0, 0],
              ],
            ],
          },
          property('geom'),
        ],
      },
      {
        geom: {
          $within: {
            type: 'Polygon',
            coordinates: [
              [
                [0, 0],
                [1, 0],
                [1, 1],
                [0, 0],
              ],
            ],
          },
        },
      },
    ],
    [
      "A_CONTAINS(tags, ('a','b'))",
      { op: 'a_contains', args: [property('tags'), ['a', 'b']] },
      { tags: { $contains: ['a', 'b'] } },
    ],
    [
      "NOT (pop < 1 OR name = 'x') AND area > .5",
      {
        op: 'and',
        args: [
          {
            op: 'not',
            args: [
              {
                op: 'or',
                args: [
                  { op: '<', args: [property('pop'), 1] },
                  { op: '=', args: [property('name'), 'x'] },
                ],
              },
            ],
          },
          { op: '>', args: [property('area'), 0.5] },
        ],
      },
      { $and: [{ $not: { $or: [{ pop: { $lt: 1 } }, { name: 'x' }] } }, { area: { $gt: '.5' } }] },
    ],
  ]
  for (const [inText, inJson, inOurs] of same) {
    // A number's text is kept, and ".5" is 0.5.
    const read = JSON.parse(JSON.stringify(text(inText)).replaceAll('".5"', '"0.5"'))
    assert.deepEqual(read, json(inJson), inText)
    assert.deepEqual(read, JSON.parse(JSON.stringify(ours(inOurs)).replaceAll('".5"', '"0.5"')), inText)
  }
})

test('an unknown property is refused with the nearest name', () => {
  refused(
    () => text("nmae = 'x'"),
    /character 1: "nmae" is not a property\. Did you mean "name"\?/,
    'unknown_attribute',
  )
  const place = `${path}/args/0/property`
  refused(() => json({ op: '=', args: [property('nmae'), 'x'] }), /Did you mean "name"/, 'unknown_attribute', place)
})
