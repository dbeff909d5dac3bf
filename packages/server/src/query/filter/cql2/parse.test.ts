import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../kernel/errors.ts'
import type { Attribute, Attributes } from '../../values/attribute.ts'
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

test('a fault in text names the character and what is expected there', () => {
  refused(() => text('name ='), /character 7: the text ends where a property, a value or "\(" is expected/)
  refused(() => text("name = 'x' name"), /character 12: "name" stands where AND, OR or the end/)
  refused(() => text("name = 'x"), /character 8: the string has no closing quote/)
  refused(() => text('"name = 1'), /character 1: the property name has no closing double quote/)
  refused(() => text('pop = 1 ; DROP'), /character 9: ";" cannot stand here/)
  refused(() => text('pop = NULL'), /character 7: NULL equals nothing; use IS NULL/)
  refused(() => text('pop NOT 5'), /character 9: "5" stands where LIKE, BETWEEN or IN is expected/)
  refused(() => text('pop BETWEEN 1 OR 2'), /character 15: "OR" stands where AND is expected/)
  refused(() => text('at > DATE(2024)'), /character 11: "2024" stands where a string as in "DATE\('2024-01-31'\)"/)
  refused(() => text('S_INTERSECTS(geom, POINT(1))'), /character 27: "\)" stands where a number is expected/)
  refused(() => text('S_INTERSECTS(geom, POINT(90 180))'), /character 20: must lie within/, 'invalid_geometry')
  refused(() => text('S_INTERSECTS(geom, POLYGON((0 0,1 1,2 0)))'), /character 20: must be a ring/, 'invalid_geometry')
  refused(() => text('S_INTERSECTS(geom, BBOX(1,2,3))'), /character 20: BBOX takes four or six numbers/)
  refused(() => text("name = 'a' = 'b'"), /character 12: "=" stands where/)
  refused(() => text(''), /character 1: the text ends/)
})

test('faults in JSON are reported together, each with its path', () => {
  const faulty = {
    op: 'and',
    args: [
      { op: '=', args: [{ property: 'a' }, 1] },
      { op: 'like', args: [property('pop'), 'x'] },
    ],
  }
  assert.throws(
    () => json(faulty),
    (error) =>
      error instanceof ApiError &&
      assert.deepEqual(
        error.faults.map(({ path: at, code }) => [at, code]),
        [
          ['query/filter/args/0/args/0/property', 'unknown_attribute'],
          ['query/filter/args/1/args/0/property', 'operator_not_applicable'],
        ],
      ) === undefined,
  )
  refused(() => json('{'), /must be JSON, not "\{"/, 'invalid_json')
  refused(() => json(null), /must be a CQL2 expression, not null/)
  refused(() => json({}), /must have one of the members op, property/)
  refused(() => json({ op: 5, args: [] }), /must be a string, not 5/, 'invalid_value', `${path}/op`)
  refused(() => json({ op: '=', args: {} }), /must be a list, not an object/, 'invalid_value', `${path}/args`)
  refused(() => json({ op: '=', args: [1] }), /= takes 2 arguments \(value, value\), not 1/)
  refused(() => json({ op: '==', args: [1, 1] }), /"==" is not an operator or function of CQL2 here\. Did you mean "="/)
  refused(() => json({ op: 'toString', args: [] }), /"tostring" is not an operator/, 'unknown_operator')
})

test('values that do not fit are refused, and those that clients write otherwise are read', () => {
  refused(() => text("pop = '5'"), /a value of type integer cannot be compared with string/)
  refused(() => text('name > 5'), /a value of type string cannot be compared with number/)
  refused(() => text('geom = 5'), /"geom" is of type geometry\. Use a spatial function/)
  refused(() => text('tags = 5'), /"tags" is of type array\. Use A_CONTAINS/)
  refused(() => text('name + 1 > 5'), /must be a number, not of type string/)
  refused(() => text('CASEI(pop) = 5'), /must be text, not of type integer/)
  refused(() => text('name LIKE name'), /must be a pattern in quotes/)
  refused(() => text("name LIKE 'a\\'"), /the string has no closing quote/)
  refused(() => text('name'), /"name" must be compared with something/)
  refused(() => text("at = TIMESTAMP('2024-01-31T12:00:00+01:00')"), /must be a time in UTC/)
  refused(() => text("date = DATE('2024-02-30')"), /must be a date such as 2024-01-31, not "2024-02-30"/)
  refused(() => text("T_DURING(at, INTERVAL('2024-01-01','..'))"), /t_during takes intervals/)
  refused(() => text("T_AFTER(at, INTERVAL('2024-01-02','2024-01-01'))"), /ends \("2024-01-01"\) before it starts/)
  refused(() => text('S_INTERSECTS(name, POINT(1 2))'), /"name" is of type string, not a geometry/)
  const same: [string, string][] = [
    ["at >= '2024-01-02T'", "at >= TIMESTAMP('2024-01-02T00:00:00Z')"],
    ["date = '2024-01-02'", "date = DATE('2024-01-02')"],
    ["at >= '2024-01-02T03:04:05Z'", "at >= TIMESTAMP('2024-01-02T03:04:05Z')"],
    ['isOpen = 1', 'isOpen = TRUE'],
    ['isOpen', 'isOpen = TRUE'],
    ['pop < 3.5', 'pop <= 3'],
    ['pop > 3.5', 'pop >= 4'],
    ['pop = 3.0', 'pop = 3'],
    ['pop < 1e30', 'pop <= 9223372036854775807'],
    ["at > DATE('2024-01-02')", "at > TIMESTAMP('2024-01-02T23:59:59.999999Z')"],
    ["date < TIMESTAMP('2024-01-02T10:00:00Z')", "date < DATE('2024-01-02')"],
    ["name = 'it''s'", "name = 'it\\'s'"],
    ['pop = 2 + 3 * 2 ^ 2 - 10 div 3 % 2', 'pop = 13'],
    ['Not pop iN (1)', 'NOT pop IN (1)'],
    [`"odd ""name""" = 'x'`, `"odd ""name""" = 'x'`],
  ]
  for (const [written, meant] of same) assert.deepEqual(text(written), text(meant), written)
})

