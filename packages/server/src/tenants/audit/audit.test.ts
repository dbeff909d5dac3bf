import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type Reply, type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { keyFingerprint } from '../../api/access/audit-trail.ts'
import { runCommand } from '../../boot/commands/commands.ts'
import { sql } from '../../kernel/db/sql.ts'
import { sweepAudit } from './retention.ts'

let app: TestApp
let own: Tenant
let foreign: Tenant
before(async () => {
  app = await testApp({ TRUST_PROXY: 'true' })
  own = await app.tenant('own')
  foreign = await app.tenant('foreign')
})
after(() => app.close())

const path = '/api/v1/audit'
const styleOf = (name: string) => ({ name, type: 'plain', style: { version: 8, sources: {}, layers: [] } })

/** The entries of the request that was answered so, as a key sees them. */
async function entriesOf(reply: Reply, key: string = app.master) {
  const id = String(reply.headers['x-request-id'])
  const { status, body, text } = await app.call('GET', `${path}?filter[requestId]=${id}`, { key })
  assert.equal(status, 200, text)
  return body
}

async function createStyle(name: string, key = own.developer): Promise<string> {
  const { status, body, text } = await app.call('POST', '/api/v1/styles', { key, body: styleOf(name) })
  assert.equal(status, 201, text)
  return body.id
}

