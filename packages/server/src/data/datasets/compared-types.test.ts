import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { type ExternalServer, startExternalServer } from '../../../testing/peers/external-server.ts'
import { walkPages } from '../../../testing/requests/page-walk.ts'
import { raw } from '../../kernel/db/sql.ts'

// One database is enough: the tables are in an external PostgreSQL, whose extensions the embedded one lacks.

/** Column → its type and values, of which the first are operands, too. Text order is not their order. */
const columns: Readonly<Record<string, readonly [type: string, ...values: string[]]>> = {
  folded: ['citext', 'b', 'B', 'a', 'C', 'aa'],
  price: ['money', '100', '9.5', '1000', '-3', '99.99'],
  span: ['interval', '5 hours', '10 hours', '1 day', '-1 mon', '90 minutes'],
  address: ['inet', '10.0.0.10', '10.0.0.9', '9.0.0.0/8', '::1', '10.0.0.0/8'],
  network: ['cidr', '10.0.0.0/8', '9.0.0.0/8', '192.168.0.0/16', '::/0', '10.0.0.0/9'],
  mac: ['macaddr', '08:00:2b:01:02:03', '0a:00:2b:01:02:03', 'ff:00:2b:01:02:03'],
  mac8: ['macaddr8', '08:00:2b:01:02:03:04:05', '0a:00:2b:01:02:03:04:05'],
  mood: ['mood', 'ok', 'sad', 'happy'],
  ages: ['int4range', '[10,20)', '[9,100)', 'empty', '(,5)', '[2,3]'],
  amounts: ['numrange', '[10.5,20)', '[9.25,100)', '(1,2]'],
  days: ['daterange', '[2024-01-31,2024-03-01)', '[2023-12-31,)'],
  moments: ['tstzrange', '["2024-01-31 12:00+00","2024-03-01 00:00+02")', '(,"2023-12-31 00:00+00")'],
  several: ['int4multirange', '{[10,20),[30,40)}', '{[9,10)}', '{}'],
  clock: ['time with time zone', '10:00+02', '09:00+00', '08:00:00.5-05', '10:00+00'],
  exact: ['numeric', '10', '9', '0.30000000000000004', '0.3', '12345678901234567890.123456789', '-1'],
  path: ['ltree', 'a.b', 'a', 'a.b.c', 'B.a', 'a.c'],
  token: ['uuid', '3fa85f64-5717-4562-b3fc-2c963f66afa6', '00000000-0000-4000-8000-000000000000'],
  bits: ['bit(4)', '1010', '0111', '0001'],
  varying: ['bit varying', '1010', '0111', '1', '11'],
  transaction: ['xid8', '10', '9', '18446744073709551615'],
  position: ['pg_lsn', '0/10', '0/9', 'A/0', '16/B374D848'],
  letter: ['"char"', 'b', 'a', 'B'],
  padded: ['character(5)', 'b', 'a', 'B', 'aa'],
  short: ['character varying(9)', 'b', 'a', 'B', 'aa'],
  label: ['name', 'b', 'a', 'B'],
  words: ['tsvector', 'fat cat', 'a fat cat', 'rat'],
  email: ['email', 'b@example.org', 'B@example.org', 'a@example.org'],
  years: ['years', '10', '9', '100'],
  humour: ['humour', 'ok', 'sad', 'happy'],
  period: ['period', '[10,20)', '[9,100)'],
  rate: ['rate', '10.50', '9.25', '100'],
  quick: ['time(3)', '10:00', '09:00', '23:59:59.999'],
  small: ['smallint', '10', '9', '-1'],
  number: ['oid', '10', '9', '4294967295'],
  single: ['double precision', '10', '9.5', '-0.25'],
  day: ['date', '2024-01-31', '2023-12-31', '0001-01-01'],
  local: ['timestamp', '2024-01-31T12:00:00', '2023-12-31T00:00:00.000001'],
  instant: ['timestamptz', '2024-01-31T12:00:00Z', '2023-12-31T00:00:00.000001Z'],
}
const lists: typeof columns = {
  foldedlist: ['citext[]', '{b,A}', '{B,a}', '{a}', '{}', '{C,NULL}'],
  moods: ['mood[]', '{ok,sad}', '{happy}', '{sad}'],
  exacts: ['numeric[]', '{10,0.30000000000000004}', '{9}', '{10.0,0.3}'],
  numbers: ['int4[]', '{10,1}', '{9}', '{100}'],
  texts: ['text[]', '{b,a}', '{a}', '{B}'],
  addresses: ['inet[]', '{10.0.0.10}', '{10.0.0.9}', '{::1}'],
  bytes: ['bytea', '\\x0a', '\\x09', '\\xff00'],
  document: ['jsonb', '{"a": 10}', '{"a": 9}', '[1]', '"x"'],
}
const all = Object.entries({ ...columns, ...lists })

