import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { mainFile, runCommandLine, startServer } from '../../../testing/command-line.ts'
import { migratedDatabase, type TestDatabase } from '../../../testing/database.ts'
import { startNats } from '../../../testing/peers/nats.ts'
import { s3Storage } from '../../../testing/peers/s3-storage.ts'
import { smtpSink } from '../../../testing/peers/smtp-sink.ts'
import { until } from '../../../testing/until.ts'
import { developerPermissions, publicPermissions } from '../../api/access/first-permissions.ts'
import type { Permissions } from '../../api/access/grants.ts'
import { createSecrets } from '../../api/access/secrets/secrets.ts'
import { hardeningText } from '../../kernel/db/schema/hardening.ts'
import { sql } from '../../kernel/db/sql.ts'
import { addKey, loadSecrets } from '../start/first-start.ts'
import type { Check } from './check.ts'
import { diagnose } from './doctor.ts'
import { runChecks } from './run-checks.ts'

// One database is enough: the checks of the embedded one read files.

const secretKey = 'the secret of the tests of doctor, long enough'
let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-doctor-'))
})
after(() => rm(directory, { recursive: true, force: true }))

/** The findings of one check, or of all, with these settings. */
async function findings(name: string, settings: Record<string, string>) {
  const env = { PORT: '0', DATA_DIR: join(directory, 'none'), ...settings }
  const { lines, isSound } = await diagnose(env, (check) => name === '' || check.name === name)
  const found = lines.filter((line) => line.name === name)
  return {
    isSound,
    lines,
    found,
    levels: found.map(({ level }) => level),
    text: found.map((f) => `${f.text} ${f.mend}`).join(),
  }
}