test('an entry says who did what to which record, from where, and which fields changed', async () => {
  const id = await createStyle('Harbour')
  const reply = await app.call('PATCH', `/api/v1/styles/${id}`, {
    key: own.developer,
    body: { name: 'Harbour at night', description: '' },
    headers: { 'user-agent': 'a browser', 'x-forwarded-for': '203.0.113.7' },
  })
  const [{ id: entryId, at, ...entry }, ...others] = await entriesOf(reply, own.developer)
  assert.equal(others.length, 0)
  assert.match(entryId, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  assert.ok(Math.abs(Date.now() - Date.parse(at)) < 60_000)
  assert.deepEqual(entry, {
    applicationId: own.id,
    actorType: 'key',
    actorId: keyFingerprint(own.developer),
    userId: null,
    action: 'styles.patch',
    targetType: 'styles',
    targetId: id,
    targetName: 'Harbour at night',
    status: 200,
    requestId: reply.headers['x-request-id'],
    address: '203.0.113.7',
    userAgent: 'a browser',
    changed: ['name'],
  })
})

test('what a master key does to a record is in the log of its application, without the operator’s address', async () => {
  const id = await createStyle('Pier')
  const reply = await app.call('DELETE', `/api/v1/styles/${id}`)
  const [seen] = await entriesOf(reply, own.developer)
  assert.deepEqual([seen.actorType, seen.targetId, seen.targetName, seen.address], ['master', id, 'Pier', null])
  const [whole] = await entriesOf(reply)
  assert.equal(whole.address, '127.0.0.1')
  const byAddress = await app.call('GET', `${path}?filter[address]=127.0.0.1&filter[targetId]=${id}`, {
    key: own.developer,
  })
  assert.deepEqual(
    byAddress.body.map(({ action }: { action: string }) => action),
    ['styles.create'],
  )
})

test('a change that fails has an entry with the status of the failure only', async () => {
  const id = await createStyle('Quay')
  const patch = { key: own.developer, body: { name: 'Wharf' }, headers: { 'if-match': '"999"' } }
  const statuses = async (reply: Reply) => (await entriesOf(reply)).map(({ status }: { status: number }) => status)
  assert.deepEqual(await statuses(await app.call('PATCH', `/api/v1/styles/${id}`, patch)), [412])
  const wrong = { key: own.developer, body: { name: 7 } }
  assert.deepEqual(await statuses(await app.call('PATCH', `/api/v1/styles/${id}`, wrong)), [400])
  assert.deepEqual(await statuses(await app.call('DELETE', `/api/v1/styles/${id}`, { key: own.public })), [401])
  const absent = await app.call('DELETE', `/api/v1/styles/${randomUUID()}`, { key: own.developer })
  assert.deepEqual(await statuses(absent), [404])
})

test('a change that is rolled back after its entry was written leaves no entry of success', async () => {
  const { db } = app
  await db.script(`CREATE FUNCTION svc.refuse_style() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.name = 'refused' THEN RAISE EXCEPTION 'no'; END IF; RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER refuse_style AFTER INSERT ON svc.styles DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION svc.refuse_style()`)
  const reply = await app.call('POST', '/api/v1/styles', { key: own.developer, body: styleOf('refused') })
  await db.script('DROP TRIGGER refuse_style ON svc.styles; DROP FUNCTION svc.refuse_style()')
  assert.equal(reply.status, 500)
  assert.deepEqual(
    (await entriesOf(reply)).map(({ status }: { status: number }) => status),
    [500],
  )
})

test('strangers leave no entries, and one key only so many refusals in a minute', async () => {
  const count = async () => Number((await app.db.query(sql`SELECT count(*) AS n FROM svc.audit`))[0]?.n)
  await app.services.audit.flush()
  const before = await count()
  const nowhere = { email: 'a@example.org', password: 'wrong one', applicationId: randomUUID() }
  for (const key of [null, 'nonsense', randomUUID()]) await app.call('POST', '/api/v1/styles', { key, body: {} })
  await app.call('POST', '/api/v1/auth/login', { key: null, body: nowhere })
  await app.call('POST', '/api/v1/auth/exchange', { key: null, body: { token: 'no token' } })
  await app.services.audit.flush()
  assert.equal(await count(), before)
  const key = await app.key(own.id, { styles: { read: '*' } })
  const made = await count()
  for (let index = 0; index < 130; index++) await app.call('POST', '/api/v1/styles', { key, body: {} })
  await app.services.audit.flush()
  const left = (await count()) - made
  // More than 60 only where a new minute began in between.
  assert.ok(left >= 60 && left <= 120, `${left} of 130`)
})

test('logins, failed ones too, say whose account it was, and whose application', async () => {
  const user = await app.user(own.id)
  const { email, applicationId } = user
  const login = (password: string) =>
    app.call('POST', '/api/v1/auth/login', { key: null, body: { email, password, applicationId } })
  const [failed] = await entriesOf(await login('not the password'), own.developer)
  assert.deepEqual(
    [failed.actorType, failed.userId, failed.targetType, failed.targetId, failed.status],
    ['anonymous', null, 'users', user.id, 401],
  )
  const reply = await login(user.password)
  const [begun] = await entriesOf(reply, own.developer)
  assert.deepEqual([begun.actorType, begun.userId, begun.status], ['user', Number(user.id), 200])
  const key = await app.key(own.id, { auth: { execute: '*' } })
  const headers = { authorization: `Bearer ${reply.body.accessToken}` }
  const body = { refreshToken: reply.body.refreshToken }
  const [ended] = await entriesOf(await app.call('POST', '/api/v1/auth/logout', { key, headers, body }))
  assert.deepEqual(
    [ended.actorType, ended.actorId, ended.userId, ended.targetId],
    ['user', keyFingerprint(key), Number(user.id), user.id],
  )
})

test('only write access to the application opens the log, and only that of the own one', async () => {
  const reply = await app.call('PATCH', `/api/v1/styles/${await createStyle('Lock')}`, {
    key: own.developer,
    body: { name: 'Sluice' },
  })
  assert.equal((await entriesOf(reply, own.developer)).length, 1)
  assert.equal((await entriesOf(reply, foreign.developer)).length, 0)
  const seen = await app.call('GET', `${path}?limit=10000`, { key: foreign.developer })
  assert.ok(seen.body.length > 0)
  for (const { applicationId } of seen.body) assert.equal(applicationId, foreign.id)
  const refused = [
    own.public,
    await app.key(own.id, { applications: { read: '*', execute: '*' } }),
    await app.key(own.id, { applications: { write: [foreign.id] } }),
    null,
  ]
  for (const key of refused) assert.equal((await app.call('GET', path, { key })).status, 401)
  const listed = await app.key(own.id, { applications: { write: [own.id] } })
  assert.equal((await entriesOf(reply, listed)).length, 1)
  const chosen = await app.call('GET', path, { headers: { 'x-application-id': foreign.id } })
  assert.ok(chosen.body.length > 0)
  for (const { applicationId } of chosen.body) assert.equal(applicationId, foreign.id)
})

test('a key of type user reads what its user did', async () => {
  const user = await app.user(own.id)
  const key = await app.key(own.id, { '*': { '*': '*' } }, { type: 'user', userId: user.id })
  await app.login(user)
  const { status, body } = await app.call('GET', path, { key })
  assert.equal(status, 200)
  assert.deepEqual(new Set(body.map(({ userId }: { userId: number }) => userId)), new Set([Number(user.id)]))
})

test('pages follow each other by their Link, and neither repeat nor skip an entry', async () => {
  const tenant = await app.tenant('pages')
  for (let index = 0; index < 7; index++) await createStyle(`${index}`, tenant.developer)
  const whole = await app.call('GET', path, { key: tenant.developer })
  const walk = async (url: string): Promise<string[]> => {
    const { body, headers } = await app.call('GET', url, { key: tenant.developer })
    const [, next] = /<([^>]+)>; rel="next"/.exec(String(headers.link)) ?? []
    return [...body.map(({ id }: { id: string }) => id), ...(next ? await walk(next) : [])]
  }
  const ids = whole.body.map(({ id }: { id: string }) => id)
  assert.ok(ids.length >= 10)
  assert.deepEqual(await walk(`${path}?limit=3`), ids)
  assert.deepEqual(await walk(`${path}?limit=4&sort=at`), ids.toReversed())
  assert.deepEqual(await walk(`${path}?limit=${ids.length}`), ids)
  assert.equal((await app.call('GET', `${path}?limit=0`, { key: tenant.developer })).text, '[]')
  for (const query of ['cursor=1', 'cursor=1.x', 'sort=action', 'fields=secret', 'filter[nothing]=1', 'offset=1'])
    assert.equal((await app.call('GET', `${path}?${query}`)).status, 400, query)
})

test('an export streams a range of time as lines of JSON or CSV, in which no text is a formula', async () => {
  const tenant = await app.tenant('exports')
  const headers = { 'user-agent': '=cmd|calc!A1' }
  await app.call('POST', '/api/v1/styles', { key: tenant.developer, body: styleOf('a, "b"'), headers })
  const range = `filter[at][$between]=${new Date(Date.now() - 3_600_000).toISOString()},2100-01-01T00:00:00Z`
  const { body } = await app.call('GET', path, { key: tenant.developer })
  const linesOf = async (query: string) => {
    const url = `${path}?format=ndjson&${query}`
    const { payload } = await app.http.inject({ method: 'GET', url, headers: { 'x-api-key': tenant.developer } })
    return payload.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []))
  }
  assert.deepEqual(await linesOf(range), body)
  assert.deepEqual(await linesOf('limit=2'), body.slice(0, 2))
  assert.deepEqual(await linesOf('filter[at][$gt]=2100-01-01T00:00:00Z'), [])
  const csv = await app.call('GET', `${path}?format=csv&fields=action,targetName,userAgent,changed&limit=1`, {
    key: tenant.developer,
  })
  assert.match(String(csv.headers['content-disposition']), /audit\.csv/)
  assert.equal(
    csv.text,
    'action,targetName,userAgent,changed\r\nstyles.create,"a, ""b""",\'=cmd|calc!A1,name type style\r\n',
  )
})

