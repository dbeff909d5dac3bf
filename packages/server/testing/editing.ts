import assert from 'node:assert/strict'
import { ident, sql } from '../src/kernel/db/sql.ts'
import { type Reply, type Tenant, type TestApp, testApp } from './harness.ts'

// What the tests of editing share: a tenant with tables in its schema, and datasets of them.

export type EditWorld = Awaited<ReturnType<typeof editWorld>>

type Request = Parameters<TestApp['call']>[2]

export async function editWorld(tables: string, settings: Record<string, string> = {}) {
  const app = await testApp(settings)
  const tenant: Tenant = await app.tenant('edit')
  const schema = `app_${tenant.id.replaceAll('-', '')}`
  const script = (text: string): Promise<void> =>
    app.db.script(`SET search_path = ${schema}, public; ${text}; RESET search_path`)
  await script(tables)
  const ids = new Map<string, Promise<string>>()
  const call = (method: string, url: string, request: Request = {}): Promise<Reply> =>
    app.call(method, url, { key: tenant.developer, ...request })

  async function make(source: string): Promise<string> {
    const reply = await call('POST', '/api/v1/datasets', { body: { type: 'table', name: source, source } })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.id
  }
  /** The dataset of a table, made when it is first asked for. */
  function dataset(source: string): Promise<string> {
    const known = ids.get(source) ?? make(source)
    ids.set(source, known)
    return known
  }
  const pathOf = async (source: string): Promise<string> => `/api/v1/datasets/${await dataset(source)}/rows`

  return {
    app,
    tenant,
    schema,
    script,
    call,
    dataset,
    pathOf,
    /** Sends rows to a table. */
    insert: async (source: string, body: unknown, query = '', request: Request = {}) =>
      call('POST', `${await pathOf(source)}${query}`, { body, ...request }),
    insertText: async (source: string, text: string, type = 'application/json', query = '') =>
      call('POST', `${await pathOf(source)}${query}`, { raw: text, headers: { 'content-type': type } }),
    async count(table: string): Promise<number> {
      const [row] = await app.db.query<{ n: number }>(sql`SELECT count(*)::int4 AS n FROM ${ident(schema, table)}`)
      return row?.n ?? -1
    },
    async rows(source: string, query = ''): Promise<Record<string, unknown>[]> {
      return (await call('GET', `/api/v1/datasets/${await dataset(source)}/query?${query}`)).body
    },
    close: () => app.close(),
  }
}

/** The faults of a refusal: place and message. */
export const faultsOf = (reply: Reply): string[] =>
  (reply.body.errors ?? []).map(({ path, message }: { path: string; message: string }) => `${path}: ${message}`)
