import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { sql } from '../../kernel/db/sql.ts'

let app: TestApp
let tenant: Tenant
let places: string
before(async () => {
  app = await testApp()
  tenant = await app.tenant('data')
  const schema = `app_${tenant.id.replaceAll('-', '')}`
  await app.db.script(`
    CREATE TABLE ${schema}.places (
      id int8 PRIMARY KEY, name text, pop int8, area numeric, open bool, at timestamptz, day date, tags text[],
      info jsonb, code uuid, bytes bytea, ratio float8, geom geometry(Point, 4326));
    INSERT INTO ${schema}.places VALUES
      (1, 'Aachen', 9007199254740993, 160.85, true, '2026-01-31 10:00:00.5+00', '2026-01-31', '{a,"b c"}',
       '{"x": [1, null]}', '00000000-0000-4000-8000-000000000001', '\\x00ff', 'NaN', ST_Point(6.08, 50.77, 4326)),
      (2, 'Berlin, "B"', 3700000, 12345678901234567890.12345, false, 'infinity', '2000-01-01', '{}', '{}', NULL, NULL, 0.1,
       ST_Point(13.4, 52.52, 4326)),
      (3, '=sum(A1)', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      (4, 'Suva', 93970, 2048, true, '2026-06-01T00:00:00Z', '2026-06-01', '{x}', '[]', NULL, NULL, 1e20,
       ST_Point(178.44, -18.14, 4326));
    CREATE VIEW ${schema}.towns AS SELECT id, name, geom FROM ${schema}.places;
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema};`)
  places = await create({ type: 'table', source: 'places' })
})
after(() => app.close())