test('an entry can neither be changed nor deleted, but by retention, and not by that in its first day', async () => {
  const { db } = app
  for (const statement of ['UPDATE svc.audit SET action = NULL', 'DELETE FROM svc.audit', 'TRUNCATE svc.audit'])
    await assert.rejects(db.script(statement), /append-only/, statement)
  await db.query(sql`
    INSERT INTO svc.audit (at, actor_type, action, target_type, status, changed)
    SELECT now() - make_interval(days => n) + interval '1 hour', 'system', 'old', 'none', 200, '{}' FROM generate_series(1, 400) n`)
  const count = async () =>
    Number((await db.query(sql`SELECT count(*) AS n FROM svc.audit WHERE action = 'old'`))[0]?.n)
  await sweepAudit(db, 365)
  assert.equal(await count(), 365)
  assert.equal((await db.query(sql`SELECT svc.sweep_audit(100, 10) AS n`))[0]?.n, 10, 'in batches')
  await assert.rejects(db.query(sql`SELECT svc.sweep_audit(0, 10000)`), /append-only/)
})

test('the entries of a deleted application stay for master keys', async () => {
  const tenant = await app.tenant('gone')
  await createStyle('Buoy', tenant.developer)
  const reply = await app.call('DELETE', `/api/v1/applications/${tenant.id}`)
  assert.equal(reply.status, 200, reply.text)
  const { body } = await app.call('GET', `${path}?filter[applicationId]=${tenant.id}&sort=at`)
  const actions = body.map(({ action }: { action: string }) => action)
  assert.equal(actions[0], 'applications.create')
  assert.ok(actions.includes('styles.create'))
  assert.equal(actions.at(-1), 'applications.delete')
  assert.equal(body.at(-1).targetName, 'gone')
})

test('commands on the server have entries', async () => {
  const parts = { db: app.db, secrets: app.secrets, address: 'http://localhost', directory: '' }
  const key = await runCommand(parts, { command: 'create-key', application: own.id })
  const link = await runCommand(parts, { command: 'console', application: own.id })
  await runCommand(parts, { command: 'rotate-token-key' })
  await runCommand(parts, { command: 'keys' })
  const { body } = await app.call('GET', `${path}?filter[actorType]=command&sort=at`)
  assert.deepEqual(
    body.map((entry: Record<string, unknown>) => [entry.action, entry.applicationId, entry.targetId]),
    [
      ['apikeys.create', own.id, keyFingerprint(key)],
      ['console.link', own.id, null],
      ['server.rotateTokenKey', null, null],
      ['apikeys.list', null, null],
    ],
  )
  assert.ok(link.includes('#token='))
  const token = link.split('#token=')[1]?.split('\n')[0]
  const [signedIn] = await entriesOf(await app.call('POST', '/api/v1/auth/exchange', { key: null, body: { token } }))
  assert.deepEqual([signedIn.actorType, signedIn.applicationId, signedIn.targetType], ['key', own.id, 'apikeys'])
})

