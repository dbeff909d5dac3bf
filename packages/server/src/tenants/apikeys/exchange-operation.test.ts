import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { createConsoleLink } from '../../boot/start/console-link.ts'
import { sql } from '../../kernel/db/sql.ts'

let app: TestApp
let tenant: Tenant
const log: string[] = []
before(async () => {
  app = await testApp({}, (line) => log.push(line))
  tenant = await app.tenant('links')
})
after(() => app.close())

const path = '/api/v1/auth/exchange'
const exchange = (token: string) => app.call('POST', path, { key: null, body: { token } })

async function newToken(applicationId = tenant.id): Promise<string> {
  const link = await createConsoleLink(app.db, 'http://host', { applicationId, endsAtRestart: false })
  const [, token = ''] = /^http:\/\/host\/console\/#token=([\w-]{43})$/.exec(link ?? '') ?? []
  return token
}

describe('the token of a sign-in link', () => {
  test('gives the developer key of its application, once, and no cache keeps it', async () => {
    const token = await newToken()
    const { status, body, headers } = await exchange(token)
    assert.equal(status, 200)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(body.applicationId, tenant.id)
    const reply = await app.call('GET', '/api/v1/auth/access', { key: body.apiKey })
    assert.deepEqual(reply.body.permissions, { '*': { '*': '*' } })
    const again = await exchange(token)
    assert.equal(again.status, 401)
    assert.match(again.body.detail, /already used or has expired. Run `npm start -- console` for a new one/)
  })

  test('is used once when twenty requests over two replicas come together', async () => {
    const token = await newToken()
    const { http } = await app.replica()
    const elsewhere = async () => (await http.inject({ method: 'POST', url: path, payload: { token } })).statusCode
    const here = async () => (await exchange(token)).status
    const statuses = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? here() : elsewhere())))
    assert.equal(statuses.filter((status) => status === 200).length, 1)
    assert.equal(statuses.filter((status) => status === 401).length, 19)
  })

  test('is refused when it has expired, and when there never was one', async () => {
    const token = await newToken()
    await app.db.query(sql`UPDATE svc.sign_in_links SET expires_at = clock_timestamp() - interval '1 second'`)
    for (const one of [token, randomBytes(32).toString('base64url'), 'x'])
      assert.equal((await exchange(one)).status, 401)
  })

  test('says so when its key was deleted, and there is no link without a developer key', async () => {
    const { body: made } = await app.call('POST', '/api/v1/applications', { body: { name: 'keyless' } })
    const token = await newToken(made.id)
    await app.call('DELETE', `/api/v1/apikeys/${made.keys.developer}`)
    const { status, body } = await exchange(token)
    assert.equal(status, 401)
    assert.match(body.detail, /API key of this sign-in link was deleted/)
    await app.key(made.id, { '*': { '*': '*' } }, { expiresAt: '2999-01-01T00:00:00Z' })
    assert.equal(await newToken(made.id), '', 'a key that ends is none')
    await app.key(made.id, { '*': { '*': '*' } })
    assert.equal((await exchange(await newToken(made.id))).status, 200, 'but a new one without end is')
  })

  test('is kept as a hash only, and stands in no line of the log', async () => {
    const token = await newToken()
    const rows = await app.db.query(sql`SELECT to_jsonb(l)::text AS row FROM svc.sign_in_links l`)
    assert.ok(rows.length > 0 && rows.every(({ row }) => !String(row).includes(token)))
    const { body } = await exchange(token)
    await exchange(token)
    await app.call('POST', path, { key: null, body: { token, more: 1 } })
    const text = log.join('')
    assert.match(text, /auth\/exchange/)
    for (const secret of [token, body.apiKey]) assert.ok(!text.includes(secret))
  })

  test('cannot be guessed at will: an address has a hundred tries in a quarter of an hour', async () => {
    const remoteAddress = '203.0.113.9'
    const guess = async (token = 'guess') =>
      (await app.http.inject({ method: 'POST', url: path, remoteAddress, payload: { token } })).statusCode
    assert.equal(await guess(await newToken()), 200, 'a token that is good is not counted')
    for (let n = 0; n < 100; n++) assert.equal(await guess(), 401)
    assert.equal(await guess(), 429)
    assert.equal(await guess(await newToken()), 429)
    const refused = await app.http.inject({ method: 'POST', url: path, remoteAddress, payload: { token: 'a' } })
    const { limit, limitName } = refused.json()
    assert.deepEqual({ limit, limitName }, { limit: 100, limitName: 'addressFailures' })
  })
})
