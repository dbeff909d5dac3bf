import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type Reply, type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { forwardDatabase } from '../../../testing/peers/forwarded-database.ts'
import { linkOf, walkPages } from '../../../testing/requests/page-walk.ts'

// One database is enough: the same PostgreSQL compares and writes what a cursor holds; keyset-page.test.ts walks both.

const isPostgres = process.env.TEST_DATABASE_URL !== undefined
const rowCount = 2_000
const foreign = { skip: isPostgres ? false : 'needs a PostgreSQL server' }
/** The same ones each time, unless it is --random that looks for new ones. */
const walks = process.env.TEST_RANDOM ? 150 : isPostgres ? 50 : 20

/** Values of every type that can be sorted, with ties and nulls, and those whose text or order is unusual. */
const columns: Record<string, [type: string, values: string[]]> = {
  small: ['int2', ['-32768', '0', '7', '32767']],
  big: ['int8', ['-9223372036854775808', '9007199254740993', '9007199254740992', '9223372036854775807']],
  exact: ['numeric', ['NaN', '12345678901234567890.123456789', '12345678901234567890.12345678', '1e400', '-1', '0.10']],
  fixed: ['numeric(30, 10)', ['0.1', '0.1000000001', '-99999999999999999999.5']],
  double: ['float8', ['NaN', 'Infinity', '-Infinity', '0.1', '0.30000000000000004', '-0', '0', '5e-324', '1e308']],
  single: ['float4', ['NaN', '-Infinity', '0.1', '0.3', '16777216', '1e-45', '3.4e38', '-0']],
  word: [
    'text',
    ['', ' ', 'a', 'A', 'ä', 'Z', 'null', 'é', 'z', '\u{1f600}', '\uffee', 'a"b,c', "o''k", '%_\\', 'x\ny'],
  ],
  short: ['varchar(9)', ['a', 'B', 'ab', 'a b']],
  padded: ['char(5)', ['a', 'ab', 'B', '']],
  mood: ['mood', ['sad', 'ok', 'happy']],
  span: ['interval', ['1 day', '24 hours', '-1 month', '00:00:00.000001']],
  host: ['inet', ['10.0.0.1', '10.0.0.0/8', '::1', '9.0.0.1']],
  flag: ['bool', ['true', 'false']],
  day: ['date', ['2026-01-31', '0044-03-15 BC', 'infinity', '-infinity', '12026-01-01', '0001-01-01']],
  at: [
    'timestamptz',
    [
      '2026-01-31 10:00:00.123456+00',
      '2026-01-31 10:00:00.123457+00',
      '0044-03-15 10:00+00 BC',
      'infinity',
      '12026-01-01',
    ],
  ],
  local: ['timestamp', ['2026-01-31 10:00:00.000001', '2026-01-31 10:00', '-infinity', '12026-01-01 00:00:00.5']],
  clock: ['time', ['00:00', '10:00:00.000001', '10:00:00.000002', '24:00']],
  zoned: ['timetz', ['10:00+05', '10:00+00', '05:00+00', '23:59:59.999999-11:30']],
  code: ['uuid', ['3fa85f64-5717-4562-b3fc-2c963f66afa6', '00000000-0000-0000-0000-000000000000']],
}
const names = Object.keys(columns)

/** Tables with the same rows and other keys. */
const keys: Record<string, [column: string, key: string]> = {
  numbered: ['id int8', 'id'],
  identified: ['uid uuid DEFAULT md5(random()::text)::uuid, id int8', 'uid'],
  named: ['label text COLLATE "C" DEFAULT md5(random()::text), id int8', 'label'],
  labelled: [`label text DEFAULT translate(md5(random()::text), 'abcd', 'AÄ_ '), id int8`, 'label'],
  paired: ['id int8, part int4 DEFAULT (random() * 9)::int4', 'part, id'],
  precise: ['ratio float4 DEFAULT random(), id int8', 'ratio, id'],
}

let app: TestApp
let own: Tenant
let schema: string
const urls: Record<string, string> = {}
before(async () => {
  app = await testApp()
  own = await app.tenant('own')
  schema = `app_${own.id.replaceAll('-', '')}`
  await app.db.script(`CREATE TYPE ${schema}.mood AS ENUM ('sad', 'ok', 'happy')`)
  for (const [name, [own, key]] of Object.entries(keys)) await createTable(name, own, key)
})
after(async () => {
  // Its role outlives the database that it was made for.
  await app.call('DELETE', `/api/v1/applications/${own.id}`)
  await app.close()
})

