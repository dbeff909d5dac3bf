import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type Reply, type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { nameLeaks } from '../../../../testing/hostile/name-leaks.ts'
import { inParallel } from '../../../../testing/in-parallel.ts'
import { raw } from '../../../kernel/db/sql.ts'

const path = '/api/v1/datasets'
const hex = (): string => randomBytes(6).toString('hex')
const schemaOf = (id: string): string => `app_${id.replaceAll('-', '')}`

/** What stands for the placeholders of an attempt. */
type Names = Record<'schema' | 'table' | 'column' | 'class' | 'type' | 'namespace' | 'role', string>

let app: TestApp
let attacker: Tenant
let theirs: Names
let nobodys: Names

before(async () => {
  app = await testApp()
  attacker = await app.tenant('attacker')
  const victim = await app.tenant('victim')
  const [own, schema, table, column] = [
    schemaOf(attacker.id),
    schemaOf(victim.id),
    `canary_${hex()}`,
    `column_${hex()}`,
  ]
  await app.db.script(`
    CREATE TABLE ${schema}.${table} (${column} text, geom geometry(Point, 4326));
    INSERT INTO ${schema}.${table} SELECT 'value', ST_Point(137.731, 61.21937 + i / 1e9, 4326) FROM generate_series(1, 200) i;
    COMMENT ON TABLE ${schema}.${table} IS '${table}';
    ANALYZE ${schema}.${table};
    CREATE TABLE ${own}.own (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
    INSERT INTO ${own}.own VALUES (1, 'one', ST_Point(1, 2, 4326));
    CREATE VIEW ${own}.window AS SELECT ${column} AS text FROM ${schema}.${table} WHERE ${column} > 'a';
    GRANT SELECT ON ALL TABLES IN SCHEMA ${own} TO ${own};`)
  const [numbers] = await app.db.query<Names>(
    raw(`SELECT c.oid::text AS class, c.reltype::text AS type, relnamespace::text AS namespace, '${schema}'::regrole::oid::text AS role
         FROM pg_class c WHERE relname = '${table}'`),
  )
  theirs = { ...(numbers as Names), schema, table, column }
  const none = { schema: schemaOf(randomUUID()), table: `canary_${hex()}`, column: `column_${hex()}` }
  // Above all numbers of the catalog.
  nobodys = { ...none, class: '2000000001', type: '2000000002', namespace: '2000000003', role: '2000000004' }
})
after(() => app.close())

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: attacker.developer, ...request })

const filled = (text: string, names: Names): string =>
  text.replace(/\{(\w+)\}/g, (whole, name) => names[name as keyof Names] ?? whole)

/** The answers to a text as a dataset's source: of its creation, its rows and its plan. */
async function answersTo(body: object): Promise<Reply[]> {
  const created = await call('POST', path, { body: { name: 'leak', ...body } })
  if (created.status !== 201) return [created]
  const { id } = created.body
  const rows = await call('GET', `${path}/${id}/query`)
  const plan = await call('GET', `${path}/${id}/query?explain=true`)
  await call('DELETE', `${path}/${id}`)
  return [created, rows, plan]
}

/** Nothing in it of the names that were put in, of when it was and which request it was. */
function comparable(replies: readonly Reply[], names: Names): string {
  const varying = /"(requestId|id|createdAt|updatedAt|instance|source|etag)":("[^"]*(?:\\.[^"]*)*"|\d+),?/g
  let text = replies
    .map(({ status, body, text }) => `${status} ${JSON.stringify(body) ?? text}`.replace(varying, ''))
    .join('\n')
  for (const [name, value] of Object.entries(names)) text = text.replaceAll(value, `{${name}}`)
  return text
}

function assertSilent(replies: readonly Reply[], sent: string): void {
  for (const { status, text, headers } of replies) {
    // What was sent may come back; what was not sent may not.
    const answer = (text + JSON.stringify(headers)).replaceAll(JSON.stringify(sent).slice(1, -1), '')
    assert.ok(status < 500, `${sent}: ${status} ${text}`)
    for (const name of ['schema', 'table', 'column'] as const) {
      if (!sent.includes(theirs[name])) assert.ok(!answer.includes(theirs[name]), `${sent} tells ${name}: ${answer}`)
    }
    assert.doesNotMatch(answer, /137\.731|61\.2193|permission denied/, `${sent} tells ${answer}`)
  }
}

async function assertSame(bodyOf: (names: Names) => { source: string; type: string }): Promise<void> {
  const [there, absent] = [bodyOf(theirs), bodyOf(nobodys)]
  const found = await answersTo(there)
  const notFound = await answersTo(absent)
  assertSilent(found, there.source)
  assert.equal(comparable(found, theirs), comparable(notFound, nobodys), there.source)
}

test('no SQL tells a table, column or id of another application, nor whether it exists', async () => {
  assert.ok(nameLeaks.length >= 100)
  await inParallel([...nameLeaks], (text) => assertSame((names) => ({ type: 'sql', source: filled(text, names) })))
})

test('an attempt inside of an expression, a sort or a function in FROM tells nothing either', async () => {
  const inner = nameLeaks.flatMap((text) => /^SELECT (.*) AS x$/.exec(text)?.[1] ?? [])
  const places = [
    (text: string) => `SELECT id FROM own WHERE (${text}) IS NOT NULL`,
    (text: string) => `SELECT id FROM own ORDER BY (${text})`,
    (text: string) => `SELECT count(*) FILTER (WHERE (${text})::text <> '') AS n FROM own GROUP BY (${text})`,
    (text: string) => `SELECT x::text FROM own, LATERAL (SELECT (${text})) AS y(x)`,
    (text: string) => `VALUES (row_to_json(row(${text}))::text), (concat(${text}))`,
    (text: string) => `SELECT string_agg((${text})::text, ',') OVER (PARTITION BY (${text})) AS s FROM own`,
  ]
  const attempts = inner.map((text, index) => places[index % places.length]?.(text) ?? text)
  await inParallel(attempts, (text) => assertSame((names) => ({ type: 'sql', source: filled(text, names) })))
})

test('a table dataset on another application’s table is refused like one on a table that is not there', async () => {
  const sources = [
    '{schema}.{table}',
    '"{schema}"."{table}"',
    '{schema}."{table}"',
    '{table}',
    'public.{table}',
    'svc.{table}',
  ]
  for (const source of [...sources, 'pg_catalog.{table}', 'information_schema.{table}']) {
    await assertSame((names) => ({ type: 'table', source: filled(source, names) }))
  }
  for (const source of ['svc.apikeys', 'pg_catalog.pg_class', 'information_schema.tables', 'SVC.apikeys']) {
    const reply = await call('POST', path, { body: { name: 'leak', type: 'table', source } })
    assert.equal(reply.status, 400)
    assert.match(reply.body.detail, /there is no table ".*" that can be read/)
  }
})

test('the plan of a view shows neither the tables behind it, nor their columns and sizes', async () => {
  const { body } = await call('POST', path, { body: { name: 'view', type: 'table', source: 'window' } })
  const reply = await call('GET', `${path}/${body.id}/query?explain=true`)
  assert.equal(reply.status, 200)
  assertSilent([reply], '')
  assert.deepEqual(Object.keys(reply.body.plan[0].Plan), ['Node Type'])
  assert.match((await call('GET', `${path}/${body.id}/query`)).text, /value/)
  const own = await call('POST', path, { body: { name: 'own', type: 'table', source: 'own' } })
  const plan = await call('GET', `${path}/${own.body.id}/query?explain=true`)
  assert.equal(plan.body.plan[0].Plan['Relation Name'], 'own')
})