const path = '/api/v1/datasets'
const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })
const create = async (body: object): Promise<string> => {
  const reply = await call('POST', path, { body: { name: 'a', ...body } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}
const query = async (id: string, text: string) => {
  const reply = await call('GET', `${path}/${id}/query?${text}`)
  assert.equal(reply.status, 200, reply.text)
  return reply
}
const ids = async (text: string, id = places) =>
  (await query(id, `attributes=id&sort=id&${text}`)).body.map((row: { id: number }) => row.id)
const ask = async (body: object, parameters = '', id = places) => {
  const reply = await call('POST', `${path}/${id}/query?${parameters}`, { body })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

test('a dataset of a type that only a later version knows is told so, and nothing fails for others', async () => {
  const id = await create({ type: 'table', source: 'places' })
  await app.db.query(sql`UPDATE svc.datasets SET type = 'cube' WHERE id = ${id}::uuid`)
  const { status, body } = await call('GET', `${path}/${id}/query`)
  assert.equal(status, 503)
  assert.equal(body.message, 'This server does not know datasets of type cube.')
  assert.equal((await call('GET', `${path}/${id}`)).body.type, 'cube')
  assert.equal((await call('GET', path)).status, 200)
  assert.equal((await call('DELETE', `${path}/${id}`)).status, 200)
  assert.equal((await call('POST', path, { body: { name: 'a', type: 'cube', source: 'places' } })).status, 400)
})

describe('what a dataset has is found out', () => {
  test('of a table: types, keys, geometry, size', async () => {
    const { body } = await call('GET', `${path}/${places}?join=database,application`)
    const byName = new Map(body.attributes.map((dto: { name: string }) => [dto.name, dto]))
    assert.deepEqual(byName.get('id'), {
      name: 'id',
      type: 'integer',
      dbType: 'bigint',
      nullable: false,
      primaryKey: true,
      description: '',
    })
    const { geometryType, srid, dimension } = byName.get('geom') as Record<string, unknown>
    assert.deepEqual([geometryType, srid, dimension], ['Point', 4326, 2])
    const types = body.attributes.map(({ type }: { type: string }) => type).join(' ')
    assert.equal(types, 'integer string integer number boolean datetime date array json uuid binary number geometry')
    assert.ok(body.bytes > 0)
    assert.equal(body.database.type, 'internal')
    assert.equal(body.database.password, undefined)
  })

  test('of a view and of a query, with geometry that only its values describe', async () => {
    const view = await create({ type: 'table', source: 'towns' })
    assert.deepEqual(await ids('', view), [1, 2, 3, 4])
    const id = await create({
      type: 'sql',
      source: 'SELECT id, ST_Buffer(geom, 1) AS area, name FROM places ORDER BY 1',
    })
    const { body } = await call('GET', `${path}/${id}`)
    assert.deepEqual(
      body.attributes.map(({ type }: { type: string }) => type),
      ['integer', 'geometry', 'string'],
    )
    assert.equal(body.attributes[1].srid, 4326)
    assert.equal(body.bytes, null)
  })

  test('a wrong source is refused with the fault', async () => {
    for (const [body, fault] of [
      [{ type: 'table', source: 'nothing' }, /no table/],
      [{ type: 'table', source: 'svc.apikeys' }, /no table/],
      [{ type: 'table', source: 'pg_catalog.pg_authid' }, /no table/],
      [{ type: 'sql', source: 'SELEC 1' }, /syntax error/],
      [{ type: 'sql', source: 'SELECT * FROM nothing' }, /nothing/],
      [{ type: 'sql', source: 'SELECT 1; SELECT 2' }, /one statement/],
      [{ type: 'sql', source: 'SELECT 1 AS a, 2 AS a' }, /two columns/],
      [{ type: 'sql', source: 'DELETE FROM places' }, /./],
    ] as const) {
      const reply = await call('POST', path, { body: { name: 'a', ...body } })
      assert.equal(reply.status, 400, body.source)
      assert.match(reply.body.detail, fault)
    }
  })
})

describe('formats', () => {
  test('keep every value exactly in json', async () => {
    const [aachen, berlin, nobody] = (await query(places, 'sort=id')).body
    assert.deepEqual(aachen, {
      id: 1,
      name: 'Aachen',
      pop: '9007199254740993',
      area: 160.85,
      open: true,
      at: '2026-01-31T10:00:00.5Z',
      day: '2026-01-31',
      tags: ['a', 'b c'],
      info: { x: [1, null] },
      code: '00000000-0000-4000-8000-000000000001',
      bytes: 'AP8=',
      ratio: 'NaN',
      geom: { type: 'Point', coordinates: [6.08, 50.77] },
    })
    assert.deepEqual(
      [berlin.area, berlin.at, berlin.pop, berlin.tags],
      ['12345678901234567890.12345', 'infinity', 3700000, []],
    )
    assert.ok(Object.entries(nobody).every(([name, value]) => value === null || name === 'id' || name === 'name'))
  })

  test('have ids, geometries and properties in geojson, and the same values in csv', async () => {
    const { body, headers } = await query(places, 'format=geojson&attributes=name&sort=id&limit=1')
    assert.match(String(headers['content-type']), /^application\/geo\+json/)
    assert.deepEqual(body, {
      type: 'FeatureCollection',
      features: [
        {
          type: 'Feature',
          id: 1,
          geometry: { type: 'Point', coordinates: [6.08, 50.77] },
          properties: { name: 'Aachen' },
        },
      ],
    })
    const csv = await query(places, 'format=csv&attributes=id,name,open,geom,at&sort=id&limit=3')
    assert.equal(
      csv.text,
      'id,name,open,geom,at\r\n1,Aachen,true,POINT(6.08 50.77),2026-01-31T10:00:00.5Z\r\n' +
        '2,"Berlin, ""B""",false,POINT(13.4 52.52),infinity\r\n3,=sum(A1),,,\r\n',
    )
  })

  test('a file name makes a download, in which text is no formula; Accept chooses where format does not', async () => {
    const named = async (name: string) =>
      String((await query(places, `format=csv&filename=${encodeURIComponent(name)}`)).headers['content-disposition'])
    for (const name of ['../../etc/x.csv', 'C:\\data\\x.csv', '/x.csv'])
      assert.equal(await named(name), await named('x.csv'))
    for (const name of ['', '/', 'a/', 'a\\', '..', 'a/..', ' ']) {
      const reply = await call('GET', `${path}/${places}/query?format=csv&filename=${encodeURIComponent(name)}`)
      assert.equal(reply.status, 400, name)
    }
    const { headers, text } = await query(places, 'format=csv&attributes=name&filter[id]=3&filename=Städte.csv')
    assert.match(String(headers['content-disposition']), /^attachment; filename=.*filename\*=UTF-8''St%C3%A4dte\.csv$/)
    assert.equal(text, "name\r\n'=sum(A1)\r\n")
    const accepted = await call('GET', `${path}/${places}/query?limit=1`, { headers: { accept: 'text/csv' } })
    assert.match(String(accepted.headers['content-type']), /^text\/csv/)
  })

  test('transform coordinates of json and csv to srid', async () => {
    const { body } = await query(places, 'attributes=geom&filter[id]=1&srid=3857')
    assert.ok(Math.abs(body[0].geom.coordinates[0] - 676822) < 1_000)
    assert.equal((await call('GET', `${path}/${places}/query?srid=3857&format=geojson`)).status, 400)
  })
})

describe('queries', () => {
  test('filter, sort and page', async () => {
    assert.deepEqual(await ids('filter[name][$like]=%25e%25'), [1, 2])
    assert.deepEqual(await ids('filter[pop]=9007199254740993'), [1])
    assert.deepEqual(await ids('filter[geom][$bbox]=170,-30,-170,0'), [4])
    assert.deepEqual(
      await ids(`filter=${encodeURIComponent('{"geom":{"$dwithin":{"point":[6,50.7],"distance":20000}}}')}`),
      [1],
    )
    assert.deepEqual(await ids('limit=2&offset=1'), [2, 3])
    assert.deepEqual(
      (await query(places, 'attributes=id&sort=-pop')).body.map(({ id }: { id: number }) => id),
      [1, 2, 4, 3],
    )
  })

  test('group, aggregates, distinct and samples', async () => {
    assert.deepEqual(
      await ask({ attributes: ['open', 'count(*)', 'max(name) as last'], group: ['open'], order: ['-count'] }),
      [
        { open: true, count: 2, last: 'Suva' },
        { open: false, count: 1, last: 'Berlin, "B"' },
        { open: null, count: 1, last: '=sum(A1)' },
      ],
    )
    assert.deepEqual(
      await ask({ attributes: ['count(distinct open)', 'avg(ratio)', 'extent(geom)'], where: { id: { $ne: 1 } } }),
      [{ count_open: 2, avg_ratio: 5e19, extent_geom: [13.4, -18.14, 178.44, 52.52] }],
    )
    assert.deepEqual(await ask({ attributes: ['id'], distinct: ['open'], order: ['-id'] }), [
      { id: 2 },
      { id: 4 },
      { id: 3 },
    ])
    assert.equal((await ask({ sample: { percentage: 100, method: 'BERNOULLI', seed: 1 } })).length, 4)
    const sampled = { sample: { percentage: 50, method: 'bernoulli', seed: 7 }, attributes: ['id'], order: ['id'] }
    assert.deepEqual(await ask(sampled), await ask(sampled))
  })

  test('that are not understood are 400', async () => {
    for (const body of [
      { attributes: ['nothing'] },
      { attributes: ['sum(name)'] },
      { attributes: ['pg_sleep(1)'] },
      { attributes: ['name'], group: ['open'] },
      { order: ['id; DROP TABLE x'] },
      { sample: { percentage: 5, method: 'SYSTEM; --' } },
      { sample: { percentage: 500 } },
      { where: { name: { $regex: 'a' } } },
      { limit: -1 },
      { nonsense: 1 },
    ]) {
      assert.equal((await call('POST', `${path}/${places}/query`, { body })).status, 400, JSON.stringify(body))
    }
    assert.equal((await call('GET', `${path}/${places}/query?timeout=0`)).status, 400)
    assert.equal((await call('GET', `${path}/${places}/query?format=xml`)).status, 400)
  })

  test('with an unknown parameter are 400 and name it', async () => {
    for (const text of ['fliter[id]=1', 'where[id]=1', 'filter%5C[id%5C]=1', 'limit=1&page=2', '__proto__=1']) {
      const reply = await call('GET', `${path}/${places}/query?${text}`)
      assert.equal(reply.status, 400, text)
    }
    const reply = await call('POST', `${path}/${places}/query?filter[id]=1`, { body: {} })
    assert.equal(reply.status, 400)
    assert.match(reply.text, /filter/)
    assert.equal((await call('GET', `${path}/${places}/query?limit=1&api-key=${tenant.developer}`)).status, 200)
  })

  test('a short query that was prepared survives a change of its table', async () => {
    const schema = `app_${tenant.id.replaceAll('-', '')}`
    await app.db.script(`CREATE TABLE ${schema}.changing (id int8 PRIMARY KEY, n int4);
      INSERT INTO ${schema}.changing VALUES (1, 5); GRANT SELECT ON ${schema}.changing TO ${schema}`)
    const id = await create({ type: 'table', source: 'changing' })
    for (const _ of [1, 2, 3]) assert.deepEqual((await query(id, 'filter[id]=1')).body, [{ id: 1, n: 5 }])
    await app.db.script(`ALTER TABLE ${schema}.changing ALTER n TYPE int8`)
    assert.deepEqual((await query(id, 'filter[id]=1')).body, [{ id: 1, n: 5 }])
  })

  test('return their plan with explain', async () => {
    const { body } = await query(places, 'explain=true&filter[id]=1')
    assert.ok(JSON.stringify(body.plan).includes('Node Type'))
  })

  test('return the whole when read page by page', async () => {
    const id = await create({ type: 'sql', source: 'SELECT g AS id, g % 3 AS kind FROM generate_series(1, 50) g' })
    const whole = (await query(id, 'sort=kind,id')).body
    const pages = await Promise.all(
      [0, 20, 40].map(async (offset) => (await query(id, `sort=kind,id&limit=20&offset=${offset}`)).body),
    )
    assert.deepEqual(pages.flat(), whole)
  })
})

describe('parameters', () => {
  test('are bound, typed and defaulted; a missing one is 400', async () => {
    const id = await create({
      type: 'sql',
      source: "SELECT id, name, :label || ':x' AS label FROM places WHERE id >= :from AND name <> ':from'",
      metadata: { parameters: [{ name: 'from', type: 'integer', default: 4 }] },
    })
    assert.deepEqual((await query(id, 'label=%27%3B--')).body, [{ id: 4, name: 'Suva', label: "';--:x" }])
    assert.equal((await query(id, 'label=a&from=1')).body.length, 4)
    assert.equal((await call('GET', `${path}/${id}/query`)).status, 400)
    assert.equal((await call('GET', `${path}/${id}/query?label=a&from=x`)).status, 400)
    assert.equal((await call('GET', `${path}/${id}/query?label=a&label=b`)).status, 400)
  })
})

describe('reach', () => {
  test('a dataset cannot be made of a table of another tenant', async () => {
    const other = await app.tenant('other')
    const schema = `app_${tenant.id.replaceAll('-', '')}`
    for (const source of ['places', `${schema}.places`]) {
      const reply = await call('POST', path, { key: other.developer, body: { type: 'table', name: 'a', source } })
      assert.equal(reply.status, 400, source)
    }
    const reply = await call('POST', path, {
      key: other.developer,
      body: { type: 'sql', name: 'a', source: `SELECT * FROM ${schema}.places` },
    })
    assert.equal(reply.status, 400)
  })

  test('a database of another tenant answers like one that does not exist', async () => {
    const other = await app.tenant('other')
    const [theirs] = (await call('GET', '/api/v1/databases', { key: other.developer })).body
    const reply = await call('POST', path, {
      body: { type: 'sql', name: 'a', source: 'SELECT 1 AS one', databaseId: theirs.id },
    })
    assert.equal(reply.status, 400)
  })

  test('a database that datasets use cannot be deleted', async () => {
    const [database] = (await call('GET', '/api/v1/databases')).body
    assert.equal((await call('DELETE', `/api/v1/databases/${database.id}`)).status, 409)
  })

  test('datasets are found by their tags', async () => {
    const id = await create({ type: 'sql', source: 'SELECT 1 AS one', metadata: { tags: ['x', 'y'] } })
    const found = await call('GET', `${path}?tags=y,z&fields=id`)
    assert.deepEqual(found.body, [{ id }])
  })

  test('a query that takes too long is 504', async () => {
    const id = await create({ type: 'sql', source: 'SELECT count(*) AS n FROM generate_series(1, 100000000) a' })
    const reply = await call('GET', `${path}/${id}/query?timeout=300`)
    assert.equal(reply.status, 504)
    assert.equal(reply.body.code, 'query_timeout')
    const { limit, limitName } = reply.body
    assert.deepEqual({ limit, limitName }, { limit: 300, limitName: 'queryTimeoutMs' })
  })
})
