import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createSecrets } from '../src/api/access/secrets/secrets.ts'
import { createReadiness } from '../src/api/server-info/readiness.ts'
import { setUp } from '../src/boot/start/first-start.ts'
import { canTenantsLogIn } from '../src/data/databases/tenant-login.ts'
import type { Db } from '../src/kernel/db/db.ts'
import { openPostgres } from '../src/kernel/db/postgres/postgres.ts'
import { migrate } from '../src/kernel/db/schema/migrate.ts'
import { missingNeeds } from '../src/kernel/db/schema/needs.ts'
import { readPlatformServer } from '../src/kernel/libpq/platform-server.ts'
import { runCommandLine, startServer } from '../testing/command-line.ts'
import { type ScramCluster, scramLines, startScramCluster } from '../testing/peers/scram-cluster.ts'

// What a server lacks is named by readiness, and `doctor` prints the statement that gives it, for the role of the documents.

const skip = process.env.TEST_DATABASE_URL ? false : 'needs PostgreSQL'
const secretKey = 'a secret of these tests, long enough to be one'
const secrets = createSecrets(secretKey)

let cluster: ScramCluster
let directory = ''
let db: Db
let root: pg.Client
const url = (database = 'graticule') => `postgres://graticule:secret@127.0.0.1:${cluster.port}/${database}`

before(async () => {
  if (skip) return
  directory = await mkdtemp(join(tmpdir(), 'graticule-rights-'))
  cluster = await startScramCluster()
  await cluster.query(`CREATE ROLE graticule LOGIN CREATEROLE PASSWORD 'secret'`)
  await cluster.query('CREATE DATABASE graticule OWNER graticule')
  await cluster.query('CREATE EXTENSION postgis', 'graticule')
  const { port, password } = cluster
  root = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password, database: 'graticule' })
  await root.connect()
  db = openPostgres({ platform: readPlatformServer(url()), poolSize: 3, onError: () => {} })
  await migrate(db)
  await setUp(db, secrets, undefined)
})
after(async () => {
  await db?.close()
  await root?.end()
  await cluster?.close()
  await rm(directory, { recursive: true, force: true })
})

const missing = async () => (await missingNeeds(db)).map(({ what }) => what)

/** What readiness says to whoever asks first. */
async function readinessNow() {
  const readiness = createReadiness({
    db,
    health: { check: async () => 'ok' },
    storage: { state: async () => 'ok' },
    failing: () => [],
    isStopping: () => false,
    canTenantsLogIn: () => canTenantsLogIn(db, secrets, readPlatformServer(url())),
  })
  await readiness.settle()
  return readiness.check()
}

/** What `doctor` prints, by the names of its checks. */
async function doctor(database = 'graticule') {
  const env = { DATABASE_URL: url(database), SECRET_KEY: secretKey, DATA_DIR: directory, PORT: '0' }
  const { output } = await runCommandLine(['doctor', '--json'], env)
  const { lines } = JSON.parse(output) as { lines: { name: string; level: string; text: string; mend?: string }[] }
  return lines.filter(({ level }) => level === 'fault')
}

/** Every right on every object of schema svc, from the catalogs and in other words than the server's. */
const everyRight = `
  SELECT format('%s ON svc.%I', right_, relname) AS taken, format('%s on table svc.%I', right_, relname) AS named
  FROM pg_class, unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS right_
  WHERE relnamespace = 'svc'::regnamespace AND relkind IN ('r', 'p')
  UNION ALL SELECT format('%s ON SEQUENCE svc.%I', right_, relname), format('%s on sequence svc.%I', right_, relname)
  FROM pg_class, unnest('{USAGE,SELECT,UPDATE}'::text[]) AS right_
  WHERE relnamespace = 'svc'::regnamespace AND relkind = 'S'
  UNION ALL SELECT format('EXECUTE ON FUNCTION %s', oid::regprocedure), format('EXECUTE on function svc.%I', proname)
  FROM pg_proc WHERE pronamespace = 'svc'::regnamespace
  UNION ALL SELECT format('%s ON SCHEMA %I', right_, nspname), format('%s on schema %I', right_, nspname)
  FROM pg_namespace, unnest('{USAGE,CREATE}'::text[]) AS right_ WHERE nspname = 'svc' OR nspname LIKE 'app\\_%'`

