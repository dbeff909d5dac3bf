import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { later } from '../../../testing/processes/clock.ts'
import { includesPower } from '../../api/access/acl.ts'
import type { Permissions } from '../../api/access/grants.ts'
import { sql } from '../../kernel/db/sql.ts'

// One database is enough: contract.test.ts lists keys of both; which of them a key may see is compared in memory.

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('keys')
})
after(() => app.close())

const all: Permissions = { '*': { '*': '*' } }
const path = '/api/v1/apikeys'
const mint = (key: string, body: object) =>
  app.call('POST', path, { key, body: { type: 'app', permissions: { styles: { read: '*' } }, ...body } })

describe('who sees which key', () => {
  test('a key that reads and executes everything sees itself and lesser keys, never the developer key', async () => {
    const lesser = await app.key(tenant.id, { styles: { read: '*' } })
    const { body } = await app.call('GET', path, { key: tenant.reader })
    const seen = body.map(({ id }: { id: string }) => id)
    assert.ok(seen.includes(tenant.reader) && seen.includes(lesser))
    assert.ok(!seen.includes(tenant.developer) && !seen.includes(app.master))
  })

  test('a greater key answers as one that never was: get, delete, metadata', async () => {
    const writer = await app.key(tenant.id, { apikeys: { '*': '*' } })
    for (const id of [tenant.developer, app.master, randomUUID()]) {
      assert.equal((await app.call('GET', `${path}/${id}`, { key: writer })).status, 404)
      assert.equal((await app.call('DELETE', `${path}/${id}`, { key: writer })).status, 404)
      assert.equal((await app.call('GET', `${path}/${id}/metadata`, { key: writer })).status, 404)
      assert.equal((await app.call('PUT', `${path}/${id}/metadata`, { key: writer, body: {} })).status, 404)
    }
    assert.equal((await app.call('GET', '/api/v1/config', { key: tenant.developer })).status, 200)
  })

  test('the total counts only what is seen, on every page', async () => {
    const { headers, body } = await app.call('GET', `${path}?limit=1`, { key: tenant.reader })
    const whole = await app.call('GET', path, { key: tenant.reader })
    assert.equal(body.length, 1)
    assert.equal(headers['x-total-count'], String(whole.body.length))
  })

  test('keys of any two ACLs show each other exactly when one includes the other', async () => {
    const ids = [randomUUID(), randomUUID()]
    const grant = fc.oneof(fc.constant('*' as const), fc.subarray(ids))
    const acl = fc
      .dictionary(
        fc.constantFrom('*', 'datasets', 'apikeys'),
        fc.dictionary(fc.constantFrom('*', 'read', 'write', 'append'), grant),
      )
      .map(({ apikeys: { append: _, ...apikeys } = {}, ...others }) => ({ ...others, apikeys }))
    await fc.assert(
      fc.asyncProperty(acl, acl, async (mine, theirs) => {
        const owner = await app.tenant('pair')
        // Reading keys is what the test needs; the rest is as drawn.
        const permissions = { ...mine, apikeys: { ...mine.apikeys, read: '*' } } as Permissions
        const key = await app.key(owner.id, permissions)
        const other = await app.key(owner.id, theirs as Permissions)
        const power = {
          type: 'app',
          applicationId: owner.id,
          userId: null,
          expiresAt: null,
          allowedOrigins: null,
        } as const
        const expected = includesPower({ ...power, permissions }, { ...power, permissions: theirs as Permissions })
        assert.equal((await app.call('GET', `${path}/${other}`, { key })).status, expected ? 200 : 404)
      }),
      { numRuns: 60 },
    )
  })
})

