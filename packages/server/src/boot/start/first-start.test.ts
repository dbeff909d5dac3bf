import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../../testing/database.ts'
import { createSecrets } from '../../api/access/secrets/secrets.ts'
import type { Db } from '../../kernel/db/db.ts'
import { openPostgres } from '../../kernel/db/postgres/postgres.ts'
import { migrate } from '../../kernel/db/schema/migrate.ts'
import { sql } from '../../kernel/db/sql.ts'
import { readPlatformServer } from '../../kernel/libpq/platform-server.ts'
import { listKeys, loadSecrets, setUp } from './first-start.ts'

let database: TestDatabase
let directory: string
before(async () => {
  database = await testDatabase()
  directory = await mkdtemp(join(tmpdir(), 'graticule-first-'))
})
after(async () => {
  await database.close()
  await rm(directory, { recursive: true, force: true })
})

test('three replicas that start together make one default application and one master key', async () => {
  const { db, url } = database
  const replicas: Db[] = url
    ? [1, 2, 3].map(() => openPostgres({ platform: readPlatformServer(url), poolSize: 2, onError: () => {} }))
    : [db, db, db]
  const made = await Promise.all(
    replicas.map(async (replica) => {
      await migrate(replica)
      return setUp(replica, await loadSecrets(replica, directory, undefined), undefined)
    }),
  )
  assert.equal(made.filter((key) => key !== undefined).length, 1)
  const [count] = await db.query(sql`
    SELECT (SELECT count(*) FROM svc.applications) AS applications,
           (SELECT count(*) FROM svc.apikeys WHERE type = 'master') AS masters,
           (SELECT count(*) FROM svc.apikeys WHERE type = 'app') AS others`)
  assert.deepEqual(count, { applications: 1, masters: 1, others: 2 })
  if (url) await Promise.all(replicas.map((replica) => replica.close()))
})

test('a database remembers its secret: the same opens it, another is refused', async () => {
  const { db } = database
  const secrets = await loadSecrets(db, directory, undefined)
  assert.equal((await listKeys(db, secrets)).length, 2)
  await assert.rejects(loadSecrets(db, directory, 'another secret of more than 32 characters'), /not the secret/)
  await assert.rejects(loadSecrets(db, join(directory, 'elsewhere'), undefined), /secret\.key is not the secret/)
})

test('a sealed value opens only in its place, and only unchanged', () => {
  const { seal, open } = createSecrets('a secret for tests, long enough to be one')
  const sealed = seal('hunter2', 'table.column.1')
  assert.equal(open(sealed, 'table.column.1'), 'hunter2')
  assert.notEqual(seal('hunter2', 'table.column.1'), sealed, 'nor does it look the same twice')
  assert.throws(() => open(sealed, 'table.column.2'))
  assert.throws(() => open(`${sealed.slice(0, -2)}AA`, 'table.column.1'))
  assert.throws(() => createSecrets('another secret of more than 32 characters').open(sealed, 'table.column.1'))
})