test('no secret is ever in the log', async () => {
  const canary = `canary ${randomUUID()}`
  const secrets = [app.master, own.developer, own.public, foreign.developer, canary]
  const key = own.developer
  const made = await app.call('POST', '/api/v1/apikeys', {
    key,
    body: { type: 'app', permissions: { styles: { read: '*' } }, description: canary },
  })
  secrets.push(made.body.id)
  // A key in the place of another id, which is refused.
  await app.call('DELETE', `/api/v1/styles/${made.body.id}`, { key })
  await app.call('DELETE', `/api/v1/styles/${made.body.id.toUpperCase()}`, { key })
  await app.services.audit.flush()
  await app.call('PUT', `/api/v1/apikeys/${made.body.id}/metadata/colour`, { key, body: canary })
  await app.call('DELETE', `/api/v1/apikeys/${made.body.id}`, { key })
  await app.call('DELETE', `/api/v1/apikeys/${made.body.id}`, { key })
  const user = await app.user(own.id, { password: canary })
  const session = await app.login(user)
  secrets.push(session.accessToken, session.refreshToken)
  await app.call('POST', '/api/v1/auth/login', {
    key: null,
    body: { email: canary, password: canary, applicationId: own.id },
  })
  const redirectUrl = 'http://localhost:3000/'
  await app.call('POST', '/api/v1/auth/requestpasswordreset', {
    key: null,
    body: { email: user.email, applicationId: own.id, redirectUrl },
  })
  const { passwordResetToken: token } = (await app.call('GET', `/api/v1/auth/users/${user.id}`)).body
  const reset = { email: user.email, password: `new ${canary}`, applicationId: own.id, token }
  assert.equal((await app.call('POST', '/api/v1/auth/resetpassword', { key: null, body: reset })).status, 204)
  secrets.push(token)
  const settings = { url: `http://127.0.0.1/${canary.replace(' ', '-')}`, secret: `whsec_${canary}` }
  await app.call('POST', '/api/v1/contactpoints', { key, body: { name: 'hook', type: 'webhook', settings } })
  await app.call('PUT', '/api/v1/appconfig/theme', { key, body: { token: canary } })
  await app.call('PUT', `/api/v1/appconfig/${canary.replace(' ', '-')}`, { key, body: 1 })
  await app.call('POST', '/api/v1/databases', {
    key,
    body: { type: 'postgres', name: 'db', host: 'localhost', port: 5432, user: 'a', password: canary, db: 'x' },
  })
  await app.call('GET', '/api/v1/outbox')
  await app.services.audit.flush()
  const rows = await app.db.query(sql`SELECT to_jsonb(a)::text AS entry FROM svc.audit a`)
  const dump = rows.map(({ entry }) => entry).join('\n')
  assert.ok(rows.length > 30)
  for (const action of ['auth.resetpassword', 'contactpoints.create', 'databases.create', 'appconfig.key.set'])
    assert.ok(dump.includes(`"${action}"`), action)
  for (const secret of [...secrets, canary.slice(7)]) assert.ok(!dump.includes(secret), secret)
})

test('reading mail, or a user whose one-time token is shown, leaves an entry; other reads leave none', async () => {
  const user = await app.user(own.id)
  const address = `/api/v1/auth/users/${user.id}`
  const list = `/api/v1/auth/users?filter[email]=${user.email}`
  assert.deepEqual(await entriesOf(await app.call('GET', address, { key: own.developer })), [])
  await app.call('POST', '/api/v1/auth/requestpasswordreset', {
    key: null,
    body: { email: user.email, applicationId: own.id, redirectUrl: 'http://localhost:3000/' },
  })
  for (const url of [address, list]) {
    const shown = await app.call('GET', url, { key: own.developer })
    assert.match(JSON.stringify(shown.body), /"passwordResetToken":"[^"]/)
    const [entry] = await entriesOf(shown, own.developer)
    assert.equal(entry.action, url === list ? 'users.list' : 'users.get')
    assert.deepEqual(await entriesOf(await app.call('GET', url, { key: own.public })), [], 'it saw no token')
  }
  const key = await app.key(own.id, { '*': { '*': '*' } }, { type: 'user', userId: user.id })
  const joined = await app.call('GET', `/api/v1/apikeys/${key}?join=user`, { key: own.developer })
  assert.equal(joined.body.user.id, user.id)
  assert.equal(joined.body.user.passwordResetToken, '', 'a join shows no token')
  assert.equal((await entriesOf(await app.call('GET', '/api/v1/outbox')))[0].action, 'outbox.list')
})