/** Rights to take away together: one by one in a run of everything, otherwise as many as are not of one object. */
function batchesOf(rights: readonly Right[]): Right[][] {
  if (process.env.TEST_ALL) return rights.map((right) => [right])
  const batches: Right[][] = []
  for (const right of rights) {
    const isFree = (batch: Right[]) =>
      batch.every(({ object }) => object !== right.object && !object.startsWith('SCHEMA'))
    // Of a schema alone, because everything in it depends on that.
    const batch = right.named.includes('on schema') ? undefined : batches.find(isFree)
    if (batch) batch.push(right)
    else batches.push([right])
  }
  return batches
}

type Right = { taken: string; named: string; object: string }

test('each right that is taken away is named, nothing else is, and the statement for it gives it back', {
  skip,
}, async () => {
  assert.deepEqual(await missing(), [])
  const { rows } = await root.query<{ taken: string; named: string }>(everyRight)
  assert.ok(rows.length > 150, `${rows.length} rights`)
  const rights = rows.map((row) => ({ ...row, object: row.taken.replace(/^\w+ ON /, '') }))
  for (const batch of batchesOf(rights)) {
    await root.query(batch.map(({ taken }) => `REVOKE ${taken} FROM PUBLIC, graticule`).join(';'))
    const needs = await missingNeeds(db)
    assert.deepEqual(needs.map(({ what }) => what).sort(), batch.map(({ named }) => named).sort())
    await root.query(needs.map(({ mend }) => mend ?? '').join('\n'))
    assert.deepEqual(await missing(), [], needs.map(({ mend }) => mend).join('\n'))
  }
})

/** Other things that may be missing: how they go, what readiness says, and how they come back. */
const causes: Record<string, { take: string; said: string; check?: string }> = {
  'no CREATEROLE': { take: 'ALTER ROLE graticule NOCREATEROLE', said: 'rights: CREATEROLE of the role graticule' },
  'no CREATE on the database': {
    take: 'ALTER DATABASE graticule OWNER TO postgres; REVOKE ALL ON DATABASE graticule FROM graticule; GRANT CONNECT ON DATABASE graticule TO graticule',
    said: 'rights: CREATE on the database',
  },
  'a table of another role': {
    take: 'ALTER TABLE svc.outbox OWNER TO postgres; GRANT ALL ON svc.outbox TO graticule',
    said: 'rights: ownership of table svc.outbox',
  },
  'a function of another role': {
    take: 'ALTER FUNCTION svc.keep_audit() OWNER TO postgres',
    said: 'rights: ownership of function svc.keep_audit',
  },
  'sessions that only read': {
    take: 'ALTER ROLE graticule IN DATABASE graticule SET default_transaction_read_only = on',
    said: 'rights: sessions that may write (default_transaction_read_only is on)',
  },
  'a search_path without public': {
    take: 'ALTER ROLE graticule IN DATABASE graticule SET search_path = svc',
    said: 'rights: the schema public in search_path',
  },
  'no right on schema public': {
    take: 'REVOKE USAGE ON SCHEMA public FROM PUBLIC, graticule',
    said: 'rights: USAGE on schema public',
  },
  'a function of PostGIS': {
    take: 'REVOKE EXECUTE ON FUNCTION st_makevalid(geometry) FROM PUBLIC',
    said: 'postgis: EXECUTE on function st_makevalid',
  },
}