const setUp = `
  CREATE EXTENSION citext; CREATE EXTENSION ltree;
  CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
  CREATE DOMAIN address_text AS citext;
  CREATE DOMAIN email AS address_text CHECK (VALUE LIKE '%@%');
  CREATE DOMAIN years AS int4;
  CREATE DOMAIN humour AS mood;
  CREATE DOMAIN period AS int4range;
  CREATE DOMAIN rate AS numeric(6, 2);
  CREATE TYPE pair AS (a int4, b text);
  CREATE TABLE every_type (id int4 PRIMARY KEY, shape point, pair pair, xml xml,
    ${all.map(([name, [type]]) => `${name} ${type}`).join(', ')});
  CREATE TABLE keyed (address inet PRIMARY KEY, note text, mood mood, price money, spans interval[]);`

const rowCount = 14
const quote = (value: string): string => `'${value.replaceAll("'", "''")}'`

/** Each value stands in about two rows, and some rows have none. */
function rowSql(id: number): string {
  const cells = all.map(([, [, ...values]], index) => {
    const value = values[(id * 11 + index) % (values.length + 1)]
    return value === undefined ? 'NULL' : quote(value)
  })
  return `(${id}, '(${id % 3},1)', '(${id % 3},x)', '<a>${id % 3}</a>', ${cells.join(', ')})`
}
const rows = Array.from({ length: rowCount }, (_, index) => rowSql(index + 1))

let server: ExternalServer | undefined
let app: TestApp
let tenant: Tenant
let databaseId: string
const datasets: Record<string, string> = {}

before(async () => {
  server = await startExternalServer()
  if (!server) return
  await server.db.script(`${setUp} INSERT INTO every_type VALUES ${rows.join(', ')};
    CREATE TABLE edited AS SELECT *, ''::text AS note FROM every_type; ALTER TABLE edited ADD PRIMARY KEY (id);
    INSERT INTO keyed VALUES ('10.0.0.1', 'one', 'ok', 1, '{1 hour}'), ('10.0.0.2/24', 'two', 'sad', 20, NULL);`)
  app = await testApp()
  tenant = await app.tenant('types')
  databaseId = await server.register(app, tenant.developer)
  datasets.table = await create({ type: 'table', source: 'every_type' })
  datasets.sql = await create({ type: 'sql', source: 'SELECT * FROM every_type' })
})
after(async () => {
  await app?.close()
  await server?.close()
})

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

