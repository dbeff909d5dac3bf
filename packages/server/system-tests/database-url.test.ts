import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { connectPlatform } from '../src/kernel/db/connect-platform.ts'
import { readPlatformServer } from '../src/kernel/libpq/platform-server.ts'
import { runCommandLine, startServer } from '../testing/command-line.ts'
import { type ScramCluster, startScramCluster } from '../testing/peers/scram-cluster.ts'
import { demandWork } from '../testing/processes/demand-work.ts'

// DATABASE_URL in the forms that libpq reads, against psql and a server on a real socket.

const skip = process.env.TEST_DATABASE_URL ? false : 'needs PostgreSQL'
const master = '7f0de2c4-52d1-4c0b-b7a3-0d5a1e0f9a11'
const run = promisify(execFile)

let cluster: ScramCluster
let directory = ''
before(async () => {
  if (skip) return
  directory = await mkdtemp(join(tmpdir(), 'graticule-url-'))
  cluster = await startScramCluster()
  await cluster.query('CREATE DATABASE maps')
})
after(async () => {
  await cluster?.close()
  await rm(directory, { recursive: true, force: true })
})

const encoded = (text: string) => encodeURIComponent(text)

/** Strings that lead to the cluster, by the socket and by TCP. */
function forms(): string[] {
  const { socket, port, password } = cluster
  const user = `postgres:${encoded(password)}`
  return [
    `postgres://${user}@/maps?host=${socket}&port=${port}`,
    `postgresql:///maps?host=${socket}&port=${port}&user=postgres&password=${encoded(password)}`,
    `postgres://${user}@${encoded(socket)}:${port}/maps`,
    `host=${socket} port=${port} dbname=maps user=postgres password='${password}'`,
    `postgres://${user}@127.0.0.1:${port}/maps`,
    `postgres://${user}@127.0.0.1:1,127.0.0.1:${port}/maps`,
    `postgres://${user}@127.0.0.1:${port}/maps?sslmode=prefer&application_name=from-url&options=-c%20geqo%3Doff&connect_timeout=10&target_session_attrs=read-write`,
    `host=there.is.none hostaddr=127.0.0.1 port=${port} dbname=maps user=postgres password='${password}'`,
  ]
}

test('each form leads where it leads psql', { skip }, async () => {
  const statement = `SELECT concat_ws('|', current_user, current_database(), coalesce(inet_server_port()::text, 'socket'),
    replace(current_setting('application_name'), 'psql', 'graticule'), current_setting('geqo')) AS place`
  for (const form of forms()) {
    const { stdout } = await run('psql', [form, '-Atc', statement])
    const client = await connectPlatform(readPlatformServer(form), { application_name: 'graticule' })
    const { rows } = await client.query(statement)
    await client.end()
    assert.equal(rows[0].place, stdout.trim(), form)
  }
})

test('a host that is down is passed over, and a wrong password is refused at once', { skip }, async () => {
  const { port, password } = cluster
  const hosts = `127.0.0.1:1,127.0.0.1:${port}`
  const server = readPlatformServer(`postgres://postgres:${encoded(password)}@${hosts}/maps`)
  for (let round = 0; round < 2; round++) await (await connectPlatform(server, {})).end()
  const wrong = readPlatformServer(`postgres://postgres:wrong@127.0.0.1:${port},127.0.0.1:1/maps`)
  await assert.rejects(connectPlatform(wrong, {}), { code: '28P01' })
  const none = readPlatformServer(`postgres://postgres@127.0.0.1:${port}/maps`)
  await assert.rejects(connectPlatform(none, {}), /asks for a password of the role postgres, and there is none/)
})

for (const index of [0, 3]) {
  const name = ['a URI with a socket', '', '', 'keyword/value pairs with a socket'][index]
  test(`with ${name} a server starts, uploads, queries, makes tiles, is backed up, and doctor finds no fault`, {
    skip,
  }, async () => {
    await cluster.query(`CREATE DATABASE maps${index}`)
    const env = {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: (forms()[index] ?? '')
        .replace('/maps?', `/maps${index}?`)
        .replace('dbname=maps', `dbname=maps${index}`),
      DATA_DIR: join(directory, `data${index}`),
      MASTER_API_KEY: master,
      SECRET_KEY: 'a secret of these tests, long enough to be one',
      BACKUP_PASSPHRASE: 'several words that nobody guesses',
      PORT: '0',
    }
    const server = await startServer(env)
    try {
      const { output } = await runCommandLine(['keys'], env)
      const key = /[0-9a-f-]{36}/.exec(output)?.[0] ?? ''
      await demandWork(server.url, key)
      const doctor = await runCommandLine(['doctor', '--json'], env)
      const { lines } = JSON.parse(doctor.output) as { lines: { name: string; level: string; text: string }[] }
      const faults = lines.filter(({ level, name: check }) => level === 'fault' && check !== 'port')
      assert.deepEqual(faults, [], doctor.output)
      assert.match(doctor.output, new RegExp(`\\.s\\.PGSQL\\.${cluster.port}, database maps${index}, as postgres`))
      assert.match(doctor.output, /Roles of applications can log in/)
      const backup = await runCommandLine(['backup', join(directory, `backup${index}`)], env)
      assert.equal(backup.code, 0, backup.errors)
    } finally {
      await server.stop('SIGTERM')
    }
  })
}