test('whatever else is missing makes readiness 503 with its name, and doctor prints what mends it', {
  skip,
}, async () => {
  for (const [cause, { take, said }] of Object.entries(causes)) {
    await root.query(take)
    await cluster.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'graticule'`)
    const { isReady, reasons } = await readinessNow()
    assert.deepEqual([isReady, reasons.includes(said)], [false, true], `${cause}: ${reasons}`)
    const faults = await doctor()
    assert.ok(faults.length > 0, cause)
    for (const { mend = '' } of faults) await root.query(mend.replace(/^As a superuser: /, ''))
    await cluster.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'graticule'`)
    const mended = await readinessNow()
    assert.deepEqual(mended.reasons, [], cause)
    assert.ok(mended.isReady, cause)
  }
})

test('an older PostGIS, and none, are named', { skip }, async () => {
  const { rows } = await root.query(`SELECT extversion FROM pg_extension WHERE extname = 'postgis'`)
  await root.query(`UPDATE pg_extension SET extversion = '2.5.9' WHERE extname = 'postgis'`)
  const { checks, reasons } = await readinessNow()
  assert.deepEqual([checks.postgis, reasons], ['missing', ['postgis: PostGIS 3.0 or later (it is 2.5.9)']])
  assert.match(JSON.stringify(await doctor()), /ALTER EXTENSION postgis UPDATE/)
  await root.query(`UPDATE pg_extension SET extversion = $1 WHERE extname = 'postgis'`, [rows[0].extversion])
  await cluster.query('CREATE DATABASE bare OWNER graticule')
  const bare = openPostgres({ platform: readPlatformServer(url('bare')), poolSize: 1, onError: () => {} })
  const [need] = await missingNeeds(bare)
  await bare.close()
  assert.deepEqual([need?.subject, need?.mend], ['postgis', 'CREATE EXTENSION postgis SCHEMA public;'])
  assert.match(JSON.stringify(await doctor('bare')), /CREATE EXTENSION postgis;/)
})

test('roles of applications that pg_hba.conf refuses make readiness 503, and doctor prints the line', {
  skip,
}, async () => {
  assert.equal((await readinessNow()).checks.tenants, 'ok')
  await cluster.setHba(['host all postgres,graticule 127.0.0.1/32 scram-sha-256'])
  const { isReady, checks, reasons } = await readinessNow()
  assert.deepEqual([isReady, checks.tenants], [false, 'refused'])
  assert.deepEqual(reasons, ['tenants: login of applications’ roles (pg_hba.conf)'])
  const [fault] = await doctor()
  assert.match(fault?.mend ?? '', /"host graticule all ADDRESS\/32 scram-sha-256"/)
  await cluster.setHba(scramLines)
  assert.equal((await readinessNow()).checks.tenants, 'ok')
})

test('a server that starts without a right says so at once, names no SQL, and is ready once the right is back', {
  skip,
}, async () => {
  await root.query('REVOKE SELECT ON svc.uploads FROM graticule')
  const env = { DATABASE_URL: url(), SECRET_KEY: secretKey, DATA_DIR: directory, PORT: '0' }
  const server = await startServer(env)
  try {
    const ask = async () => {
      const answer = await fetch(`${server.url}/api/v1/readiness`)
      return { status: answer.status, body: (await answer.json()) as { checks: object; reasons?: string[] } }
    }
    const { status, body } = await ask()
    assert.equal(status, 503)
    assert.ok(body.reasons?.includes('rights: SELECT on table svc.uploads'), JSON.stringify(body))
    const end = Date.now() + 120_000
    while (!(await ask()).body.reasons?.includes('work: uploads')) assert.ok(Date.now() < end, server.output())
    assert.match(server.output(), /uploads were not started/)
    assert.doesNotMatch(JSON.stringify((await ask()).body), /FROM|permission denied/)
    await root.query('GRANT SELECT ON svc.uploads TO graticule')
    while ((await ask()).status !== 200) assert.ok(Date.now() < end + 60_000, JSON.stringify(await ask()))
  } finally {
    await root.query('GRANT SELECT ON svc.uploads TO graticule')
    await server.stop('SIGTERM')
  }
})
