import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { startPostgres } from '../../../../../../scripts/postgres.ts'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { until } from '../../../../testing/until.ts'

// One database is enough: the server that is connected to is that of a tenant, not the platform’s.

const path = '/api/v1/databases'
let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('tls')
})
after(async () => {
  // Its role outlives the database that it was made for.
  await app.call('DELETE', `/api/v1/applications/${tenant.id}`)
  await app.close()
})

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })
const record = (body: object) => ({
  type: 'postgres',
  name: 'a',
  port: 5432,
  user: 'a',
  password: 'a',
  db: 'a',
  ...body,
})
const create = async (body: object): Promise<string> => {
  const reply = await call('POST', path, { body: record(body) })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}
const tryOut = async (id: string) => (await call('POST', `${path}/${id}/test`)).body

/** A certificate that has signed itself. */
async function makeCertificate(subjectAltName: string): Promise<{ certificate: string; key: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-tls-'))
  const [certificate, key] = [join(directory, 'certificate'), join(directory, 'key')]
  const command = 'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test'
  const [file = '', ...parameters] = command.split(' ')
  const rest = ['-addext', `subjectAltName=${subjectAltName}`, '-keyout', key, '-out', certificate]
  execFileSync(file, [...parameters, ...rest], { stdio: 'ignore' })
  const texts = { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') }
  await rm(directory, { recursive: true })
  return texts
}

describe('what metadata says of TLS', () => {
  test('is refused with its path when it cannot be meant', async () => {
    const { certificate, key } = await makeCertificate('DNS:a')
    const cases: [object, string][] = [
      ...['verify', 'REQUIRE', '', true, false, null, 1, ['require']].map((ssl): [object, string] => [{ ssl }, 'ssl']),
      ...['', 'no PEM', 1, null, certificate.replaceAll('M', '!')].map((sslCa): [object, string] => [
        { sslCa },
        'sslCa',
      ]),
      [{ sslCa: certificate + key }, 'sslCa'],
      [{ ssl: 'require', sslCa: certificate }, 'sslCa'],
      [{ ssl: 'disable', sslCa: certificate }, 'sslCa'],
    ]
    const id = await create({ host: 'db.example' })
    for (const [metadata, name] of cases) {
      const body = record({ host: 'db.example', metadata })
      for (const reply of [await call('POST', path, { body }), await call('PUT', `${path}/${id}`, { body })]) {
        assert.equal(reply.status, 400, `${JSON.stringify(metadata)} ${reply.text}`)
        assert.equal(reply.body.errors[0].path, `body/metadata/${name}`)
      }
    }
    const patched = await call('PATCH', `${path}/${id}`, { body: { metadata: { ssl: 'nonsense' } } })
    assert.equal(patched.status, 400, patched.text)
  })

  test('is refused when it is tried, if it came in by the metadata operations', async () => {
    const id = await create({ host: '127.0.0.1' })
    assert.equal((await call('PUT', `${path}/${id}/metadata/ssl`, { body: 'nonsense' })).status, 200)
    const { ok, error } = await tryOut(id)
    assert.equal(ok, false)
    assert.match(
      error.message,
      /^The database record is not valid: metadata\/ssl: must be one of disable, require, verify-full\.$/,
    )
  })

  test('cannot send a password in clear across the open network', async () => {
    const id = await create({ host: '93.184.216.34', metadata: { ssl: 'disable' } })
    const { ok, error } = await tryOut(id)
    assert.equal(ok, false)
    assert.match(error.message, /^The database record is not valid: metadata\/ssl: must be require or verify-full/)
    const body = { type: 'sql', name: 'a', source: 'SELECT 1 AS one', databaseId: id }
    const refused = await call('POST', '/api/v1/datasets', { body })
    assert.equal(refused.status, 400)
    assert.deepEqual(refused.body.errors, [], 'it is no fault in this body')
  })
})

const noPostgres = process.env.TEST_DATABASE_URL ? false : 'needs a PostgreSQL server'

describe('a PostgreSQL server with a certificate of its own making', { skip: noPostgres }, () => {
  let cluster: Awaited<ReturnType<typeof startPostgres>>
  let administrator: pg.Client
  let place: object
  let sslCa: string

  before(async () => {
    cluster = await startPostgres()
    const { hostname: host, port, username: user } = new URL(cluster.adminUrl)
    place = { host, port: Number(port), user: 'reader', password: 'secret', db: 'postgres' }
    administrator = new pg.Client({ host, port: Number(port), user, database: 'postgres' })
    await administrator.connect()
    await administrator.query(`CREATE ROLE reader LOGIN PASSWORD 'secret'`)
  })
  after(async () => {
    await administrator.end()
    await cluster.stop()
  })

  /** Only the server's own user may own the key, so the server writes it. */
  async function present(subjectAltName: string): Promise<string> {
    const { certificate, key } = await makeCertificate(subjectAltName)
    for (const [file, text] of Object.entries({ 'server.crt': certificate, 'server.key': key })) {
      const lines = `SELECT unnest(string_to_array($$${text.trim()}$$, E'\\n'))`
      await administrator.query(`COPY (${lines}) TO PROGRAM 'umask 077; cat >${file}'`)
    }
    await administrator.query('ALTER SYSTEM SET ssl = on')
    await administrator.query('SELECT pg_reload_conf()')
    const ssl = { ca: certificate, checkServerIdentity: () => undefined }
    await until(async () => {
      const client = new pg.Client({ ...place, database: 'postgres', ssl })
      const isThere = await client.connect().then(
        () => true,
        () => false,
      )
      await client.end()
      return isThere
    })
    return certificate
  }

  /** How the service is connected to the server: over TLS or not. */
  async function travels(id: string): Promise<boolean[]> {
    const { ok, error } = await tryOut(id)
    assert.deepEqual([ok, error], [true, undefined])
    const { rows } = await administrator.query<{ ssl: boolean }>(
      `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
       WHERE usename = 'reader' AND application_name = 'graticule' ORDER BY backend_start DESC LIMIT 1`,
    )
    return rows.map((row) => row.ssl)
  }

  test('that does not speak TLS is refused when TLS is demanded', async () => {
    for (const ssl of ['require', 'verify-full']) {
      const { ok, error } = await tryOut(await create({ ...place, metadata: { ssl } }))
      assert.equal(ok, false)
      assert.deepEqual(error, { code: 'tls', message: 'The server does not support TLS.' })
    }
    assert.deepEqual(await travels(await create(place)), [false])
  })

  test('is refused by verify-full in plain words, and nothing of it is a dataset', async () => {
    sslCa = await present('IP:127.0.0.1')
    const id = await create({ ...place, metadata: { ssl: 'verify-full' } })
    const { ok, error } = await tryOut(id)
    assert.equal(ok, false)
    assert.equal(error.code, 'tls')
    assert.match(error.message, /^The certificate of the server is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/)
    const body = { type: 'sql', name: 'a', source: 'SELECT 1 AS one', databaseId: id }
    const reply = await call('POST', '/api/v1/datasets', { body })
    assert.equal(reply.status, 502, reply.text)
    assert.match(reply.body.detail, /is not trusted/)
  })

  test('is accepted with its authority, or without a look at the certificate, and all goes over TLS', async () => {
    for (const metadata of [{ ssl: 'verify-full', sslCa }, { sslCa }, { ssl: 'require' }]) {
      assert.deepEqual(await travels(await create({ ...place, metadata })), [true], JSON.stringify(metadata))
    }
  })

  test('is spoken to in clear on a private address unless something else is said', async () => {
    assert.deepEqual(await travels(await create(place)), [false])
    assert.deepEqual(await travels(await create({ ...place, metadata: { ssl: 'disable' } })), [false])
  })

  test('is spoken to as the record says now, by whatever operation it was changed', async () => {
    const id = await create(place)
    const made = await call('POST', '/api/v1/datasets', {
      body: { type: 'sql', name: 'a', source: 'SELECT 1 AS one', databaseId: id },
    })
    assert.equal(made.status, 201, made.text)
    assert.deepEqual(await travels(id), [false])
    await call('PATCH', `${path}/${id}`, { body: { metadata: { ssl: 'require' } } })
    assert.deepEqual(await travels(id), [true])
    await call('PUT', `${path}/${id}/metadata/ssl`, { body: 'disable' })
    assert.deepEqual(await travels(id), [false])
    await call('PUT', `${path}/${id}/metadata`, { body: { ssl: 'verify-full' } })
    assert.equal((await tryOut(id)).ok, false)
    const query = async () => (await call('GET', `/api/v1/datasets/${made.body.id}/query`)).status
    await until(async () => (await query()) === 502)
  })

  test('that has the certificate of another is refused, even when its authority is trusted', async () => {
    const ca = await present('DNS:other.example')
    const { ok, error } = await tryOut(await create({ ...place, metadata: { sslCa: ca } }))
    assert.equal(ok, false)
    assert.match(error.message, /ERR_TLS_CERT_ALTNAME_INVALID/)
    const old = await tryOut(await create({ ...place, metadata: { sslCa } }))
    assert.equal(old.ok, false)
    assert.deepEqual(await travels(await create({ ...place, metadata: { ssl: 'require' } })), [true])
  })
})
