import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { asRole, describeServer, readPlatformServer } from './platform-server.ts'

let directory = ''
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'graticule-libpq-'))
})
after(() => rmSync(directory, { recursive: true, force: true }))

/** Host:port of each address, the user, the password and the database. */
function partsOf(text: string, env: Record<string, string> = {}): string {
  const { addresses, user, password, database } = readPlatformServer(text, { HOME: directory, ...env })
  const hosts = addresses.map(({ host, port, address }) => `${host}:${port}${address ? `=${address}` : ''}`)
  return [hosts.join(' '), user, password ?? addresses[0]?.password ?? '-', database].join(' | ')
}

test('every form of a connection string that libpq reads names its hosts, user, password and database', () => {
  const forms: Record<string, string> = {
    'postgres://u:p@h:5433/d': 'h:5433 | u | p | d',
    'postgresql://u@h/d': 'h:5432 | u | - | d',
    'postgres://u:p%40%2F%3A@h/a%20b': 'h:5432 | u | p@/: | a b',
    'postgres://u:p@ss@h/d': 'h:5432 | u | p@ss | d',
    'postgres://u:p?w@h/d': 'h:5432 | u | p?w | d',
    'postgres://u@a:1,b:2,[fd00::5]:3/d': 'a:1 b:2 fd00::5:3 | u | - | d',
    'postgres://u@a,b/d?port=6000': 'a:6000 b:6000 | u | - | d',
    'postgres://u@[::1]/d': '::1:5432 | u | - | d',
    'postgres://u@%2Frun%2Fsockets/d': '/run/sockets:5432 | u | - | d',
    'postgres://u@%2Frun%2Fsockets:5433/d': '/run/sockets:5433 | u | - | d',
    'postgres:///d?host=/run/sockets&port=5433&user=u&password=a%26b': '/run/sockets:5433 | u | a&b | d',
    'postgres://u@ignored:1/d?host=real&port=2': 'real:2 | u | - | d',
    'postgres://u@h?dbname=d': 'h:5432 | u | - | d',
    'postgres://u@h/': 'h:5432 | u | - | u',
    'postgres://u@h/d?application_name=a@b': 'h:5432 | u | - | d',
    'host=/run/sockets dbname=d user=u': '/run/sockets:5432 | u | - | d',
    "host = h  port=5433 user = 'u u'  password='a b\\' c' dbname=d": "h:5433 | u u | a b' c | d",
    'host=h user=u dbname=d password=a\\ b\\\\c ': 'h:5432 | u | a b\\c | d',
    "host=h user=u dbname=d password=''": 'h:5432 | u | - | d',
    'host=a,b port=1,2 user=u dbname=d': 'a:1 b:2 | u | - | d',
    'host=name hostaddr=10.0.0.7 user=u dbname=d': 'name:5432=10.0.0.7 | u | - | d',
    'hostaddr=10.0.0.7 user=u dbname=d': '10.0.0.7:5432=10.0.0.7 | u | - | d',
  }
  for (const [text, expected] of Object.entries(forms)) assert.equal(partsOf(text), expected, text)
})

test('what the string leaves open comes from its service, then from the environment, then from libpq’s defaults', () => {
  const service = join(directory, 'service.conf')
  writeFileSync(
    service,
    '[other]\nhost=wrong\n\n[maps]\n# a remark\nhost=/run/sockets\nport = 5433\ndbname=maps\nuser=of-service\n',
  )
  const env = {
    PGHOST: 'h',
    PGPORT: '6000',
    PGUSER: 'of-env',
    PGPASSWORD: 'secret',
    PGDATABASE: 'd',
    PGSERVICEFILE: service,
  }
  assert.equal(partsOf('postgres://', env), 'h:6000 | of-env | secret | d')
  assert.equal(partsOf('postgres://u@x/y', env), 'x:6000 | u | secret | y')
  assert.equal(partsOf('service=maps', env), '/run/sockets:5433 | of-service | secret | maps')
  assert.equal(partsOf('postgres:///?service=maps&user=u', env), '/run/sockets:5433 | u | secret | maps')
  assert.throws(() => partsOf('service=absent', env), /service "absent", which is in neither of/)
  assert.match(
    partsOf('postgres://h'),
    new RegExp(`^h:5432 \\| ${userInfo().username} \\| - \\| ${userInfo().username}$`),
  )
})

