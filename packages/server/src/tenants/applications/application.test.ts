import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '../../../testing/harness.ts'
import { listKeys } from '../../boot/start/first-start.ts'
import { ident, sql } from '../../kernel/db/sql.ts'

let app: TestApp
before(async () => {
  app = await testApp()
})
after(() => app.close())

const path = '/api/v1/applications'

test('only a master key makes, changes and deletes applications, whatever the ACL says', async () => {
  const { id, developer } = await app.tenant('mine')
  for (const [method, url, body] of [
    ['POST', path, { name: 'another' }],
    ['PUT', `${path}/${id}`, { name: 'renamed' }],
    ['PATCH', `${path}/${id}`, { name: 'renamed' }],
    ['DELETE', `${path}/${id}`, undefined],
  ] as const) {
    assert.equal((await app.call(method, url, { key: developer, body })).status, 401, method)
  }
  assert.equal(
    (await app.call('PUT', `${path}/${id}`, { body: { name: 'renamed', contact: 'a@b.example' } })).body.name,
    'renamed',
  )
})

test('a key sees its own application and may write its metadata', async () => {
  const { id, developer, public: reader } = await app.tenant('mine')
  const list = await app.call('GET', path, { key: developer })
  assert.deepEqual(
    list.body.map((row: { id: string }) => row.id),
    [id],
  )
  assert.equal(
    (await app.call('PUT', `${path}/${id}/metadata/auth.signup`, { key: developer, body: { enabled: true } })).status,
    200,
  )
  assert.equal((await app.call('PUT', `${path}/${id}/metadata/x`, { key: reader, body: 1 })).status, 401)
})

test('PUT of metadata/auth keeps what the body does not name', async () => {
  const { id, developer: key } = await app.tenant('merged')
  const url = `${path}/${id}/metadata/auth`
  await app.call('PUT', url, { key, body: { signup: { enabled: true, allow: ['*'] } } })
  const { body } = await app.call('PUT', url, { key, body: { redirectUrls: ['https://example.org/*'] } })
  assert.deepEqual(body.auth, { signup: { enabled: true, allow: ['*'] }, redirectUrls: ['https://example.org/*'] })
})

test('deleting an application deletes everything it owns but its audit log, and ends its keys', async () => {
  const { id, developer } = await app.tenant('doomed')
  const style = { version: 8, sources: {}, layers: [] }
  await app.call('POST', '/api/v1/styles', { key: developer, body: { name: 'a', style } })
  await app.call('PUT', '/api/v1/appconfig', { key: developer, body: { a: 1 } })
  await app.login(await app.user(id))
  assert.equal((await app.call('DELETE', `${path}/${id}`)).status, 200)
  const tables = await app.db.query(sql`
    SELECT table_name FROM information_schema.columns
    WHERE table_schema = 'svc' AND column_name = 'application_id' AND table_name <> 'audit'`)
  assert.ok(tables.length >= 3)
  for (const { table_name } of tables) {
    const rows = await app.db.query(
      sql`SELECT FROM ${ident('svc', String(table_name))} WHERE application_id = ${id}::uuid`,
    )
    assert.equal(rows.length, 0, String(table_name))
  }
})

test('the keys of a deleted application are refused at once here, and within a second by other replicas', async () => {
  const { id, developer } = await app.tenant('doomed too')
  const { http } = await app.replica()
  const elsewhere = async () =>
    (await http.inject({ method: 'GET', url: '/api/v1/config', headers: { 'x-api-key': developer } })).statusCode
  const form = { 'content-type': 'multipart/form-data; boundary=x' }
  const raw = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\na\r\n1\r\n--x--\r\n'
  // Both know the key from a moment ago.
  assert.equal((await app.call('GET', '/api/v1/config', { key: developer })).status, 200)
  assert.equal(await elsewhere(), 200)
  assert.equal((await app.call('DELETE', `${path}/${id}`)).status, 200)
  const deletedAt = performance.now()
  const replies = await Promise.all([
    app.call('GET', '/api/v1/config', { key: developer }),
    app.call('POST', '/api/v1/uploads', { key: developer, headers: form, raw }),
    app.call('POST', '/api/v1/styles', {
      key: developer,
      body: { name: 'a', style: { version: 8, sources: {}, layers: [] } },
    }),
  ])
  assert.deepEqual(
    replies.map(({ status }) => status),
    [401, 401, 401],
  )
  // A file that comes there meanwhile fails on the application that is gone, which is no fault of the server.
  const payload = { method: 'POST', url: '/api/v1/uploads', payload: raw } as const
  const upload = await http.inject({ ...payload, headers: { ...form, 'x-api-key': developer } })
  assert.equal(upload.statusCode, 401, upload.body)
  for (let status = 200, asked = 0; status !== 401; status = await elsewhere()) {
    assert.ok(asked - deletedAt < 1_000, 'the key was still good after a second')
    asked = performance.now()
  }
})

