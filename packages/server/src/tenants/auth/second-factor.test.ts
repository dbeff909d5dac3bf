import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { shownBy } from '../../../testing/authenticator.ts'
import { type Tenant, type TestApp, type TestUser, testApp } from '../../../testing/harness.ts'
import { sql } from '../../kernel/db/sql.ts'
import { base32, codeAt, stepAt } from './authenticator-codes.ts'

// One database is enough: contract.test.ts asks both; this is about who gets in.

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('factors')
  await app.call('PUT', `/api/v1/applications/${tenant.id}/metadata/auth`, { body: { defaultApiKey: tenant.public } })
})
after(() => app.close())

const post = (path: string, body: object) => app.call('POST', `/api/v1/auth/${path}`, { key: null, body })
const credentials = ({ email, password }: TestUser) => ({ email, password, applicationId: tenant.id })
const login = (user: TestUser, code?: string) => post('login', { ...credentials(user), ...(code && { code }) })

/** A user with a second factor, the secret of the app, and the recovery codes. */
async function userWithFactor() {
  const user = await app.user(tenant.id)
  const { secret } = (await post('secondfactor', credentials(user))).body
  const confirmed = await post('secondfactor/confirm', { ...credentials(user), code: shownBy(secret) })
  assert.equal(confirmed.status, 200, confirmed.text)
  return { user, secret, recoveryCodes: confirmed.body.recoveryCodes as string[] }
}

test('codes are those of RFC 6238', () => {
  const secret = Buffer.from('12345678901234567890')
  const of = (seconds: number) => codeAt(secret, stepAt(seconds * 1000))
  assert.deepEqual([of(59), of(1_111_111_109), of(20_000_000_000)], ['287082', '081804', '353130'])
  assert.equal(base32(secret), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
})

test('a secret counts for nothing until a code of it was shown', async () => {
  const user = await app.user(tenant.id)
  const first = (await post('secondfactor', credentials(user))).body
  const { secret, uri } = (await post('secondfactor', credentials(user))).body
  assert.notEqual(secret, first.secret)
  assert.equal(uri, `otpauth://totp/factors:${encodeURIComponent(user.email)}?secret=${secret}&issuer=factors`)
  assert.equal((await login(user)).status, 200)
  const old = await post('secondfactor/confirm', { ...credentials(user), code: shownBy(first.secret) })
  assert.equal(old.status, 401)
  const confirmed = await post('secondfactor/confirm', { ...credentials(user), code: shownBy(secret) })
  assert.deepEqual([confirmed.status, confirmed.body.recoveryCodes.length], [200, 10])
  assert.equal((await post('secondfactor', credentials(user))).status, 409)
})

test('a login needs a code, and a code is good for one login', async () => {
  const { user, secret } = await userWithFactor()
  const without = await login(user)
  assert.deepEqual([without.status, without.body.code, without.body.setup], [401, 'second_factor_required', undefined])
  assert.equal((await login({ ...user, password: 'not this one at all' }, shownBy(secret))).status, 401)
  const code = shownBy(secret)
  const both = await Promise.all([login(user, code), login(user, ` ${code.slice(0, 3)} ${code.slice(3)}`)])
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401])
  assert.equal((await login(user, shownBy(secret, -1))).status, 401, 'the step before the last one')
  assert.equal((await login(user, shownBy(secret, 3))).status, 401)
})

test('wrong codes count as failed logins', async () => {
  const { user } = await userWithFactor()
  const statuses: number[] = []
  for (let attempt = 0; attempt < 12; attempt++) statuses.push((await login(user, '000000')).status)
  assert.deepEqual([statuses[0], statuses.at(-1)], [401, 429])
})

test('recovery codes are good once each, and are replaced by a code', async () => {
  const { user, secret, recoveryCodes } = await userWithFactor()
  const [first = '', second = ''] = recoveryCodes
  assert.match(first, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
  assert.equal((await login(user, first.toUpperCase().replaceAll('-', ' '))).status, 200)
  assert.equal((await login(user, first)).status, 401)
  const other = await userWithFactor()
  assert.equal((await login(other.user, second)).status, 401, 'those of another user')
  const renewed = await post('secondfactor/confirm', { ...credentials(user), code: shownBy(secret) })
  assert.equal(renewed.status, 200)
  assert.equal((await login(user, second)).status, 401)
  assert.equal((await login(user, renewed.body.recoveryCodes[0])).status, 200)
})

test('users remove it by a code, and who may change their password without', async () => {
  const { user, recoveryCodes } = await userWithFactor()
  const remove = (code: string) => post('secondfactor/remove', { ...credentials(user), code })
  assert.equal((await remove('000000')).status, 401)
  assert.equal((await remove(recoveryCodes[0] ?? '')).status, 204)
  assert.equal((await login(user)).status, 200)
  const lost = await userWithFactor()
  const url = `/api/v1/auth/users/${lost.user.id}`
  const change = (secondFactor: boolean, key: string) => app.call('PATCH', url, { key, body: { secondFactor } })
  assert.equal((await change(false, tenant.public)).status, 401)
  assert.equal((await change(false, tenant.developer)).body.secondFactor, false)
  assert.equal((await change(true, tenant.developer)).status, 400)
  assert.equal((await login(lost.user)).status, 200)
  const [left] = await app.db.query(
    sql`SELECT code_secret AS secret, recovery_digests AS digests FROM svc.users WHERE id = ${Number(lost.user.id)}`,
  )
  assert.deepEqual(left, { secret: null, digests: [] })
})

test('an application may demand it: nobody logs in without, and whoever has none can set one up', async () => {
  const strict = await app.tenant('strict')
  const settings = { defaultApiKey: strict.public, secondFactor: 'required' }
  await app.call('PUT', `/api/v1/applications/${strict.id}/metadata/auth`, { body: settings })
  const user = await app.user(strict.id)
  const who = { email: user.email, password: user.password, applicationId: strict.id }
  const refused = await post('login', who)
  assert.deepEqual([refused.status, refused.body.code, refused.body.setup], [401, 'second_factor_required', true])
  const { secret } = (await post('secondfactor', who)).body
  assert.equal((await post('login', { ...who, code: shownBy(secret) })).status, 401, 'not confirmed')
  await post('secondfactor/confirm', { ...who, code: shownBy(secret) })
  assert.equal((await post('login', { ...who, code: shownBy(secret) })).status, 200)
})

test('a stranger learns nothing of second factors', async () => {
  const { user } = await userWithFactor()
  const wrong = { ...credentials(user), password: 'not this one at all' }
  for (const path of ['login', 'secondfactor']) {
    const [known, unknown] = await Promise.all([post(path, wrong), post(path, { ...wrong, email: 'no@example.org' })])
    assert.deepEqual([known.status, known.body.detail], [401, unknown.body.detail])
  }
  const shown = await app.call('GET', `/api/v1/auth/users/${user.id}`, { key: tenant.developer })
  assert.equal(shown.body.secondFactor, true)
  assert.doesNotMatch(shown.text, /codeSecret|recovery/i)
})