describe('minting', () => {
  test('a key mints no more than itself: type, grants, life, origins', async () => {
    const limited = await app.key(
      tenant.id,
      { apikeys: { '*': '*' }, styles: { read: '*' } },
      {
        expiresAt: '2100-01-01T00:00:00Z',
        allowedOrigins: ['https://a.example'],
      },
    )
    const headers = { origin: 'https://a.example' }
    const attempt = (body: object) =>
      app.call('POST', path, {
        key: limited,
        headers,
        body: { type: 'app', permissions: { styles: { read: '*' } }, ...body },
      })
    const inside = { expiresAt: '2099-01-01T00:00:00Z', allowedOrigins: ['https://a.example'] }
    assert.equal((await attempt(inside)).status, 201)
    assert.equal((await attempt({ ...inside, type: 'master' })).status, 401)
    assert.equal((await attempt({ ...inside, permissions: { styles: { write: '*' } } })).status, 401)
    assert.equal((await attempt({ ...inside, permissions: all })).status, 401)
    for (const expiresAt of ['2101-01-01T00:00:00Z', undefined]) {
      const { status, body } = await attempt({ ...inside, expiresAt })
      assert.equal(status, 401)
      assert.match(body.detail, /^A key cannot outlive .* at the latest 2100-01-01T00:00:00\.000Z\.$/)
    }
    assert.equal((await attempt({ ...inside, allowedOrigins: undefined })).status, 401)
    const elsewhere = await attempt({ ...inside, allowedOrigins: ['https://b.example'] })
    assert.equal(elsewhere.status, 401)
    assert.match(elsewhere.body.detail, /give allowedOrigins, of https:\/\/a\.example\.$/)
  })

  test('inclusion is by meaning: all levels one by one are the same as *', async () => {
    const key = await app.key(tenant.id, { apikeys: { '*': '*' }, styles: { read: '*', write: ['*'], execute: '*' } })
    assert.equal((await mint(key, { permissions: { styles: { '*': '*' } } })).status, 201)
  })

  test('a key with write mints one with append, never the other way round', async () => {
    const [one, other] = [randomUUID(), randomUUID()]
    const append = (ids: readonly string[]) => ({ permissions: { datasets: { append: ids } } })
    const writer = await app.key(tenant.id, { apikeys: { write: '*' }, datasets: { write: [one] } })
    const appender = await app.key(tenant.id, { apikeys: { write: '*' }, datasets: { append: [one] } })
    for (const key of [writer, appender]) {
      assert.equal((await mint(key, append([one]))).status, 201)
      assert.equal((await mint(key, append([one, other]))).status, 401)
      assert.equal((await mint(key, append(['*']))).status, 401)
    }
    assert.equal((await mint(appender, { permissions: { datasets: { write: [one] } } })).status, 401)
    assert.equal((await mint(tenant.developer, { permissions: { '*': { append: '*' } } })).status, 201)
  })

  test('an entry that shadows a wildcard counts', async () => {
    const key = await app.key(tenant.id, { '*': { '*': '*' }, styles: { write: [] } })
    assert.equal((await mint(key, { permissions: all })).status, 401)
    assert.equal((await mint(key, { permissions: { '*': { '*': '*' }, styles: { write: [] } } })).status, 201)
  })

  test('only master keys mint master keys, and for any application', async () => {
    assert.equal((await mint(tenant.developer, { type: 'master', permissions: all })).status, 401)
    assert.equal((await mint(app.master, { type: 'master', permissions: all })).status, 201)
    const other = await app.tenant('other')
    const made = await mint(tenant.developer, { applicationId: other.id })
    assert.equal(made.body.applicationId, tenant.id, 'for other keys the body’s word is overwritten')
    assert.equal((await mint(app.master, { applicationId: other.id })).body.applicationId, other.id)
    assert.equal((await mint(app.master, { applicationId: randomUUID() })).status, 400)
  })

  test('unknown classes, levels and types are named', async () => {
    for (const [body, place] of [
      [{ permissions: { nothing: { read: '*' } } }, 'body/permissions/nothing'],
      [{ permissions: { styles: { own: '*' } } }, 'body/permissions/styles/own'],
      [{ permissions: { styles: { append: '*' } } }, 'body/permissions/styles/append'],
      [{ type: 'root' }, 'body/type'],
      [{ expiresAt: '2001-01-01T00:00:00Z' }, 'body/expiresAt'],
      [{ userId: 5 }, 'body/userId'],
    ] as const) {
      const reply = await mint(tenant.developer, body)
      assert.equal(reply.status, 400)
      assert.equal(reply.body.errors[0].path, place)
    }
  })
})

