import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { parseQueryString, readQuery } from '../../server/src/api/http/input/query-string.ts'
import { FaultCollector } from '../../server/src/kernel/errors.ts'
import { type ClientServer, clientServer } from '../testing/client-server.ts'
import { queryString } from './query-string.ts'

const types = { fields: 'array', filter: 'object', limit: 'integer', strict: 'boolean', name: 'string' }
const properties = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]))

/** What the server makes of it. */
function asRead(params: object): unknown {
  const text = queryString(params)
  const read = readQuery({ type: 'object', properties } as never, parseQueryString(text.slice(1)), new FaultCollector())
  return JSON.parse(JSON.stringify(read))
}

describe('the query string', () => {
  test('is readable where it can be', () => {
    assert.equal(
      queryString({ fields: ['id', 'name'], filter: { name: { $like: 'a%' }, size: { $gte: 3 } }, limit: 5 }),
      '?fields=id,name&filter[name][$like]=a%25&filter[size][$gte]=3&limit=5',
    )
    assert.equal(queryString({ filter: { at: { $lt: new Date(0) } } }), '?filter[at][$lt]=1970-01-01T00:00:00.000Z')
    assert.equal(queryString({ a: undefined, b: null, filter: {} }), '')
  })

  test('is read by the server as it was meant', () => {
    const cases: object[] = [
      { fields: ['a', 'b'], limit: 0, strict: false, name: 'ä & b = c + d?#[]' },
      { filter: { name: 'x' } },
      { filter: { name: { $like: '100%', $ne: 'ü&' } } },
      { filter: { $or: [{ a: 1 }, { b: { $in: ['x,y', 'z'] } }] } },
      { filter: { a: { $is: null } } },
      { filter: { a: { $in: [] } } },
      { filter: { a: { $contains: { deep: { n: 1, t: true } } } } },
      { filter: { 'odd[name]': 'x', '': 'y' } },
      { filter: { a: {} } },
      { filter: { geom: { $bbox: [-10, 35.5, 30, 60] } } },
    ]
    for (const params of cases) assert.deepEqual(asRead(params), params)
    // Brackets carry text, which the server reads as what the attribute is.
    assert.deepEqual(asRead({ filter: { n: { $gte: 3 }, t: true } }), { filter: { n: { $gte: '3' }, t: 'true' } })
  })
})

describe('filters', () => {
  let server: ClientServer
  before(async () => {
    server = await clientServer()
  })
  after(() => server.close())

  test('every form of a filter finds what it says', async () => {
    const { styles } = server.client()
    const style = { version: 8, sources: {}, layers: [] }
    for (const name of ['a,b', '100%', 'plain']) await styles.create({ name, style, metadata: { n: name.length } })
    const found = async (filter: object) =>
      (await styles.list({ filter: filter as Record<string, unknown>, fields: ['name'], sort: ['name'] })).map(
        ({ name }) => name,
      )
    assert.deepEqual(await found({ name: 'a,b' }), ['a,b'])
    assert.deepEqual(await found({ name: { $startsWith: '100%' } }), ['100%'])
    assert.deepEqual(await found({ name: { $in: ['a,b', 'plain'] } }), ['a,b', 'plain'])
    assert.deepEqual(await found({ $or: [{ name: 'plain' }, { name: { $like: '1%' } }] }), ['100%', 'plain'])
    assert.deepEqual(await found({ metadata: { $contains: { n: 3 } } }), ['a,b'])
    assert.equal((await found({ createdAt: { $lte: new Date() } })).length, 3)
    assert.equal((await found({ createdAt: { $between: [new Date(0), new Date()] } })).length, 3)
    assert.deepEqual(await found({ name: { $is: null } }), [])
  })
})