/** A port where nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('doctor on PostgreSQL', () => {
  let database: TestDatabase
  let url: string
  const role = `doctor_${process.pid}`
  const bare = `${role}_bare`
  const asRole = (password: string, name?: string): string => {
    const address = new URL(url)
    Object.assign(address, { username: role, password })
    if (name) address.pathname = `/${name}`
    return address.href
  }
  before(async () => {
    database = await migratedDatabase()
    url = database.url ?? ''
    await loadSecrets(database.db, directory, secretKey)
    await database.admin.script(`CREATE ROLE ${role} LOGIN PASSWORD 'right'`)
    await database.admin.script(`CREATE DATABASE ${bare} TEMPLATE template0`)
  })
  after(async () => {
    await database.admin.script(`DROP DATABASE ${bare} WITH (FORCE)`)
    await database.admin.script(`DROP ROLE ${role}`)
    await database.close()
  })

  test('finds no fault in a database that is set up, and names what it saw', async () => {
    const { lines, isSound } = await findings('', { DATABASE_URL: url, SECRET_KEY: secretKey })
    assert.ok(isSound, JSON.stringify(lines.filter(({ level }) => level === 'fault')))
    const level = (name: string) => lines.find((line) => line.name === name)?.level
    for (const name of ['database', 'postgis', 'migrations', 'role', 'fingerprint', 'database clock'])
      assert.equal(level(name), 'ok', name)
    assert.ok(
      lines.every(({ level: one, mend }) => one === 'ok' || mend),
      'whatever is wrong can be mended',
    )
  })

  test('points at public keys of earlier versions by application, and says how to replace them', async () => {
    const settings = { DATABASE_URL: url }
    assert.deepEqual((await findings('public keys', settings)).levels, ['ok'])
    const ids = { harbour: randomUUID(), atlas: randomUUID() }
    for (const [name, id] of Object.entries(ids))
      await database.db.query(sql`
        INSERT INTO svc.applications (id, name, description, contact) VALUES (${id}::uuid, ${name}, '', '')`)
    const secrets = createSecrets(secretKey)
    const add = (id: string, permissions: Permissions) => addKey(database.db, secrets, id, 'app', permissions, 'k')
    await add(ids.harbour, { '*': { read: '*', execute: '*' } })
    const written = await add(ids.harbour, { '*': { execute: ['*'], read: ['*'] } })
    for (const permissions of [developerPermissions, publicPermissions, { '*': { read: '*' } } as const])
      await add(ids.atlas, permissions)
    const { found, text: said, isSound } = await findings('public keys', settings)
    await database.db.query(sql`DELETE FROM svc.applications WHERE id = ANY (${Object.values(ids)}::uuid[])`)
    assert.deepEqual([found.length, found[0]?.level, isSound], [1, 'warning', true])
    assert.match(said, /"harbour" has 2 public keys.*e-mail addresses.*contact points/)
    assert.match(said, new RegExp(`create-key --application ${ids.harbour} --permissions public`))
    assert.match(said, /DELETE \/api\/v1\/apikeys\/KEY/)
    assert.ok(!said.includes(written), 'keys themselves are not printed')
  })

  test('says that PostgreSQL is down, and leaves out what depends on it', async () => {
    const { isSound, lines } = await findings('', { DATABASE_URL: `postgres://a:b@127.0.0.1:${await closedPort()}/c` })
    const found = lines.filter(({ name }) => name === 'database')
    assert.equal(isSound, false)
    assert.match(found[0]?.text ?? '', /ECONNREFUSED/)
    assert.match(found[0]?.mend ?? '', /Start PostgreSQL/)
    assert.equal(
      lines.find(({ name }) => name === 'postgis'),
      undefined,
    )
    assert.ok(lines.some(({ name }) => name === 'storage'))
  })

  test('says that the password is wrong, and not which one was sent', async (t) => {
    const isClosed = await withHba(t, `host all ${role} all scram-sha-256`)
    if (!isClosed) return t.skip('pg_hba.conf is not on this machine')
    const wrong = () => findings('database', { DATABASE_URL: asRole('wrong-canary') })
    await until(async () => (await wrong()).levels.join() === 'fault')
    const { text: said } = await wrong()
    assert.match(said, new RegExp(`ALTER ROLE "${role}" PASSWORD`))
    assert.ok(!said.includes('canary'))
  })

  test('says that a database is missing', async () => {
    const address = new URL(url)
    address.pathname = '/there_is_none'
    assert.match((await findings('database', { DATABASE_URL: address.href })).text, /CREATE DATABASE "there_is_none"/)
  })

  test('says that the role may not create roles, and that PostGIS is missing', async () => {
    const settings = { DATABASE_URL: asRole('right', bare) }
    const { levels, text: said } = await findings('role', settings)
    assert.deepEqual(levels, ['fault'])
    assert.match(said, new RegExp(`ALTER ROLE "${role}" CREATEROLE`))
    assert.match((await findings('postgis', settings)).text, /CREATE EXTENSION postgis/)
  })

  test('says that the database is newer than the server', async () => {
    await database.db.script(`INSERT INTO svc.migrations (number, name, checksum) VALUES (9999, '9999-later.sql', '')`)
    const { levels, text: said } = await findings('migrations', { DATABASE_URL: url })
    await database.db.script('DELETE FROM svc.migrations WHERE number = 9999')
    assert.deepEqual(levels, ['fault'])
    assert.match(said, /newer than this server.*9999-later\.sql.*newer version/s)
  })

  test('says that a function of the database is that of another server', async () => {
    const change = (digest: string) =>
      database.db.script(`UPDATE svc.applied_functions SET digest = ${digest} WHERE name = 'watch_tables'`)
    await change(`'other ' || digest`)
    const { levels, text: said } = await findings('migrations', { DATABASE_URL: url })
    await change(`substr(digest, 7)`)
    assert.deepEqual(levels, ['warning'])
    assert.match(said, /svc\.watch_tables is not this server's.*npm start -- migrate/s)
    assert.deepEqual((await findings('migrations', { DATABASE_URL: url })).levels, ['ok'])
  })

  test('says that a trigger of the platform is disabled, and how to enable it', async () => {
    await database.db.script('ALTER TABLE svc.audit DISABLE TRIGGER keep_audit')
    const { levels, text: said } = await findings('migrations', { DATABASE_URL: url })
    assert.deepEqual(levels, ['warning'])
    const [mend = ''] = /ALTER TABLE svc\.audit ENABLE TRIGGER keep_audit;/.exec(said) ?? []
    await database.db.script(mend)
    assert.deepEqual((await findings('migrations', { DATABASE_URL: url })).levels, ['ok'])
  })

  test('says whether the catalogs are closed to tenants, wholly, in part or not at all, and how to close them', async (t) => {
    if (process.env.TEST_HARDENED) return t.skip('they are closed already')
    const hardening = () => findings('hardening', { DATABASE_URL: url })
    const open = await hardening()
    assert.deepEqual(open.levels, ['warning'])
    assert.match(open.text, /are open to tenants.*npm start --silent -- hardening \| psql/)
    await database.admin.script(hardeningText)
    assert.deepEqual((await hardening()).levels, ['ok'])
    await database.admin.script('GRANT EXECUTE ON FUNCTION find_srid(varchar, varchar, varchar) TO PUBLIC')
    const partly = await hardening()
    assert.deepEqual(partly.levels, ['warning'])
    assert.match(partly.text, /^1 objects .*find_srid\(.*npm start --silent -- hardening/)
    await database.admin.script(`${hardeningText} ${hardeningText}`)
    assert.deepEqual((await hardening()).levels, ['ok'])
    assert.ok((await findings('', { DATABASE_URL: url, SECRET_KEY: secretKey })).isSound)
    const other = await findings('hardening', { DATABASE_URL: asRole('right', new URL(url).pathname.slice(1)) })
    assert.deepEqual(other.levels, ['fault'])
    assert.match(other.text, /hardened for another/)
  })

  test('says that SECRET_KEY is another, or missing', async () => {
    const other = await findings('fingerprint', { DATABASE_URL: url, SECRET_KEY: secretKey.toUpperCase() })
    assert.deepEqual(other.levels, ['fault'])
    assert.match(other.text, /SECRET_KEY is not the secret/)
    assert.match((await findings('fingerprint', { DATABASE_URL: url })).text, /is missing/)
  })

  test('says that there are too few connections', async () => {
    const { levels, text: said } = await findings('connections', { DATABASE_URL: url, TENANT_CONNECTIONS: '4000' })
    assert.deepEqual(levels, ['warning'])
    assert.match(said, /ALTER SYSTEM SET max_connections = 40\d\d/)
  })

  test('says that pg_hba.conf keeps the roles of applications out', async (t) => {
    const id = await tenantRole()
    t.after(() => database.admin.script(`DROP OWNED BY "app_${id}"; DROP ROLE "app_${id}"`))
    const login = () => findings('tenant login', { DATABASE_URL: url, SECRET_KEY: secretKey })
    assert.deepEqual((await login()).levels, ['ok'])
    if (!(await withHba(t, `host all app_${id} all reject`))) return t.skip('pg_hba.conf is not on this machine')
    await until(async () => (await login()).levels.join() === 'fault')
    assert.match((await login()).text, /pg_reload_conf/)
  })

  /** With this line first in pg_hba.conf, until the test ends; false where the file cannot be written. */
  async function withHba(t: TestContext, line: string): Promise<boolean> {
    const [{ file } = { file: '' }] = await database.admin.query<{ file: string }>(
      sql`SELECT current_setting('hba_file') AS file`,
    )
    const former = await readFile(file, 'utf8').catch(() => undefined)
    if (former === undefined) return false
    const write = async (content: string): Promise<void> => {
      await writeFile(file, content)
      await database.admin.query(sql`SELECT pg_reload_conf()`)
    }
    await write(`${line}\n${former}`)
    t.after(() => write(former))
    return true
  }

  async function tenantRole() {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(
      `INSERT INTO svc.applications (id, name, description, contact, is_default)
       VALUES (gen_random_uuid(), 'a', '', '', false) RETURNING id`,
    )
    const uuid = rows[0].id as string
    const id = uuid.replaceAll('-', '')
    const password = createSecrets(secretKey).derive(`tenant ${uuid}`)
    const { rows: known } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [`app_${id}`])
    await client.query(`${known.length ? 'ALTER' : 'CREATE'} ROLE "app_${id}" LOGIN PASSWORD '${password}'`)
    await client.query(`GRANT CONNECT ON DATABASE "${new URL(url).pathname.slice(1)}" TO "app_${id}"`)
    await client.end()
    return id
  }
})