describe('the life of a key', () => {
  test('a key cannot be changed', async () => {
    for (const method of ['PUT', 'PATCH']) {
      const reply = await app.call(method, `${path}/${tenant.public}`, { body: {} })
      assert.equal(reply.status, 405)
      assert.equal(reply.headers.allow, 'GET, HEAD, DELETE, OPTIONS')
    }
  })

  test('a deleted key is refused at once, one deleted elsewhere within a second', async () => {
    const here = await app.key(tenant.id, all)
    const elsewhere = await app.key(tenant.id, all)
    for (const key of [here, elsewhere]) assert.equal((await app.call('GET', '/api/v1/config', { key })).status, 200)
    await app.call('DELETE', `${path}/${here}`)
    assert.equal((await app.call('GET', '/api/v1/config', { key: here })).status, 401)

    // As another replica would: past this one's cache.
    const [row] = await app.db.query(sql`SELECT hash FROM svc.apikeys ORDER BY created_at DESC LIMIT 1`)
    await app.db.query(sql`DELETE FROM svc.apikeys WHERE hash = ${row?.hash as Uint8Array}`)
    later(1_000)
    assert.equal((await app.call('GET', '/api/v1/config', { key: elsewhere })).status, 401)
  })

  test('an expired key is refused, and is told when it expired', async () => {
    const key = await app.key(tenant.id, all, { expiresAt: '2100-01-01T00:00:00Z' })
    await app.db.query(
      sql`UPDATE svc.apikeys SET expires_at = '2026-01-31T12:00:00Z' WHERE expires_at = '2100-01-01T00:00:00Z'`,
    )
    for (const url of ['/api/v1/config', '/api/v1/config']) {
      const { status, body } = await app.call('GET', url, { key })
      assert.equal(status, 401)
      assert.match(body.detail, /^The API key expired at 2026-01-31T12:00:00\.000Z\./)
    }
    const unknown = await app.call('GET', '/api/v1/config', { key: randomUUID() })
    assert.equal(unknown.body.detail, 'The API key is not valid.')
  })

  test('a key for one origin works from there alone', async () => {
    const key = await app.key(tenant.id, all, { allowedOrigins: ['https://maps.example'] })
    const status = async (headers: Record<string, string>) =>
      (await app.call('GET', '/api/v1/config', { key, headers })).status
    assert.equal(await status({ origin: 'https://maps.example' }), 200)
    assert.equal(await status({ referer: 'https://maps.example/page?x' }), 200)
    assert.equal(await status({ origin: 'https://evil.example', referer: 'https://maps.example/' }), 401)
    assert.equal(await status({}), 401)
  })

  test('the last master key stays', async () => {
    const { body } = await app.call('GET', `${path}?filter[type]=master`)
    for (const { id } of body) if (id !== app.master) await app.call('DELETE', `${path}/${id}`)
    const reply = await app.call('DELETE', `${path}/${app.master}`)
    assert.equal(reply.status, 409)
    assert.equal((await app.call('GET', '/api/v1/config')).status, 200)
  })

  test('two master keys deleted at once leave one', async () => {
    const second = (await mint(app.master, { type: 'master', permissions: all })).body.id
    const replies = await Promise.all(
      [app.master, second].map((id) => app.call('DELETE', `${path}/${id}`, { key: second })),
    )
    assert.deepEqual(replies.map(({ status }) => status).filter((status) => status === 200).length, 1)
    const [left] = await app.db.query(sql`SELECT count(*) AS n FROM svc.apikeys WHERE type = 'master'`)
    assert.equal(Number(left?.n), 1)
  })

  test('the database holds no key in plain text', async () => {
    const rows = await app.db.query(sql`SELECT k::text AS text FROM svc.apikeys k`)
    assert.ok(rows.length > 0)
    for (const { text } of rows) {
      for (const key of [app.master, tenant.developer, tenant.public]) assert.ok(!String(text).includes(key))
    }
  })
})
