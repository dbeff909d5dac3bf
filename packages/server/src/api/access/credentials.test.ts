import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { runningQueries } from '../../../testing/processes/running-queries.ts'
import { until } from '../../../testing/until.ts'
import { createToolTokens } from '../../agents/mcp/tool-token.ts'
import { sql } from '../../kernel/db/sql.ts'
import { createKeyCache } from './key-cache.ts'

// One database is enough: who a credential belongs to is looked up by statements that contract.test.ts sends to both.

let app: TestApp
let own: Tenant
before(async () => {
  app = await testApp()
  own = await app.tenant('own')
})
after(() => app.close())

const config = '/api/v1/config'
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const statusOf = async (headers: Record<string, string>, url = config) =>
  (await app.call('GET', url, { key: null, headers })).status

describe('an API key in Authorization', () => {
  test('is accepted as Bearer, in either header and beside the same key elsewhere', async () => {
    const authorization = `Bearer ${own.public}`
    assert.equal(await statusOf({ authorization }), 200)
    assert.equal(await statusOf({ authentication: authorization.toUpperCase() }), 200)
    assert.equal(await statusOf({ authorization, 'x-api-key': own.public }), 200)
    assert.equal(await statusOf({ authorization }, `${config}?api-key=${own.public}`), 200)
  })

  test('is accepted as the password of Basic, or as the user name without a password', async () => {
    for (const text of [`:${own.public}`, `anybody:${own.public}`, `${own.public}:`, own.public]) {
      assert.equal(await statusOf({ authorization: basic(text) }), 200, text)
    }
  })

  test('grants what the key grants, and is no access token', async () => {
    for (const authorization of [`Bearer ${own.public}`, basic(`:${own.public}`)]) {
      const body = { name: 'x' }
      const write = await app.call('POST', '/api/v1/contactpoints', { key: null, headers: { authorization }, body })
      assert.equal(write.status, 401)
      assert.equal(await statusOf({ authorization }, '/api/v1/auth/users/me'), 401)
    }
  })

  test('says what may be done when an access token beside it says who asks', async () => {
    const { accessToken } = await app.login(await app.user(own.id))
    const headers = { authorization: `Bearer ${own.developer}`, authentication: `Bearer ${accessToken}` }
    assert.equal(await statusOf(headers, '/api/v1/auth/users/me'), 200)
  })

  test('that is unknown, or another than elsewhere in the request, is refused', async () => {
    for (const authorization of [`Bearer ${randomUUID()}`, basic(`:${randomUUID()}`), basic('user:secret'), 'Basic']) {
      const reply = await app.call('GET', config, { key: null, headers: { authorization } })
      assert.equal(reply.status, 401, authorization)
      assert.ok(reply.headers['www-authenticate'])
    }
    for (const authorization of [`Bearer ${own.developer}`, basic(`:${own.developer}`)]) {
      assert.equal(await statusOf({ authorization, 'x-api-key': own.public }), 401)
    }
  })
})

describe('the tool token of an invocation', () => {
  const call = (token: string, params: object, method = 'tools/call') =>
    app.call('POST', '/api/v1/mcp', {
      key: null,
      headers: { authorization: `Bearer ${token}` },
      body: { jsonrpc: '2.0', id: 1, method, params },
    })

  async function issue(): Promise<{ token: string; invocationId: string }> {
    const agent = await app.call('POST', '/api/v1/agents', { key: own.developer, body: { name: 'a' } })
    assert.equal(agent.status, 201, agent.text)
    const found = await createKeyCache(app.db, () => {}).find(own.public)
    assert.ok(found)
    const invocationId = randomUUID()
    const token = createToolTokens(app.secrets).issue({
      invocationId,
      agentId: agent.body.id,
      caller: { ...found, keyExpiresAt: null, everyApplication: false, bearer: null },
      applicationId: own.id,
      datasetIds: null,
      expiresAt: new Date(Date.now() + 600_000),
    })
    return { token, invocationId }
  }

  const finish = (invocationId: string) =>
    app.db.query(sql`
      INSERT INTO svc.agent_invocations (id, agent_id, application_id, created_at, replica_id, mode, status, input_bytes)
      VALUES (${invocationId}::uuid, ${randomUUID()}::uuid, ${own.id}::uuid, now(), ${randomUUID()}::uuid, 'invoke', 'succeeded', 1)`)

  test('is enough alone to use the tools, and for nothing else', async () => {
    const { token, invocationId } = await issue()
    assert.equal((await call(token, {}, 'tools/list')).status, 200)
    for (const url of [config, '/api/v1/datasets']) {
      assert.equal(await statusOf({ authorization: `Bearer ${token}` }, url), 401)
    }
    assert.equal((await call(`${token.slice(0, -2)}xx`, {}, 'tools/list')).status, 401)
    await finish(invocationId)
    const over = await call(token, {}, 'tools/list')
    assert.equal(over.status, 401)
    assert.match(String(over.headers['www-authenticate']), /invalid_token/)
  })

  test('keeps a tool at work no longer than the invocation lasts', async () => {
    const source = 'SELECT count(*) AS n FROM generate_series(1, 100000) a, generate_series(1, 1000000) b'
    const body = { type: 'sql', name: 'slow', source }
    const dataset = await app.call('POST', '/api/v1/datasets', { key: own.developer, body })
    assert.equal(dataset.status, 201, dataset.text)
    const { token, invocationId } = await issue()
    const asked = call(token, { name: 'query_dataset', arguments: { datasetId: dataset.body.id } })
    // The embedded database shows nothing of a query that has no row yet.
    if (app.db.kind === 'postgres') await until(async () => (await runningQueries(app.admin)) > 0)
    await finish(invocationId)
    const reply = await asked
    assert.equal(reply.status, 401, reply.text)
    assert.match(reply.body.detail, /invocation/)
  })
})
