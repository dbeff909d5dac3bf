import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type Reply, type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { breakOuts, endless } from '../../../../testing/hostile/break-outs.ts'
import { inParallel } from '../../../../testing/in-parallel.ts'
import { raw } from '../../../kernel/db/sql.ts'

const isEmbedded = !process.env.TEST_DATABASE_URL
const canary = `canary${randomBytes(8).toString('hex')}`
const path = '/api/v1/datasets'
const schemaOf = ({ id }: Tenant): string => `app_${id.replaceAll('-', '')}`

let app: TestApp
let attacker: Tenant
let victim: Tenant
/** Datasets of the attacker's. */
let table: string
let parameterised: string
/** Enough for whatever is right, however busy the machine is; an attack gets less. */
let timeoutMs = 10_000

before(async () => {
  app = await testApp()
  attacker = await app.tenant('attacker')
  // The name is a canary itself: it stands in svc.applications.
  victim = await app.tenant(canary)
  const [own, other] = [schemaOf(attacker), schemaOf(victim)]
  await app.db.script(`
    CREATE TABLE public.canary AS SELECT '${canary}' AS value;
    CREATE TABLE ${other}.secret AS SELECT '${canary}' AS value;
    CREATE TABLE ${other}.places AS SELECT ST_SetSRID(ST_MakePoint(137.731, 61.21937 + i / 1e9), 4326) AS geom
      FROM generate_series(1, 200) i;
    GRANT SELECT ON ALL TABLES IN SCHEMA ${other} TO ${other};
    ANALYZE ${other}.places;
    CREATE TABLE ${own}.own (
      id int8 PRIMARY KEY, name text, size numeric, at timestamptz, tags text[], info jsonb, geom geometry(Point, 4326));
    INSERT INTO ${own}.own VALUES (1, 'one', 1.5, '2026-01-31', '{a}', '{"a": 1}', ST_Point(1, 2, 4326));
    INSERT INTO ${own}.own (id) VALUES (2);
    GRANT SELECT ON ALL TABLES IN SCHEMA ${own} TO ${own};`)
  table = await created({ type: 'table', source: 'own' })
  parameterised = await created({
    type: 'sql',
    source: 'SELECT id, name, :label AS label, :count + 1 AS count FROM own WHERE name IS NULL OR name <> :label',
    metadata: { parameters: [{ name: 'count', type: 'integer', default: 1 }] },
  })
  await query(parameterised, 'label=a')
})
after(() => app.close())

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: attacker.developer, ...request })
const create = (body: object): Promise<Reply> => call('POST', path, { body: { name: 'hostile', ...body } })
const query = (id: string, text: string): Promise<Reply> =>
  call('GET', `${path}/${id}/query?timeout=${timeoutMs}&${text}`)
const ask = (body: object): Promise<Reply> => call('POST', `${path}/${table}/query?timeout=${timeoutMs}`, { body })

