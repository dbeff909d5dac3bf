import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Reply, type Tenant, type TestApp, testApp } from '../testing/harness.ts'

// One database is enough: a mistake is named before the database is asked.

// What a stranger gets wrong on the first day. Each answer names the place, the nearest name and the allowed ones.
let app: TestApp
let tenant: Tenant
let other: Tenant
let dataset: string
const schemaOf = ({ id }: Tenant): string => `app_${id.replaceAll('-', '')}`

before(async () => {
  app = await testApp()
  tenant = await app.tenant('mine')
  other = await app.tenant('theirs')
  for (const [owner, table] of [
    [tenant, 'villages'],
    [other, 'secret_villages'],
  ] as const) {
    const schema = schemaOf(owner)
    await app.db.script(`
      CREATE TABLE ${schema}.${table} (id int8 PRIMARY KEY, name text, population int8, geom geometry(Point, 4326));
      CREATE TABLE ${schema}.svc_up_of_the_service (id int8);
      GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema};`)
  }
  const made = await create({ type: 'table', source: 'villages' })
  assert.equal(made.status, 201, made.text)
  dataset = made.body.id
})
after(() => app.close())

const path = '/api/v1/datasets'
const create = (body: object, key = tenant.developer) =>
  app.call('POST', path, { key, body: { name: 'a', type: 'sql', source: 'SELECT 1 AS one', ...body } })
const get = (url: string) => app.call('GET', url, { key: tenant.developer })
const query = (text: string) => get(`${path}/${dataset}/query?${text}`)
const ask = (body: object) => app.call('POST', `${path}/${dataset}/query`, { key: tenant.developer, body })

const faultsOf = ({ status, text, body }: Reply): string[] => {
  assert.equal(status, 400, text)
  return body.errors.map(({ path, message }: { path: string; message: string }) => `${path}: ${message}`)
}
async function gives(reply: Promise<Reply>, ...expected: RegExp[]): Promise<void> {
  const faults = faultsOf(await reply)
  assert.equal(faults.length, expected.length, faults.join('\n'))
  for (const [index, pattern] of expected.entries()) assert.match(faults[index] ?? '', pattern)
}

test('a query with a misspelt parameter and a misspelt attribute names both', async () => {
  await gives(
    query('lmit=2&sort=-populaton'),
    /^query\/lmit: "lmit" is not a parameter\. Did you mean "limit"\?/,
    /^query\/sort: "populaton" .*Did you mean "population"\?/,
  )
})

test('the body of a query with a wrong value, an unknown member and misspelt names has all of them in one answer', async () => {
  const wrong = {
    attributes: ['nam'],
    where: { populaton: 1 },
    order: ['-populaton'],
    limit: -1,
    lmit: 2,
    group: 'name',
  }
  const reply = await ask({ ...wrong, nearest: { attribute: 'geo', point: [7, 46] } })
  assert.deepEqual(
    faultsOf(reply)
      .map((fault) => fault.slice(0, fault.indexOf(':')))
      .toSorted(),
    [
      ...['body/attributes/0', 'body/group', 'body/limit', 'body/lmit', 'body/nearest/attribute', 'body/order/0'],
      'body/where/populaton',
    ],
  )
  const grouped = { attributes: ['name', 'count(*)'], group: 'name' }
  await gives(ask(grouped), /^body\/group: /)
})

describe('a list', () => {
  test('with unknown fields, filters and sort terms names each and the nearest', async () => {
    await gives(
      get(`${path}?fields=nmae&filter[tpye]=sql&sort=-created`),
      /^query\/fields: "nmae" is not a field for fields\. Did you mean "name"\? Allowed: id, /,
      /^query\/filter\/tpye: "tpye" is not an attribute\. Did you mean "type"\? Allowed: id, /,
      /^query\/sort: "created" is not a field for sort\. Did you mean "createdAt"\?/,
    )
    await gives(
      get(`${path}?join=databse`),
      /^query\/join: "databse" is not a relation of Dataset\. Did you mean "database"\? Allowed: application, database, owner\.$/,
    )
  })

  test('says of a secret field what it says of one that is not there, and lists it nowhere', async () => {
    const { body } = await get(`${path}?fields=secrets`)
    assert.equal(
      body.errors[0].message.replaceAll('secrets', 'x'),
      (await get(`${path}?fields=x`)).body.errors[0].message,
    )
  })
})