describe('doctor on the machine', () => {
  test('says that a disk is full', async (t) => {
    const disk = join(directory, 'disk')
    await mkdir(disk)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' })
    } catch {
      return t.skip('this user may not mount a file system')
    }
    t.after(() => execFileSync('umount', ['-l', disk]))
    await writeFile(join(disk, 'file'), Buffer.alloc(1024 * 1024))
    const { levels, text: said } = await findings('storage', { DATA_DIR: disk })
    assert.deepEqual(levels, ['fault', 'fault'])
    assert.match(said, /DATA_MIN_FREE_MB.*cannot be written/)
  })

  test('says that a bucket is away, refuses the key or is not there, and shows no secret', async () => {
    const storage = await s3Storage()
    try {
      assert.deepEqual((await findings('bucket', storage.settings)).levels, ['ok'])
      const wrong = [
        { S3_ENDPOINT: `http://127.0.0.1:${await closedPort()}` },
        { S3_SECRET_ACCESS_KEY: 'another secret' },
        { S3_BUCKET: 'absent' },
      ]
      for (const settings of wrong) {
        const { levels, text: said } = await findings('bucket', {
          ...storage.settings,
          S3_TIMEOUT_MS: '2000',
          ...settings,
        })
        assert.deepEqual(levels, ['fault'])
        assert.doesNotMatch(said, /another secret|test-secret/)
      }
    } finally {
      await storage.close()
    }
  })

  test('says that NATS is down, and measures one that is not', async () => {
    const down = await findings('nats', { NATS_URL: `nats://127.0.0.1:${await closedPort()}` })
    assert.deepEqual(down.levels, ['fault'])
    const nats = await startNats()
    try {
      assert.deepEqual((await findings('nats', { NATS_URL: nats.url })).levels, ['ok'])
    } finally {
      await nats.stop()
    }
  })

  test('says that a mail server is away or refuses the login, and sends nothing to one that works', async () => {
    const away = await findings('smtp', { SMTP_URL: `smtp://127.0.0.1:${await closedPort()}` })
    assert.deepEqual(away.levels, ['fault'])
    const sink = await smtpSink()
    try {
      const login = sink.url.replace('//', '//user:canary@')
      const refused = await findings('smtp', { SMTP_URL: login })
      assert.deepEqual(refused.levels, ['fault'])
      assert.ok(!refused.text.includes('canary'))
      const works = await findings('smtp', { SMTP_URL: sink.url, MAIL_FROM: 'maps@example.org' })
      assert.deepEqual(works.levels, ['ok'])
      assert.equal(sink.mails.length, 0)
    } finally {
      await sink.close()
    }
  })

  test('says that another program has the port', async () => {
    const other = createServer((socket) => socket.end('x')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const PORT = String((other.address() as AddressInfo).port)
    const { levels, text: said } = await findings('port', { HOST: '127.0.0.1', PORT })
    other.close()
    assert.deepEqual(levels, ['fault'])
    assert.match(said, /Another program/)
  })

  test('says which settings do not fit together', async () => {
    const levelOf = async (name: string, settings: Record<string, string>) =>
      (await findings(name, settings)).levels.join()
    assert.equal(await levelOf('BASE_URL', { BASE_URL: 'http://localhost:8080', HOST: '0.0.0.0' }), 'fault')
    assert.equal(await levelOf('BASE_URL', { BASE_URL: 'http://maps.example' }), 'warning')
    assert.equal(await levelOf('BASE_URL', { BASE_URL: 'https://maps.example' }), 'warning')
    assert.equal(await levelOf('BASE_URL', { BASE_URL: 'https://maps.example', TRUST_PROXY: '10.0.0.1' }), 'ok')
    assert.equal(await levelOf('TRUST_PROXY', { TRUST_PROXY: 'true', HOST: '0.0.0.0' }), 'warning')
    assert.equal(await levelOf('TRUST_PROXY', { TRUST_PROXY: '10.0.0.0/8,proxy' }), 'fault')
    assert.equal(await levelOf('EGRESS_ALLOW', { EGRESS_ALLOW: '10.0.0.0/99' }), 'fault')
    assert.equal(await levelOf('EGRESS_ALLOW', { EGRESS_ALLOW: '*', HOST: '0.0.0.0' }), 'warning')
    assert.equal(await levelOf('EGRESS_ALLOW', { EGRESS_ALLOW: '127.0.0.1:*,10.0.0.0/8' }), 'ok')
    assert.equal(await levelOf('settings', { WORKERS: 'many' }), 'fault')
  })

  test('says that the secret can be read by others', async () => {
    const own = join(directory, 'open')
    await mkdir(own)
    await writeFile(join(own, 'secret.key'), secretKey)
    await chmod(join(own, 'secret.key'), 0o644)
    assert.match((await findings('secret', { DATA_DIR: own })).text, /chmod 600/)
  })

  test('a check that hangs or throws is a fault of its own, and the others are not kept waiting', async () => {
    const checks: Check[] = [
      { name: 'hangs', run: () => new Promise(() => {}) },
      { name: 'throws', run: () => Promise.reject(new Error('boom')) },
      { name: 'works', run: async () => ({ level: 'ok', text: 'yes' }) },
      { name: 'is not asked', applies: () => false, run: async () => ({ level: 'fault', text: '', mend: '' }) },
    ]
    const context = { config: {} as never, workers: 1, database: async () => undefined }
    const lines = await runChecks(checks, context, 50)
    assert.deepEqual(
      lines.map(({ name, level }) => `${name} ${level}`),
      ['hangs fault', 'throws fault', 'works ok'],
    )
  })

  test('works beside a running server, also on the embedded database, and its exit code tells whether there is a fault', async () => {
    const env = { PATH: process.env.PATH ?? '', DATA_DIR: join(directory, 'running'), HOST: '127.0.0.1', PORT: '0' }
    const server = await startServer({ ...env, LOG_LEVEL: 'silent' })
    try {
      const sound = await doctor({ ...env, PORT: new URL(server.url).port }, ['--json'], 'ulimit -n 512')
      const { isSound, lines } = JSON.parse(sound.output)
      assert.deepEqual([sound.code, isSound], [0, true], sound.output)
      const line = (name: string) => lines.find((one: { name: string }) => one.name === name)
      assert.match(line('embedded').text, /Process \d+ runs on it/)
      assert.equal(line('public keys').level, 'ok')
      const permissions = '{"*": {"read": "*", "execute": "*"}}'
      assert.equal((await runCommandLine(['create-key', '--permissions', permissions], env)).code, 0)
      const warned = JSON.parse((await doctor(env, ['--json'])).output).lines
      const [broad] = warned.filter(({ name }: { name: string }) => name === 'public keys')
      assert.match(broad.text, /"default" has 1 public key that reads and executes everything/)
      assert.match(line('port').text, /A Graticule server listens/)
      assert.match(line('file descriptors').mend, /ulimit -n 65536/)
      const faulty = await doctor({ ...env, EGRESS_ALLOW: '10.0.0.0/99' })
      assert.equal(faulty.code, 1)
      assert.match(faulty.output, /^fault +EGRESS_ALLOW .*\n +→ /m)
    } finally {
      await server.stop('SIGTERM')
    }
  })
})

/** The command, after `first` in the same shell. */
async function doctor(env: Record<string, string>, args: readonly string[] = [], first = ':') {
  const script = `${first}; exec "$0" "$@"`
  const child = spawn('bash', ['-c', script, process.execPath, mainFile, 'doctor', ...args], { env })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { output, code }
}