test('a password file gives the password of the first line that fits, unless others can read the file', () => {
  const file = join(directory, '.pgpass')
  const lines = [
    '# host:port:database:user:password',
    'h:5432:d:other:no',
    'h:*:d:u:a\\:b\\\\c',
    '*:*:*:*:rest',
    'h:5432:d:u:late',
  ]
  writeFileSync(file, lines.join('\n'), { mode: 0o600 })
  assert.equal(partsOf('postgres://u@h/d'), 'h:5432 | u | a:b\\c | d')
  assert.equal(partsOf('postgres://x@y/z'), 'y:5432 | x | rest | z')
  assert.equal(partsOf('postgres://u:own@h/d'), 'h:5432 | u | own | d')
  const open = join(directory, 'open.pgpass')
  writeFileSync(open, '*:*:*:*:seen', { mode: 0o644 })
  assert.equal(partsOf(`postgres://u@h/d?passfile=${open}`), 'h:5432 | u | - | d')
  rmSync(file)
})

test('settings of the session and of TLS are read, and another role takes all of them but the password', () => {
  const ca = join(directory, 'root.crt')
  writeFileSync(ca, 'certificates')
  const server = readPlatformServer(
    `postgres://u:p@h/d?sslmode=verify-full&sslrootcert=${ca}&connect_timeout=3&application_name=maps&options=-c%20geqo%3Doff&target_session_attrs=read-write&channel_binding=require&keepalives=1`.replace(
      '&keepalives=1',
      '',
    ),
  )
  assert.deepEqual(server.tls, { mode: 'verify-full', ca: 'certificates' })
  const { connectMs, applicationName, options, sessions, channelBinding } = server
  assert.deepEqual(
    [connectMs, applicationName, options, sessions, channelBinding],
    [3_000, 'maps', '-c geqo=off', 'read-write', 'require'],
  )
  assert.deepEqual(asRole(server, 'app', 'own'), { ...server, user: 'app', password: 'own' })
  assert.equal(readPlatformServer('postgres://h/d').tls.mode, 'allow')
  assert.equal(readPlatformServer('postgres://h/d?ssl=true').tls.mode, 'require')
  assert.equal(readPlatformServer('postgres://h/d', { PGSSLMODE: 'prefer' }).tls.mode, 'prefer')
})

test('what is not read is refused in words that name it and never the password', () => {
  const canary = 'canary-4f1d'
  const cases: Record<string, RegExp> = {
    'mysql://x': /must be postgres:/,
    [canary]: /must be postgres:/,
    [`postgres://u:${canary}@h/d?requirepeer=root`]: /has requirepeer, which this server does not read/,
    [`postgres://u:${canary}@h/d?sslmode=sometimes`]: /sslmode that is not known. It may be disable, allow/,
    [`postgres://u:${canary}@h/d?target_session_attrs=standby`]: /target_session_attrs that is not known/,
    [`postgres://u:${canary}@h/d?gssencmode=require`]: /gssencmode that is not known. It may be disable, prefer/,
    [`postgres://u:${canary}@h/d?sslmode=verify-ca`]: /needs sslrootcert/,
    [`postgres://u:${canary}@h/d?sslrootcert=/absent`]: /\/absent as sslrootcert, which cannot be read/,
    [`postgres://u:${canary}@h/d?sslcert=/absent`]: /both of sslcert and sslkey/,
    [`postgres://u:${canary}%@h/d`]: /percent sign/,
    [`postgres://u:${canary}@h:99999/d`]: /port that is not between/,
    [`postgres://u:${canary}@h:x/d`]: /host that cannot be read/,
    [`postgres://u:${canary}@h,i/d?port=1,2,3`]: /one port, or as many as hosts/,
    [`postgres://u:${canary}@h/d?connect_timeout=soon`]: /no number of seconds/,
    [`postgres://u:${canary}@h/d?client_encoding=latin1`]: /client_encoding/,
    [`host=h password='${canary}`]: /pairs of keyword=value/,
    [`host=@abstract password=${canary}`]: /abstract socket/,
  }
  for (const [text, expected] of Object.entries(cases)) {
    assert.throws(
      () => readPlatformServer(text),
      (error: Error) => expected.test(error.message) && !error.message.includes(canary),
      text,
    )
  }
})

test('messages name a server by its hosts or its socket', () => {
  assert.equal(describeServer(readPlatformServer('postgres://u@a,[::1]:6000/d')), 'a:5432 or [::1]:6000')
  assert.equal(describeServer(readPlatformServer('host=/run/sockets')), '/run/sockets/.s.PGSQL.5432')
})