describe('a query', () => {
  test('with unknown attributes, operators and aggregates names each and the nearest', async () => {
    await gives(
      query('attributes=nmae&filter[populaton][$gt]=1&filter[name][$ilike]=a'),
      /^query\/filter\/populaton: .*Did you mean "population"\? Allowed: id, name, population, geom\.$/,
      /^query\/filter\/name\/\$ilike: .*Did you mean "\$iLike"\?/,
      /^query\/attributes: "nmae" is not an attribute\. Did you mean "name"\?/,
    )
    await gives(query('sort=-popluation'), /^query\/sort: .*Did you mean "population"\?/)
    await gives(
      ask({ attributes: ['name', 'summ(population)', 'max(nme)'], group: ['naem'], distinct: ['idd'] }),
      /^body\/attributes\/1: "summ" is not an aggregate\. Did you mean "sum"\? Allowed: count, sum/,
      /^body\/attributes\/2: "nme" is not an attribute\. Did you mean "name"\?/,
      /^body\/group\/0: .*Did you mean "name"\?/,
      /^body\/distinct\/0: .*Did you mean "id"\?/,
    )
    await gives(ask({ order: ['geom'] }), /^body\/order\/0: "geom" is of type geometry and cannot be sorted/)
    await gives(
      ask({ sample: { percentage: 5, method: 'bernouli' } }),
      /^body\/sample\/method: .*Did you mean "BERNOULLI"/,
    )
    await gives(ask({ wheer: {} }), /^body\/wheer: .*Did you mean "where"\?/)
  })

  test('with an unknown parameter or format names the nearest', async () => {
    await gives(query('limt=1'), /^query\/limt: .*Did you mean "limit"\?/)
    await gives(query('format=geosjon'), /^query\/format: must be one of .*Did you mean "geojson"\?/)
  })
})

describe('a dataset', () => {
  test('of a table that is not there names the nearest and lists the tables', async () => {
    await gives(
      create({ type: 'table', source: 'vilages' }),
      /^body\/source: there is no table "vilages" that can be read\. Did you mean "villages"\? Tables: villages\.$/,
    )
    await gives(create({ source: 'SELECT * FROM vilages' }), /Did you mean "villages"\? Tables: villages\.$/)
  })

  test('names no table to a key that may not list them, and none of another application', async () => {
    const narrow = await app.key(tenant.id, { datasets: { '*': '*' }, databases: { read: '*' } })
    for (const body of [{ type: 'table', source: 'vilages' }, { source: 'SELECT * FROM vilages' }]) {
      await gives(create(body, narrow), /^body\/source: there is no table "vilages" that can be read\.$/)
    }
    for (const source of [
      'secret_vilages',
      `${schemaOf(other)}.secret_vilages`,
      `${schemaOf(other)}.secret_villages`,
    ]) {
      for (const body of [{ type: 'table', source }, { source: `SELECT * FROM ${source}` }]) {
        const [fault] = faultsOf(await create(body))
        assert.doesNotMatch(fault?.replaceAll(source, '') ?? '', /secret/)
      }
    }
  })

  test('whose SQL misspells a column, a function or a type names the nearest', async () => {
    await gives(create({ source: 'SELECT populaton FROM villages' }), /^body\/source: .*villages\.population/)
    await gives(create({ source: 'SELECT ST_Bufer(geom, 1) FROM villages' }), /Did you mean "st_buffer"\?/)
    await gives(create({ source: 'SELECT id::intt FROM villages' }), /Did you mean "int/)
  })

  test('with a parameter whose type is not declared says where to declare it', async () => {
    await gives(
      create({ source: 'SELECT * FROM villages WHERE population > :min' }),
      /:min is text unless its type is declared in metadata\.parameters: \[\{"name": "min", "type": "integer"\}\]\.$/,
    )
    const metadata = { parameters: [{ name: 'min', type: 'integer' }] }
    const made = await create({ source: 'SELECT * FROM villages WHERE population > :min', metadata })
    assert.equal(made.status, 201, made.text)
    const url = `${path}/${made.body.id}/query`
    await gives(get(url), /^query\/min: is required: a parameter of this dataset, of type integer$/)
    await gives(get(`${url}?min=many`), /^query\/min: must be of type integer, not "many"$/)
    await gives(get(`${url}?mni=1`), /^query\/mni: .*Did you mean "min"\?/)
    assert.equal((await get(`${url}?min=1`)).status, 200)
  })
})