test('a new application comes with a developer key and a public key, which are shown once', async () => {
  const { status, body } = await app.call('POST', path, { body: { name: 'fresh' } })
  assert.equal(status, 201)
  const { developer, public: reader } = body.keys
  const style = { name: 'a', style: { version: 8, sources: {}, layers: [] } }
  assert.equal((await app.call('POST', '/api/v1/styles', { key: developer, body: style })).status, 201)
  assert.equal((await app.call('GET', '/api/v1/styles', { key: reader })).status, 200)
  assert.equal((await app.call('POST', '/api/v1/styles', { key: reader, body: style })).status, 401)
  assert.equal((await app.call('GET', `${path}/${body.id}`)).body.keys, undefined)
  assert.equal(
    (await app.call('PUT', `${path}/${body.id}`, { body })).body.keys,
    undefined,
    'nor is it a field to write',
  )
  const listed = await app.call('GET', '/api/v1/apikeys', { key: developer })
  assert.deepEqual(listed.body.map(({ id }: { id: string }) => id).sort(), [developer, reader].sort())
  const shown = await listKeys(app.db, app.secrets)
  assert.ok(
    [developer, reader].every((key) => shown.some((line) => line.startsWith(key))),
    'the command shows them',
  )
})

test('the default application stays', async () => {
  const [home] = (await app.call('GET', `${path}?filter[name]=default`)).body
  assert.equal((await app.call('DELETE', `${path}/${home.id}`)).status, 409)
})

test('the first start makes a developer and a public key', async () => {
  const [home] = (await app.call('GET', `${path}?filter[name]=default`)).body
  const { body } = await app.call(
    'GET',
    `/api/v1/apikeys?filter[applicationId]=${home.id}&filter[type]=app&sort=description`,
  )
  assert.deepEqual(
    body.map(({ permissions }: { permissions: object }) => permissions),
    [{ '*': { '*': '*' } }, publicAcl],
  )
})

const publicAcl = {
  appconfig: { execute: '*' },
  auth: { execute: '*' },
  datasets: { read: '*', execute: '*' },
  styles: { read: '*', execute: '*' },
  tiles: { read: '*', execute: '*' },
}

test('the public key of a new application shows data and maps, and tells nothing of people, databases and keys', async () => {
  const { body: made } = await app.call('POST', path, { body: { name: 'open data', contact: 'boss@example.org' } })
  const key = made.keys.public
  const { body: access } = await app.call('GET', '/api/v1/auth/access', { key })
  assert.deepEqual(access.permissions, publicAcl)
  const user = await app.user(made.id)
  const own = { key: made.keys.developer }
  const source = { type: 'sql', name: 'parks', source: 'SELECT 1 AS id', ownerId: user.id }
  const { body: dataset } = await app.call('POST', '/api/v1/datasets', { ...own, body: source })
  const joins = 'join=owner,application,database'
  for (const url of [`/api/v1/datasets/${dataset.id}?${joins}`, `/api/v1/datasets?${joins}`]) {
    const reply = await app.call('GET', url, { key })
    assert.equal(reply.status, 200, reply.text)
    const [shown] = [reply.body].flat()
    assert.deepEqual([shown.owner, shown.application, shown.database], [null, null, null])
    assert.ok(![user.email, 'boss@example.org'].some((text) => reply.text.includes(text)))
  }
  for (const name of ['owner.email', 'owner', 'application.contact'])
    for (const ask of [`filter[${name}]=x`, `sort=${name}`, `fields=${name}`])
      assert.equal((await app.call('GET', `/api/v1/datasets?${ask}`, { key })).status, 400, ask)
})

test('with the public key a user logs in, sees themselves, changes the password and logs out', async () => {
  const { body: made } = await app.call('POST', path, { body: { name: 'members' } })
  const key = made.keys.public
  const user = await app.user(made.id)
  const { email, password } = user
  const send = (name: string, body: object, headers = {}) =>
    app.call('POST', `/api/v1/auth/${name}`, { key, body, headers })
  const login = async () => {
    const { body } = await send('login', { email, password, applicationId: made.id })
    return { ...body, headers: { authorization: `Bearer ${body.accessToken}` } }
  }
  const { refreshToken, headers } = await login()
  const me = await app.call('GET', '/api/v1/auth/users/me', { key, headers })
  assert.deepEqual([me.status, me.body.email], [200, email])
  assert.equal((await app.call('GET', '/api/v1/auth/users', { key, headers })).status, 401)
  assert.equal((await send('refresh', { refreshToken, applicationId: made.id })).status, 200)
  assert.equal((await send('logout', { refreshToken }, headers)).status, 204)
  const again = await login()
  const changed = await send('changepassword', { password, newPassword: `another ${password}` }, again.headers)
  assert.equal(changed.status, 204, changed.text)
})