async function createTable(name: string, keyColumns: string, key: string): Promise<void> {
  const typeOf = (type: string) => (type === 'mood' ? `${schema}.mood` : type)
  const definitions = names.map((column) => `${column} ${typeOf(columns[column]?.[0] ?? '')}`)
  const drawn = Object.values(columns).map(([type, values], index) => {
    const list = values.map((value) => `'${value.replace(/(?<!o)'/g, "'")}'`).join(', ')
    // A tenth is null; each column is drawn by its own step, so that the columns do not go together.
    return `CASE WHEN g * ${index + 3} % 10 = 0 THEN NULL
      ELSE (ARRAY[${list}])[1 + (g * ${index * 7 + 11} / 7) % ${values.length}] END::${typeOf(type)}`
  })
  await app.db.script(`CREATE TABLE ${schema}.${name} (${keyColumns}, ${definitions.join(', ')}, PRIMARY KEY (${key}));
    INSERT INTO ${schema}.${name} (id, ${names.join(', ')})
    SELECT g, ${drawn.join(', ')} FROM generate_series(1, ${rowCount}::int8) g ORDER BY md5(g::text)`)
  urls[name] = await publish(name)
}

async function publish(name: string): Promise<string> {
  await app.db.script(`GRANT SELECT ON ${schema}.${name} TO ${schema}; ANALYZE ${schema}.${name}`)
  return createDataset({ type: 'table', name, source: name })
}

async function createDataset(body: object): Promise<string> {
  const reply = await app.call('POST', '/api/v1/datasets', { key: own.developer, body })
  assert.equal(reply.status, 201, reply.text)
  return `/api/v1/datasets/${reply.body.id}/query`
}

const get = (address: string): Promise<Reply> => app.call('GET', address, { key: own.public })
const post = (address: string, body: object): Promise<Reply> => app.call('POST', address, { key: own.public, body })

type Row = { id: number }

async function assertWalk(address: string, body: object, limit: number): Promise<void> {
  const whole = await post(address, { ...body, limit: 1_000_000 })
  assert.equal(whole.status, 200, whole.text)
  assert.equal(whole.headers.link, undefined)
  const pages = await walkPages<Row>((next) => post(next, { ...body, limit }), address)
  assert.deepEqual(pages.flat(), whole.body)
  assert.equal(pages.length, Math.max(1, Math.ceil(whole.body.length / limit)))
}

describe('all pages together are the one large answer', () => {
  const term = fc.tuple(fc.constantFrom('', '-'), fc.constantFrom(...names)).map(([sign, name]) => sign + name)

  for (const name of names) {
    test(`sorted by ${name}, upwards and downwards`, async () => {
      for (const sign of ['', '-']) {
        await assertWalk(urls.numbered ?? '', { order: [sign + name], attributes: ['id', name] }, 300)
      }
    })
  }

  test('in any order, with any key and filter, in pages of any length', async () => {
    const order = fc.uniqueArray(fc.oneof({ weight: 9, arbitrary: term }, fc.constantFrom('id', '-id')), {
      maxLength: 4,
      selector: (text) => text.replace('-', ''),
    })
    const where = fc.constantFrom({}, { flag: true }, { small: { $gt: 0 } }, { word: null })
    const table = fc.constantFrom(...Object.keys(keys))
    const cases = fc.asyncProperty(
      table,
      order,
      where,
      fc.integer({ min: 150, max: 1000 }),
      (name, order, where, limit) => assertWalk(urls[name] ?? '', { order, where, attributes: ['id', 'word'] }, limit),
    )
    await fc.assert(cases, { numRuns: walks })
  })

  test('where values are too long for a cursor, and where rows are too large to be held', async () => {
    await app.db.script(`CREATE TABLE ${schema}.heavy (id int8 PRIMARY KEY, word text, load text);
      INSERT INTO ${schema}.heavy SELECT g, repeat(chr(97 + g % 3), 3000), repeat('x', 60000) FROM generate_series(1, 400) g`)
    const heavy = await publish('heavy')
    await assertWalk(heavy, { order: ['-word'], attributes: ['id'] }, 150)
    await assertWalk(heavy, { order: ['-id'] }, 300)
  })
})

