import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { TObject } from 'typebox'
import type { DeclaredOperation } from '../src/api/http/operation.ts'
import { sql } from '../src/kernel/db/sql.ts'
import { operations } from '../src/operations.ts'
import { type Tenant, type TestApp, testApp } from '../testing/harness.ts'
import { uploadRecord } from '../testing/uploads/upload-record.ts'

// Every field of every body gets values at and beyond the limits of PostgreSQL: a new resource needs no line here.

let app: TestApp
let own: Tenant
before(async () => {
  app = await testApp()
  own = await app.tenant('own')
})
after(() => app.close())

/** Text that cannot be compressed: an index holds no more than 2704 bytes of it. */
const noise = (bytes: number): string => randomBytes(bytes / 2).toString('hex')
const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)
const extremes: readonly unknown[] = [
  ...[noise(6_000), noise(300_000), 'a\0b', { 'a\0b': 1 }, '\ud800', ''],
  ...[2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 63, 1e300, 5e-324],
  ...['294277-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '-4714-01-01T00:00:00Z', '9999-12-31T23:59:59Z', 'infinity'],
  ...[nested(60), { a: noise(70_000) }, { [noise(6_000)]: 1 }, Array.from({ length: 3_000 }, () => noise(40))],
  null,
]

const bodies = operations.filter(
  ({ body, method }) => body && (method === 'POST' || method === 'PUT' || method === 'PATCH'),
)
const isAboutRecord = ({ path }: DeclaredOperation): boolean => path.endsWith('/{id}') && !path.includes('appconfig')

const exampleOf = ({ body }: DeclaredOperation): unknown => ((body as { examples?: unknown[] }).examples ?? [])[0] ?? {}

/** The id of a record for operations that are about one. */
async function recordFor(operation: DeclaredOperation): Promise<string> {
  const base = operation.path.split('/{id}')[0] ?? ''
  if (base === '/api/v1/applications') return own.id
  if (base === '/api/v1/uploads') return uploadRecord(app.db, own.id, 'a', {})
  const creator = operations.find(({ method, path }) => method === 'POST' && path === base)
  if (!creator) return randomUUID()
  const body = withOwnAddress(exampleOf(creator))
  return (await app.call('POST', base, { key: own.developer, body })).body?.id ?? randomUUID()
}

const withOwnAddress = (example: unknown): unknown =>
  typeof example === 'object' && example && 'email' in example
    ? { ...example, email: `${randomUUID()}@example.org` }
    : example

/** On the embedded database, which takes three times as long, each operation gets an eighth of them, and together they get all. */
function extremesFor(operation: DeclaredOperation): readonly unknown[] {
  if (process.env.TEST_DATABASE_URL) return extremes
  const place = bodies.findIndex(({ id }) => id === operation.id)
  return extremes.filter((_, index) => index % 8 === place % 8)
}

/** Each body with one field changed, and the whole body where it may be anything. */
function* changedBodies(operation: DeclaredOperation): Generator<unknown> {
  const properties = Object.keys((operation.body as TObject).properties ?? {})
  for (const extreme of extremesFor(operation)) {
    if (properties.length === 0) yield extreme
    for (const name of properties) yield { ...(withOwnAddress(exampleOf(operation)) as object), [name]: extreme }
  }
}

describe('a value that the database cannot hold is refused, not a fault of the server', () => {
  for (const operation of bodies) {
    test(operation.id, async () => {
      const id = isAboutRecord(operation) || operation.path.includes('{id}/') ? await recordFor(operation) : 'theme'
      const url = operation.path.replace('{id}', id).replace(/\{\w+\}/g, 'colour')
      const isMaster = typeof operation.access === 'object' && operation.access.master
      for (const body of changedBodies(operation)) {
        const { status, text } = await app.call(operation.method, url, {
          key: isMaster ? app.master : own.developer,
          body,
        })
        // No process serves the agents.
        const isFine = status < 500 || status === 503 || operation.failures?.includes(status)
        assert.ok(isFine && status !== 500, `${JSON.stringify(body).slice(0, 300)}: ${text}`)
      }
    })
  }

  for (const operation of operations.filter(({ id }) => id.endsWith('.list'))) {
    test(`${operation.id} with a filter`, async () => {
      const { items } = operation.success.schema as unknown as { items: Partial<TObject> }
      const texts = ['9223372036854775808', '1e300', '-1', 'infinity', '294277-01-01T00:00:00Z', noise(6_000)]
      for (const [place, name] of Object.keys(items.properties ?? {}).entries()) {
        // Neighbouring fields get different ones on the embedded database.
        const some = texts.filter((_, index) => process.env.TEST_DATABASE_URL || index % 3 === place % 3)
        for (const text of some) {
          const url = `${operation.path}?filter[${name}]=${encodeURIComponent(text)}`
          assert.ok((await app.call('GET', url)).status < 500, url.slice(0, 200))
        }
      }
    })
  }

  test('a configuration of 3 MB is too large in each of its forms', async () => {
    const config = { text: noise(3_000_000) }
    for (const [method, path, body] of [
      ['POST', '', { config }],
      ['PUT', '', config],
      ['PUT', '/a.key', config],
      ['PUT', `/${own.id}`, { config }],
    ] as const) {
      const { status } = await app.call(method, `/api/v1/appconfig${path}`, { key: own.developer, body })
      assert.equal(status, 413, `${method} ${path}`)
    }
  })
})

test('every CHECK on a size has words for the client', async () => {
  const rows = await app.db.query<{ name: string }>(sql`
    SELECT DISTINCT conname AS name FROM pg_constraint
    WHERE contype = 'c' AND connamespace = 'svc'::regnamespace AND pg_get_constraintdef(oid) LIKE '%length(%'`)
  assert.deepEqual(rows.map(({ name }) => name).sort(), ['config_size', 'metadata_size', 'picture_size'])
})