async function create(body: object): Promise<string> {
  const reply = await call('POST', '/api/v1/datasets', { body: { name: 'types', databaseId, ...body } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

// biome-ignore lint/suspicious/noExplicitAny: rows have any columns
async function ask(id: string | undefined, body: object): Promise<any[]> {
  const reply = await call('POST', `/api/v1/datasets/${id}/query`, { body })
  assert.equal(reply.status, 200, `${JSON.stringify(body)}: ${reply.text}`)
  return reply.body
}

async function inSql(rest: string, shown = 'id'): Promise<unknown[]> {
  const found = await server?.db.query<{ shown: unknown }>(raw(`SELECT ${shown} AS shown FROM every_type ${rest}`))
  return (found ?? []).map((row) => row.shown)
}

/** The ids of the rows that fulfil each condition. */
async function matching(conditions: readonly string[]): Promise<number[][]> {
  const lists = conditions.map((one) => `to_json(coalesce(array_agg(id ORDER BY id) FILTER (WHERE ${one}), '{}'))`)
  const [found] = await inSql('', `json_build_array(${lists.join(', ')})`)
  return found as number[][]
}

/** PostgreSQL has no operators for a domain over an enumeration or a range. */
const plain = (name: string): string => ({ humour: 'humour::mood', period: 'period::int4range' })[name] ?? name

const comparisons = { $eq: '=', $ne: '<>', $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' }

const skip = (process.env.TEST_EXTERNAL_URL ?? process.env.TEST_DATABASE_URL) ? false : 'without a PostgreSQL server'
const idsOf = (found: { id: number }[]): number[] => found.map(({ id }) => id)

/** A list of the API for the text of an array. */
const itemsOf = (text: string): string[] =>
  text
    .slice(1, -1)
    .split(',')
    .filter((item) => item !== '')

for (const kind of ['table', 'sql']) {
  describe(`columns of a ${kind} dataset`, { skip }, () => {
    const id = (): string => datasets[kind] ?? ''

    test('are filtered as in SQL', async () => {
      for (const [name, [, ...values]] of Object.entries(columns)) {
        const [first = '', second = ''] = values
        const operands = kind === 'table' ? values.slice(0, 3) : [first]
        const conditions: [object, string][] = [
          ...operands.flatMap((value) =>
            Object.entries(comparisons).map(([operator, sign]): [object, string] => [
              { [operator]: value },
              `${sign} ${quote(value)}`,
            ]),
          ),
          [{ $in: [first, second] }, `IN (${quote(first)}, ${quote(second)})`],
          [{ $between: [second, first] }, `BETWEEN ${quote(second)} AND ${quote(first)}`],
        ]
        const expected = await matching(conditions.map(([, text]) => `${plain(name)} ${text}`))
        for (const [index, [condition, text]] of conditions.entries()) {
          const found = await ask(id(), { attributes: ['id'], where: { [name]: condition }, order: ['id'] })
          assert.deepEqual(idsOf(found), expected[index], `${name} ${text}`)
        }
      }
    })

    test('that are arrays are filtered as in SQL', async () => {
      const relations = { $eq: '=', $contains: '@>', $overlap: '&&' }
      for (const [name, [type, ...values]] of Object.entries(lists)) {
        if (!type.endsWith('[]')) continue
        for (const value of values.filter((text) => !text.includes('NULL'))) {
          for (const [operator, sign] of Object.entries(relations)) {
            const where = { [name]: { [operator]: itemsOf(value) } }
            const found = await ask(id(), { attributes: ['id'], where, order: ['id'] })
            assert.deepEqual(
              idsOf(found),
              await inSql(`WHERE ${name} ${sign} ${quote(value)} ORDER BY id`),
              `${name} ${sign} ${value}`,
            )
          }
        }
      }
    })

    test('are sorted as in SQL', async () => {
      for (const [name] of all) {
        for (const [sign, direction] of [
          ['', 'ASC'],
          ['-', 'DESC'],
        ]) {
          const found = await ask(id(), { attributes: ['id'], order: [`${sign}${name}`, 'id'] })
          assert.deepEqual(idsOf(found), await inSql(`ORDER BY ${name} ${direction} NULLS LAST, id`), `${sign}${name}`)
        }
      }
    })

    test('are grouped, made distinct and aggregated as in SQL', async () => {
      for (const [name] of all) {
        const grouped = await ask(id(), { attributes: [name, 'count(*) as rows'], group: [name], order: [name] })
        const counts = await inSql(`GROUP BY ${name} ORDER BY ${name} NULLS LAST`, 'count(*)')
        assert.deepEqual(
          grouped.map(({ rows }) => rows),
          counts,
          name,
        )
        const distinct = await ask(id(), { attributes: ['id'], distinct: [name], order: [name, 'id'] })
        const firsts = await inSql(`ORDER BY ${name} NULLS LAST, id`, `DISTINCT ON (${name}) id`)
        assert.deepEqual(idsOf(distinct), firsts, name)
        const [counted] = await ask(id(), { attributes: [`count(distinct ${name}) as n`] })
        assert.deepEqual([counted.n], await inSql('', `count(DISTINCT ${name})`), name)
      }
      for (const name of Object.keys(columns).filter((one) => one !== 'token')) {
        const [found] = await ask(id(), { attributes: [`min(${name}) as least`, `max(${name}) as most`] })
        for (const [aggregate, direction] of [
          ['least', 'ASC'],
          ['most', 'DESC'],
        ] as const) {
          const first = await inSql(`WHERE ${name} IS NOT NULL ORDER BY ${name} ${direction} LIMIT 1`)
          const [row] = await ask(id(), { attributes: [`${name} as v`], where: { id: first[0] } })
          assert.deepEqual(String(found[aggregate]).toLowerCase(), String(row.v).toLowerCase(), `${aggregate} ${name}`)
        }
      }
    })

    test('are compared as in SQL by CQL2', async () => {
      for (const [name, [type, value = '', other = '']] of Object.entries(columns)) {
        const isNumber = ['smallint', 'oid', 'double precision', 'numeric', 'years', 'rate'].includes(type)
        const literal = (text: string) => (isNumber ? text : quote(text))
        const conditions = (column: string) => [
          `${column} = ${literal(value)}`,
          `${literal(value)} < ${column}`,
          `${column} IN (${literal(value)}, ${literal(other)})`,
          `${column} BETWEEN ${literal(other)} AND ${literal(value)}`,
          `${column} >= ${column}`,
        ]
        const expected = await matching(conditions(plain(name)))
        for (const [index, filter] of conditions(name).entries()) {
          const query = new URLSearchParams({ filter, 'filter-lang': 'cql2-text', sort: 'id', attributes: 'id' })
          const reply = await call('GET', `/api/v1/datasets/${id()}/query?${query}`)
          assert.equal(reply.status, 200, `${filter}: ${reply.text}`)
          assert.deepEqual(idsOf(reply.body), expected[index], filter)
        }
      }
    })
  })
}

describe('columns of a table', { skip }, () => {
  test('are walked page by page in their order', async () => {
    for (const [name] of all) {
      for (const sign of ['', '-']) {
        const first = `/api/v1/datasets/${datasets.table}/query?attributes=id&sort=${sign}${name}&limit=3&cursor=`
        const pages = await walkPages<{ id: number }>((address) => call('GET', address), first)
        const direction = sign ? 'DESC' : 'ASC'
        assert.deepEqual(
          idsOf(pages.flat()),
          await inSql(`ORDER BY ${name} ${direction} NULLS LAST, id`),
          `${sign}${name}`,
        )
      }
    }
  })

  test('are compared by the parameters and sortby of OGC API Features', async () => {
    const items = `/ogc/collections/${datasets.table}/items`
    for (const [name, [, value = '']] of Object.entries(columns)) {
      const query = new URLSearchParams({ [name]: value, sortby: `-${name},id`, properties: 'id', limit: '100' })
      const reply = await call('GET', `${items}?${query}`)
      assert.equal(reply.status, 200, `${name}: ${reply.text}`)
      const found = reply.body.features.map((one: { id: number }) => one.id)
      assert.deepEqual(found, await inSql(`WHERE ${plain(name)} = ${quote(value)} ORDER BY ${name} DESC, id`), name)
    }
  })

  test('match patterns as in SQL', async () => {
    for (const [name, operator, pattern] of [
      ['folded', '$like', 'B%'],
      ['folded', '$startsWith', 'A'],
      ['email', '$like', 'B@%'],
      ['address', '$like', '10.%'],
    ] as const) {
      const found = await ask(datasets.table, {
        attributes: ['id'],
        where: { [name]: { [operator]: pattern } },
        order: ['id'],
      })
      const column = name === 'address' ? 'address::text' : name
      assert.deepEqual(
        idsOf(found),
        await inSql(`WHERE ${column} LIKE ${quote(pattern.replace(/^A$/, 'A%'))} ORDER BY id`),
        pattern,
      )
    }
  })

  test('without an order of their type are compared by their text', async () => {
    for (const [name, value] of [
      ['shape', '(1,1)'],
      ['xml', '<a>1</a>'],
      ['pair', '(1,x)'],
    ] as const) {
      const where = { [name]: { $eq: value } }
      const found = await ask(datasets.table, { attributes: ['id'], where, order: [name, 'id'] })
      assert.deepEqual(idsOf(found), await inSql(`WHERE ${name}::text = ${quote(value)} ORDER BY id`), name)
      const grouped = await ask(datasets.table, {
        attributes: [name, 'count(*) as rows'],
        group: [name],
        order: [name],
      })
      assert.deepEqual(
        grouped.map(({ rows }) => rows),
        await inSql(`GROUP BY ${name}::text ORDER BY 1`, 'count(*)').then((all) =>
          all.toSorted((a, b) => Number(a) - Number(b)),
        ),
        name,
      )
    }
  })

  test('take numbers, too', async () => {
    const found = await ask(datasets.table, { attributes: ['id'], where: { price: { $gt: 99.5 } }, order: ['id'] })
    assert.deepEqual(idsOf(found), await inSql(`WHERE price > '99.5' ORDER BY id`))
  })

  test('have types and base types', async () => {
    const { body } = await call('GET', `/api/v1/datasets/${datasets.table}`)
    const described = (name: string) => {
      const { type, dbType, baseType } = body.attributes.find((one: { name: string }) => one.name === name)
      return [type, dbType, baseType]
    }
    assert.deepEqual(described('email'), ['string', 'email', 'citext'])
    assert.deepEqual(described('years'), ['integer', 'years', 'integer'])
    assert.deepEqual(described('rate'), ['number', 'rate', 'numeric(6,2)'])
    assert.deepEqual(described('humour'), ['string', 'humour', 'mood'])
    assert.deepEqual(described('pair'), ['string', 'pair', 'record'])
    assert.deepEqual(described('mood'), ['string', 'mood', undefined])
  })

  test('are exported in the order and by the comparisons of SQL', async () => {
    for (const [name, [, value = '']] of Object.entries(columns)) {
      const where = encodeURIComponent(JSON.stringify({ [name]: { $gte: value } }))
      const address = `/api/v1/datasets/${datasets.table}/query?format=csv&attributes=id`
      const reply = await call('GET', `${address}&sort=-${name},id&filter=${where}`)
      assert.equal(reply.status, 200, reply.text)
      const ids = reply.text.trim().split(/\r?\n/).slice(1).map(Number)
      assert.deepEqual(ids, await inSql(`WHERE ${plain(name)} >= ${quote(value)} ORDER BY ${name} DESC, id`), name)
    }
  })

  test('are changed by a filter that compares as SQL does', async () => {
    const id = await create({ type: 'table', source: 'edited', metadata: { editable: true } })
    for (const [name, [, value = '']] of Object.entries(columns)) {
      const [count] = await inSql(`WHERE ${plain(name)} >= ${quote(value)}`, 'count(*)')
      const filter = encodeURIComponent(JSON.stringify({ [name]: { $gte: value } }))
      const changed = await call('PATCH', `/api/v1/datasets/${id}/rows?filter=${filter}&expect=${count}`, {
        body: { note: name },
      })
      assert.deepEqual([changed.status, changed.body.count], [200, Number(count)], `${name}: ${changed.text}`)
    }
  })

  test('have the statistics that SQL computes', async () => {
    for (const id of [datasets.table, datasets.sql]) {
      for (const name of Object.keys(columns)) {
        const { status, body, text } = await call('GET', `/api/v1/datasets/${id}/attributes/${name}/statistics`)
        assert.equal(status, 200, text)
        const counts = await inSql(`WHERE ${name} IS NOT NULL GROUP BY ${name} ORDER BY 1 DESC`, 'count(*)')
        assert.deepEqual([body.distinct, await inSql('', `count(${name})`)], [counts.length, [body.count]], name)
        const frequent: { value: unknown; count: number }[] = body.frequent
        assert.deepEqual(
          frequent.map(({ count }) => count),
          counts,
          name,
        )
        for (const { value, count } of frequent) {
          const [found] = await inSql(`WHERE ${plain(name)} = ${quote(String(value))}`, 'count(*)')
          assert.equal(found, count, `${name} = ${value}`)
        }
        await assertQuantiles(name, body)
      }
    }
  })

  type Described = { type: string; min: unknown; max: unknown; quantiles: { p: number; value: unknown }[] }

  /** Each is a value of the column, as its order has it. */
  async function assertQuantiles(name: string, { type, min, max, quantiles }: Described): Promise<void> {
    const extremes = type === 'uuid' ? [] : [min, max]
    const values = [...quantiles.map(({ value }) => value), ...extremes]
    const shares = [...quantiles.map(({ p }) => p), ...extremes.map((_, index) => index)]
    const expected = shares.map((p) => `percentile_disc(${p}) WITHIN GROUP (ORDER BY ${plain(name)})`)
    for (const [index, place] of expected.entries()) {
      const [isSame] = await inSql('LIMIT 1', `(SELECT ${place} FROM every_type) = ${quote(String(values[index]))}`)
      assert.equal(isSame, true, `${name}: ${place} is not ${values[index]}`)
    }
  }

  test('name the attribute whose value the database cannot read', async () => {
    const wrong: [string, unknown][] = [
      ['price', 'much'],
      ['span', 'long'],
      ['address', '1.2.3.400'],
      ['mood', 'merry'],
      ['ages', '10-20'],
      ['clock', '25:00+00'],
      ['exacts', ['x']],
      ['humour', 'merry'],
    ]
    for (const id of [datasets.table, datasets.sql]) {
      for (const [name, value] of wrong) {
        const { status, body, text } = await call('POST', `/api/v1/datasets/${id}/query`, {
          body: { where: { id: 1, [name]: value } },
        })
        assert.equal(status, 400, text)
        assert.match(body.detail, new RegExp(`\\b${name}\\b`), text)
      }
    }
    const query = new URLSearchParams({ filter: "address > 'x'", 'filter-lang': 'cql2-text' })
    const { status, body } = await call('GET', `/ogc/collections/${datasets.table}/items?${query}`)
    assert.deepEqual([status, /address/.test(body.detail)], [400, true], body.detail)
  })
})

describe('rows whose key is of a type that only the database knows', { skip }, () => {
  let rows: string
  before(async () => {
    const id = await create({ type: 'table', source: 'keyed', metadata: { editable: true } })
    rows = `/api/v1/datasets/${id}/rows`
  })

  test('are read, changed and deleted by their key', async () => {
    const read = await call('GET', `${rows}/10.0.0.1`)
    assert.deepEqual([read.status, read.body.note], [200, 'one'], read.text)
    assert.equal((await call('GET', `${rows}/10.0.0.3`)).status, 404)
    assert.equal((await call('GET', `${rows}/nowhere`)).status, 404)
    const changed = await call('PATCH', `${rows}/10.0.0.1`, {
      body: { mood: 'happy', price: 12.5, spans: ['2 hours'] },
    })
    assert.deepEqual([changed.status, changed.body.mood, changed.body.price], [200, 'happy', '$12.50'], changed.text)
    assert.equal((await call('PATCH', `${rows}/nowhere`, { body: { note: 'x' } })).status, 404)
    const made = await call('POST', rows, { body: [{ address: '10.0.0.7', mood: 'sad', price: 1 }] })
    assert.ok(made.status < 300, made.text)
    assert.equal((await call('DELETE', `${rows}/10.0.0.7`)).status, 200)
    assert.equal((await call('DELETE', `${rows}/nowhere`)).status, 404)
  })

  test('are changed by a filter as in SQL', async () => {
    const filter = encodeURIComponent(JSON.stringify({ price: { $gt: '15' } }))
    const changed = await call('PATCH', `${rows}?filter=${filter}&expect=1`, { body: { note: 'dear' } })
    assert.deepEqual([changed.status, changed.body.count], [200, 1], changed.text)
    const wrong = await call('PATCH', `${rows}?filter=${encodeURIComponent('{"mood":"x"}')}&expect=1`, {
      body: { note: 'x' },
    })
    assert.deepEqual([wrong.status, /mood/.test(wrong.body.detail)], [400, true], wrong.text)
  })
})