test('a server of the application’s own is walked too, whose rows are not taken all at once', foreign, async (t) => {
  const { url = '', close } = await forwardDatabase(app.url ?? '')
  t.after(close)
  const { hostname, port, username, pathname } = new URL(url)
  const place = { host: hostname, port: Number(port), user: username, password: 'x', db: pathname.slice(1) }
  const body = { type: 'postgres', name: 'Theirs', ...place }
  const database = await app.call('POST', '/api/v1/databases', { key: own.developer, body })
  assert.equal(database.status, 201, database.text)
  await app.db.script(`CREATE TABLE public.far AS SELECT *, repeat('x', 20000) AS load FROM ${schema}.numbered;
    ALTER TABLE public.far ADD PRIMARY KEY (id)`)
  const far = await createDataset({ type: 'table', name: 'far', source: 'far', databaseId: database.body.id })
  const attributes = ['id', 'word']
  for (const name of names) await assertWalk(far, { order: [`-${name}`], attributes }, 900)
  // A page of these is more than is held, but for the last one.
  await assertWalk(far, { order: ['at'], attributes: ['id', 'load'], where: { id: { $lte: 900 } } }, 600)
})

test('a walk meets every row that stays just once, whatever others insert and delete meanwhile', async () => {
  await app.db.script(`CREATE TABLE ${schema}.busy (id int8 PRIMARY KEY, pop int4);
    INSERT INTO ${schema}.busy SELECT g * 10, nullif(g % 9, 0) FROM generate_series(1, 1000) g`)
  const busy = await publish('busy')
  for (const sort of ['', 'id', '-id', 'pop', '-pop']) {
    await app.db.script(`DELETE FROM ${schema}.busy WHERE id % 10 <> 0`)
    const idsNow = async () => (await get(`${busy}?attributes=id`)).body.map((row: Row) => row.id) as number[]
    const before = await idsNow()
    const seen: number[] = []
    let round = 0
    const ask = async (address: string) => {
      const reply = await get(address)
      seen.push(...reply.body.map((row: Row) => row.id))
      const last = reply.body.at(-1)?.id ?? 0
      round++
      // The last row itself, rows all over the table, and rows around it: some before and some behind.
      await app.db.script(`DELETE FROM ${schema}.busy WHERE id = ${last} OR id % 370 = ${round * 10};
        INSERT INTO ${schema}.busy SELECT g * 10 + ${(round % 9) + 1}, nullif(g % 9, 0) FROM generate_series(1, 1000, 20) g
        ON CONFLICT DO NOTHING`)
      return reply
    }
    await walkPages(ask, `${busy}?limit=170&sort=${sort}`)
    const staying = new Set(await idsNow())
    assert.equal(new Set(seen).size, seen.length, `sort=${sort}: a row came twice`)
    const met = new Set(seen)
    const missed = before.filter((id) => staying.has(id) && !met.has(id))
    assert.deepEqual(missed, [], `sort=${sort}`)
    assert.ok(round > 4 && staying.size < 1500)
  }
})

type PlanNode = { 'Node Type': string; 'Index Cond'?: string; Plans?: PlanNode[] }

test('the index of the key finds a page by key, upwards and downwards', async () => {
  await app.db.script(`CREATE TABLE ${schema}.large (a int4, b int8, PRIMARY KEY (a, b));
    INSERT INTO ${schema}.large SELECT g / 100, g FROM generate_series(1, 20000) g;
    CREATE TABLE ${schema}.lone (id uuid PRIMARY KEY);
    INSERT INTO ${schema}.lone SELECT md5(g::text)::uuid FROM generate_series(1, 20000) g;
    CREATE TABLE ${schema}.texts (id varchar(40) PRIMARY KEY);
    INSERT INTO ${schema}.texts SELECT md5(g::text) FROM generate_series(1, 20000) g`)
  const texts = await publish('texts')
  const large = await publish('large')
  const lone = await publish('lone')
  for (const [address, sort] of [
    [large, ''],
    [large, 'a'],
    [large, '-a,-b'],
    [lone, ''],
    [lone, '-id'],
    [texts, ''],
  ] as const) {
    const next = linkOf(await get(`${address}?limit=10&sort=${sort}`))
    const { body } = await get(`${next}&explain=true`)
    const nodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodes)]
    const plan: PlanNode[] = nodes(body.plan[0].Plan)
    const scan = plan.find((node) => node['Node Type'].startsWith('Index'))
    assert.ok(scan?.['Index Cond'], JSON.stringify(body))
    assert.ok(!plan.some((node) => node['Node Type'].includes('Sort')), JSON.stringify(body))
  }
})