test('deep, long and wide filters are refused at once', () => {
  refused(() => text(`${'('.repeat(100_000)}`), /must not nest deeper than 32 levels/, 'too_deep')
  refused(() => text(`${'NOT '.repeat(100_000)} isOpen`), /must not nest deeper than 32 levels/, 'too_deep')
  refused(() => text(`pop > ${'1+'.repeat(5_000)}1`), /must not nest deeper than 32 levels/, 'too_deep')
  refused(() => text(`pop > ${'-'.repeat(100_000)}1`), /"-" stands where/)
  refused(() => text(`${'pop=1 AND '.repeat(5_000)}pop=1`), /must not have more than 2000/, 'too_many_nodes')
  refused(() => text(`pop in (${'1,'.repeat(1_500)}1)`), /must not have more than 1000 values/, 'too_many_values')
  refused(() => text(`name = '${'x'.repeat(2_000_000)}'`), /must not be longer than 2000000 characters/, 'too_long')
  refused(() => text(`name = '${'x'.repeat(20_000)}'`), /character 8: must not be longer than 10000/, 'too_long')
  refused(() => text(`name LIKE '${'%x'.repeat(200)}'`), /must not be longer than 256 characters/, 'too_long')
  refused(() => text(`${"CASEI(name) = 'x' OR ".repeat(20)} CASEI(name) = 'x'`), /more than 20 properties/)
  let deep: unknown = property('isOpen')
  for (let level = 0; level < 5_000; level++) deep = { op: 'not', args: [deep] }
  refused(() => json(deep), /must not nest deeper than 32 levels/, 'too_deep', `${path}${'/args/0'.repeat(32)}`)
  const positions = Array.from({ length: 30_001 }, () => '8 50').join(',')
  refused(() => text(`S_INTERSECTS(geom, MULTIPOINT(${positions}))`), /more than 30000 positions/, 'too_many_values')
  assert.doesNotThrow(() => text(`S_INTERSECTS(geom, MULTIPOINT(${positions.slice(5)}))`))
  assert.doesNotThrow(() => text(`${'('.repeat(30)}isOpen${')'.repeat(30)}`))
})

test('geometries are in the system of filter-crs, in the axis order of its authority', () => {
  const inSystem = (filter: string, filterSrid: number, filterCrs = {}) =>
    parseCql2Text(filter, attributes, { path, filterSrid, filterCrs })
  assert.deepEqual(inSystem('S_INTERSECTS(geom, POINT(50 8))', 4326), text('S_INTERSECTS(geom, POINT(8 50))'))
  assert.deepEqual(
    inSystem('S_INTERSECTS(geom, BBOX(-9,170,9,-170))', 4326),
    text('S_INTERSECTS(geom, BBOX(170,-9,-170,9))'),
  )
  const [mercator] = [inSystem('S_INTERSECTS(geom, POINT(1113194.9079327357 0))', 3857)]
  assert.deepEqual(mercator, text('S_INTERSECTS(geom, POINT(10 0))'))
  const box = inSystem('S_INTERSECTS(geom, BBOX(0, 0, 1113194.9079327357, 1118889.9748579594))', 3857)
  assert.deepEqual(box, text('S_INTERSECTS(geom, BBOX(0, 0, 10, 10))'))
  const definitions = {
    31467: '+proj=tmerc +lat_0=0 +lon_0=9 +k=1 +x_0=3500000 +y_0=0 +ellps=bessel +units=m +no_defs',
  }
  const zone = inSystem('S_WITHIN(geom, POINT(5540000 3500000))', 31467, { definitions, isNorthingFirst: true })
  const [lon, lat] = (zone as unknown as { geometry: { coordinates: [number, number] } }).geometry.coordinates
  assert.ok(Math.abs(lon - 9) < 1e-6 && lat > 49.9 && lat < 50.1, `${lon} ${lat}`)
  refused(
    () => inSystem('S_INTERSECTS(geom, POINT(1 2))', 99_999),
    /99999 is not a reference system/,
    'unknown_crs',
    'query/filter-crs',
  )
})
