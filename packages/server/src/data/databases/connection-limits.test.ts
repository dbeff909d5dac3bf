import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { sql } from '../../kernel/db/sql.ts'

const skip = process.env.TEST_DATABASE_URL === undefined ? 'the embedded database has one session' : false
const tenantConnections = 16

describe('the connections of all applications', { skip }, () => {
  let app: TestApp
  const tenants: (Tenant & { many: string; few: string })[] = []
  const held: IncomingMessage[] = []
  before(async () => {
    app = await testApp({ TENANT_CONNECTIONS: String(tenantConnections), STREAMS_PER_APPLICATION: '16' })
    await app.http.listen({ port: 0, host: '127.0.0.1' })
    for (let index = 0; index < 8; index++) {
      const tenant = await app.tenant(`tenant ${index}`)
      const create = async (rows: number) => {
        const source = `SELECT g AS id, repeat('x', 1000) AS t FROM generate_series(1, ${rows}) g`
        const body = { type: 'sql', name: 'a', source }
        return (await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })).body.id as string
      }
      tenants.push({ ...tenant, many: await create(1_000_000), few: await create(3) })
    }
  })
  after(async () => {
    for (const answer of held) answer.destroy()
    for (const { id } of tenants) await app.call('DELETE', `/api/v1/applications/${id}`)
    await app?.close()
  })

  /** An answer of which nothing is read. */
  function open(id: string, key: string): Promise<IncomingMessage> {
    const { port } = app.http.server.address() as AddressInfo
    const headers = { 'x-api-key': key }
    return new Promise((resolve, reject) => {
      get({ port, host: '127.0.0.1', path: `/api/v1/datasets/${id}/query`, headers, agent: false }, (answer) => {
        held.push(answer)
        resolve(answer)
      }).on('error', reject)
    })
  }

  async function inUse(): Promise<number> {
    const [row] = await app.db.query<{ n: number }>(sql`SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND usename LIKE 'app\\_%'`)
    return row?.n ?? 0
  }

  test('are bounded and shared fairly: slow readers of seven applications leave room for the eighth', async () => {
    const statuses: (number | undefined)[] = []
    for (const { many, developer } of tenants.slice(0, 7)) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => open(many, developer)))
      statuses.push(...answers.map(({ statusCode }) => statusCode))
      assert.ok((await inUse()) <= tenantConnections, `${await inUse()} connections`)
    }
    assert.equal(statuses.filter((status) => status !== 200 && status !== 429).length, 0, String(statuses))
    assert.equal(statuses[0], 200)
    // One that holds connections already is told its limit; one that holds none is answered.
    const [first, last] = [tenants[0], tenants[7]]
    const refused = await app.call('GET', `/api/v1/datasets/${first?.few}/query`, { key: first?.developer ?? '' })
    assert.equal(refused.status, 429, refused.text)
    assert.match(
      refused.body.detail,
      /^This application already runs \d+ queries, its limit\. Try again in a moment\.$/,
    )
    assert.ok(refused.headers['retry-after'])
    const { limit, limitName } = refused.body
    assert.deepEqual({ limitName, isNumber: limit > 0 }, { limitName: 'queryConnections', isNumber: true })
    const served = await app.call('GET', `/api/v1/datasets/${last?.few}/query`, { key: last?.developer ?? '' })
    assert.equal(served.status, 200, served.text)
    assert.equal(served.body.length, 3)
  })

  test('are few for one role, over all replicas', async () => {
    const rows = await app.db.query<{ n: number }>(
      sql`SELECT rolconnlimit AS n FROM pg_roles WHERE rolname = ${`app_${tenants[0]?.id.replaceAll('-', '')}`}`,
    )
    assert.deepEqual(rows, [{ n: 40 }])
  })
})