async function created(body: object): Promise<string> {
  const reply = await create({ ...body, name: 'kept' })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

/** A dataset that was let in is queried as well; the answer that counts is that of the query. */
async function createAndQuery(body: object): Promise<Reply> {
  const reply = await create(body)
  if (reply.status !== 201) return reply
  const { id } = reply.body
  assertSafe(reply, JSON.stringify(body))
  for (const rest of ['format=csv', 'explain=true']) assertSafe(await query(id, rest), JSON.stringify(body))
  const answer = await query(id, '')
  assert.equal((await call('DELETE', `${path}/${id}`)).status < 300, true)
  return answer
}

/** A place for a text, and a text that is right there: a slot that refuses everything would prove nothing. */
type Slot = readonly [name: string, right: string, send: (text: string) => Promise<Reply>]

const enc = encodeURIComponent
const point = '{"type":"Point","coordinates":[1,2]}'

const slots: readonly Slot[] = [
  ['source of a table', 'own', (text) => createAndQuery({ type: 'table', source: text })],
  ['source of a table, quoted', 'own', (text) => createAndQuery({ type: 'table', source: `"${text}"` })],
  ['source of a query', 'SELECT 1 AS one', (text) => createAndQuery({ type: 'sql', source: text })],
  ['source, inside a query', '1', (text) => createAndQuery({ type: 'sql', source: `SELECT (${text}) AS one` })],
  [
    'default of a parameter',
    'x',
    (text) =>
      createAndQuery({
        type: 'sql',
        source: 'SELECT :a AS a',
        metadata: { parameters: [{ name: 'a', type: 'string', default: text }] },
      }),
  ],
  [
    'type of a parameter',
    'string',
    (text) =>
      createAndQuery({
        type: 'sql',
        source: 'SELECT :a AS a',
        metadata: { parameters: [{ name: 'a', type: text, default: 'x' }] },
      }),
  ],
  ['attribute', 'name', (text) => ask({ attributes: [text] })],
  ['attribute with an alias', 'name', (text) => ask({ attributes: [`${text} as x`] })],
  ['alias', 'x', (text) => ask({ attributes: [`name as ${text}`] })],
  ['alias in quotes', 'x', (text) => ask({ attributes: [`name as "${text}"`], order: [text] })],
  ['inside an aggregate', 'id', (text) => ask({ attributes: [`max(${text})`] })],
  ['name of an aggregate', 'max', (text) => ask({ attributes: [`${text}(id)`] })],
  ['filter key', 'id', (text) => ask({ where: { [text]: 1 } })],
  ['filter value of a text', 'one', (text) => ask({ where: { name: text } })],
  ['filter value of an integer', '1', (text) => ask({ where: { id: text } })],
  ['filter value of a number', '1.5', (text) => ask({ where: { size: { $gte: text } } })],
  ['filter value of a datetime', '2026-01-31', (text) => ask({ where: { at: { $between: [text, text] } } })],
  ['filter value of a list', 'one', (text) => ask({ where: { name: { $notIn: [text, text] } } })],
  ['filter value of a pattern', 'o%', (text) => ask({ where: { name: { $iLike: text } } })],
  ['filter value of a substring', 'o', (text) => ask({ where: { name: { $substring: text } } })],
  ['filter value of an array', 'a', (text) => ask({ where: { tags: { $overlap: [text] } } })],
  ['filter value of json', 'a', (text) => ask({ where: { info: { $contains: { [text]: text } } } })],
  ['filter value of a geometry', point, (text) => ask({ where: { geom: { $intersects: text } } })],
  ['filter value of a box', '0,0,9,9', (text) => query(table, `filter[geom][$bbox]=${enc(text)}`)],
  ['operator', '$eq', (text) => ask({ where: { name: { [text]: 'one' } } })],
  ['operator after $', 'eq', (text) => ask({ where: { name: { [`$${text}`]: 'one' } } })],
  ['order', '-name', (text) => ask({ order: [text] })],
  ['order, downwards', 'name', (text) => ask({ order: [`-${text}`], limit: 1 })],
  ['group', 'name', (text) => ask({ group: [text] })],
  ['distinct', 'name', (text) => ask({ distinct: [text] })],
  ['sample.method', 'system', (text) => ask({ sample: { percentage: 50, method: text } })],
  ['attributes of GET', 'name', (text) => query(table, `attributes=${enc(text)}`)],
  ['filter of GET', '{"id":1}', (text) => query(table, `filter=${enc(text)}`)],
  ['filter key of GET', 'id', (text) => query(table, `filter[${enc(text)}]=1`)],
  ['filter value of GET', 'one', (text) => query(table, `filter[name]=${enc(text)}`)],
  ['operator of GET', '$eq', (text) => query(table, `filter[name][${enc(text)}]=one`)],
  ['sort', 'name', (text) => query(table, `sort=${enc(text)}`)],
  ['parameter of text', 'a', (text) => query(parameterised, `label=${enc(text)}`)],
  ['parameter of an integer', '1', (text) => query(parameterised, `label=a&count=${enc(text)}`)],
  ['name of a parameter', 'label', (text) => query(parameterised, `${enc(text)}=1`)],
  ['filename', 'a.csv', (text) => query(table, `format=csv&filename=${enc(text)}`)],
  ['format', 'csv', (text) => query(table, `format=${enc(text)}`)],
  ['srid', '3857', (text) => query(table, `srid=${enc(text)}`)],
  ['limit', '1', (text) => query(table, `limit=${enc(text)}`)],
  ['offset', '1', (text) => query(table, `offset=${enc(text)}`)],
  ['timeout', '100', (text) => call('GET', `${path}/${table}/query?timeout=${enc(text)}`)],
  ['explain', 'true', (text) => query(table, `explain=${enc(text)}`)],
  ['id of a dataset', '00000000', (text) => call('GET', `${path}/${enc(text)}/query`)],
]

/** Nothing of what is not the attacker's, and no accident. */
function assertSafe({ status, headers, text }: Reply, attack: string): void {
  const answer = `${JSON.stringify(headers)}\n${text}`
  assert.ok(status < 500 || status === 504, `${attack}: ${status} ${text}`)
  assert.ok(!answer.includes(canary), `${attack} reads ${answer}`)
  assert.doesNotMatch(answer, /137\.731|61\.2193|root:x:|SCRAM-SHA/, `${attack} reads ${answer}`)
}

/** All that an attack must leave as it is: the service's rows, the victim's, and what there is at all. */
async function state(): Promise<unknown> {
  const [own, other] = [schemaOf(attacker), schemaOf(victim)]
  const tables = await app.db.query<{ name: string }>(
    raw(`SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
         WHERE (schemaname IN ('svc', '${own}', '${other}') OR tablename = 'canary')
           -- They tell of the attacks themselves; the last is written by the server every hour.
           AND NOT (schemaname = 'svc' AND tablename IN ('audit', 'usage', 'change_horizons')) ORDER BY 1`),
  )
  assert.ok(tables.length > 8, 'the tables are seen')
  const rows = tables.map(
    ({ name }) => `'${name}', (SELECT md5(string_agg(row::text, '|' ORDER BY row::text COLLATE "C")) FROM
      (SELECT to_jsonb(t) - 'last_used_at' - 'seen_at' AS row FROM ${name} t) r WHERE row ->> 'name' IS DISTINCT FROM 'hostile')`,
  )
  const [found] = await app.db.query(
    raw(`SELECT jsonb_build_object(${rows.join(', ')},
      'relations', (SELECT array_agg(relnamespace::regnamespace || '.' || relname ORDER BY relnamespace, relname)
        FROM pg_class WHERE oid >= 16384 AND relnamespace <> 'pg_toast'::regnamespace),
      'schemas', (SELECT jsonb_object_agg(nspname, nspacl) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp'),
      'functions', (SELECT count(*) FROM pg_proc),
      'extensions', (SELECT count(*) FROM pg_extension),
      'objects', (SELECT count(*) FROM pg_largeobject_metadata),
      -- Other tests make roles in the same cluster meanwhile; the powerful ones say so by their name.
      'roles', (SELECT jsonb_object_agg(rolname, to_jsonb(r)) FROM pg_roles r
        WHERE rolname IN ('${own}', '${other}') OR (
          (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication) AND NOT starts_with(rolname, 'of_another_test_'))),
      'members', (SELECT count(*) FROM pg_auth_members
        WHERE member IN ('${own}'::regrole, '${other}'::regrole))) AS state`),
  )
  return found?.state
}

/**
 * A source gets all of them. What is not SQL goes the same way whatever it says, so the other slots share them: each gets half,
 * on the embedded database every slot gets a quarter, and together they get all.
 */
function attacksOn(slot: number): string[] {
  const texts = breakOuts.filter((text) => !(isEmbedded && endless.includes(text)))
  const takesSql = slots[slot]?.[0].startsWith('source') === true
  const shares = isEmbedded ? 4 : takesSql ? 1 : 2
  const some = texts.filter((_, index) => index % shares === slot % shares)
  return some.map((text) => text.replaceAll('{other}', schemaOf(victim)))
}

test('every slot takes a right text', async () => {
  for (const [name, right, send] of slots) {
    const { status, text } = await send(right)
    assert.equal(status, name === 'id of a dataset' ? 404 : 200, `${name}: ${text}`)
  }
  timeoutMs = 200
})

let left: unknown
for (const [index, [name, , send]] of slots.entries()) {
  test(`no break-out reads or changes what is another’s: ${name}`, async () => {
    left ??= await state()
    const before = left
    await inParallel(attacksOn(index), async (text) => assertSafe(await send(text), `${name}: ${text}`))
    left = await state()
    assert.deepEqual(left, before)
  })
}

test('the list holds enough attempts to break out of the tenant role', () => assert.ok(breakOuts.length >= 150))
