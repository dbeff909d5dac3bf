import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { externalDatabase } from '../../../testing/database.ts'
import { makeDatabaseDirectory } from '../../../testing/database-directory.ts'
import { about } from '../../../testing/harness.ts'
import { until } from '../../../testing/until.ts'
import { digestOf } from '../../../testing/upgrades/database-digest.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { createSecrets } from '../../api/access/secrets/secrets.ts'
import type { Db } from '../../kernel/db/db.ts'
import { openEmbedded } from '../../kernel/db/embedded/embedded.ts'
import { openPostgres } from '../../kernel/db/postgres/postgres.ts'
import { raw, sql } from '../../kernel/db/sql.ts'
import { readPlatformServer } from '../../kernel/libpq/platform-server.ts'
import { loadConfig } from '../../kernel/settings/config.ts'
import { createApp } from '../app.ts'
import { createLogger } from '../start/log.ts'
import { createArchive } from './archive.ts'
import { openDataFiles } from './data-files.ts'
import type { LeftOut } from './records.ts'
import { restoreBackup } from './restore.ts'
import { searchPath } from './snapshot.ts'
import { type CatalogTable, readSequences, readTables } from './tenant-catalog.ts'
import { readState } from './tenant-ddl.ts'
import { writeBackup } from './write-backup.ts'

const passphrase = 'correct horse battery staple'
const secret = 'a secret for tests, long enough to be one'
const signal = new AbortController().signal
const progress = () => ({ tables: 0, files: 0, bytes: 0 })

let uploads: UploadApp
let parent: string
let path: string
let leftOut: LeftOut[]
let digests: Record<string, string>
let datasetId: string
let tile: string
let restored: Place
let user: { email: string; password: string; applicationId: string }
const closers: (() => Promise<void>)[] = []

/** What an operator may have made in the schema of an application, beside what uploads make. */
const ownObjects = (schema: string): string => `
  CREATE TYPE ${schema}.mood AS ENUM ('it''s fine', 'not');
  CREATE SEQUENCE ${schema}."Tickets" INCREMENT BY 5 START WITH 10;
  CREATE TABLE ${schema}.parents (
    id serial PRIMARY KEY, number bigint GENERATED ALWAYS AS IDENTITY (START WITH 100) UNIQUE,
    ticket bigint DEFAULT nextval('${schema}."Tickets"'), mood ${schema}.mood DEFAULT 'not',
    name text COLLATE "C" NOT NULL CHECK (length(name) < 100), folded text GENERATED ALWAYS AS (lower(name)) STORED,
    at timestamptz DEFAULT now(), days date[], price numeric(10, 2), bits bit varying(5), place geometry(PointZ, 2056), raw bytea);
  CREATE INDEX parents_lower ON ${schema}.parents (lower(name) DESC NULLS LAST) INCLUDE (price) WHERE price > 0;
  CREATE INDEX parents_place ON ${schema}.parents USING gist (place);
  COMMENT ON TABLE ${schema}.parents IS 'It''s a \\ comment';
  COMMENT ON COLUMN ${schema}.parents.name IS 'of a column';
  INSERT INTO ${schema}.parents (name, days, price, bits, place, raw)
    VALUES (E'tab\\t and line\\n, "quotes" and \\\\N ü 🙂', '{2020-01-01,NULL}', 1.5, '101', 'SRID=2056;POINT Z(1 2 3)', '\\x00ff'), ('', NULL, 'NaN', NULL, NULL, '');
  CREATE TABLE ${schema}."Odd "" name" ("a ""b" int, parent int REFERENCES ${schema}.parents ON DELETE CASCADE);
  INSERT INTO ${schema}."Odd "" name" VALUES (1, 1), (NULL, NULL);
  CREATE TABLE ${schema}.nothing ();
  INSERT INTO ${schema}.nothing DEFAULT VALUES;
  CREATE TABLE ${schema}.secured (a int); ALTER TABLE ${schema}.secured ENABLE ROW LEVEL SECURITY;
  CREATE POLICY only_one ON ${schema}.secured USING (a = 1);
  REVOKE SELECT ON ${schema}.parents FROM ${schema}; GRANT SELECT, INSERT ON ${schema}."Odd "" name" TO ${schema};
  CREATE VIEW ${schema}.seen AS SELECT name FROM ${schema}.parents;
  CREATE FUNCTION ${schema}.double(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
  CREATE DOMAIN ${schema}.short AS varchar(5);
  CREATE TABLE ${schema}.uses (a ${schema}.short, b int DEFAULT ${schema}.double(4));
  CREATE INDEX uses_double ON ${schema}.uses (${schema}.double(b));
  INSERT INTO ${schema}.uses VALUES ('short', 1);
  CREATE TABLE ${schema}.parted (a int, b text) PARTITION BY RANGE (a);
  CREATE TABLE ${schema}.parted_1 PARTITION OF ${schema}.parted FOR VALUES FROM (0) TO (10);
  INSERT INTO ${schema}.parted VALUES (1, 'one'), (2, 'two')`

/** Not comparable: something of them is left out. */
const changed = new Set(['uses', 'parted'])

before(async () => {
  uploads = await uploadApp({ OVERVIEW_MIN_ROWS: '100' })
  parent = await makeDatabaseDirectory('backup')
  const { app, tenant, schema, directory } = uploads
  const points = Array.from(
    { length: 300 },
    (_, index) => `${(index % 20) * 3},${Math.floor(index / 20) * 3},name ${index}`,
  )
  const done = await uploads.upload({ name: 'points.csv', bytes: `lon,lat,name\n${points.join('\n')}\n` })
  datasetId = done.datasetId
  await untilBuilt(app.db)
  const { id: _, ...credentials } = await app.user(tenant.id)
  user = credentials
  await app.call('POST', '/api/v1/databases', {
    body: {
      type: 'postgresql',
      name: 'elsewhere',
      host: 'db.example.org',
      port: 5432,
      user: 'u',
      password: 'p',
      db: 'd',
      applicationId: tenant.id,
    },
  })
  // As a server does when it starts.
  await app.db.query(sql`INSERT INTO svc.settings VALUES ('secret_fingerprint', ${app.secrets.fingerprint})`)
  await app.db.script(ownObjects(schema))
  await app.db.query(sql`SELECT svc.watch_tables(${schema})`)
  await mkdir(join(directory, 'files', tenant.id), { recursive: true })
  await writeFile(join(directory, 'files', tenant.id, 'places ü.pmtiles'), Buffer.alloc(300_000, 7))
  await mkdir(join(directory, 'fonts', 'Own Regular'), { recursive: true })
  await writeFile(join(directory, 'fonts', 'Own Regular', '0-255.pbf'), 'glyphs')
  tile = await tileOf(app.http, tenant.developer)
  await backUp()
})

after(async () => {
  for (const close of closers.reverse()) await close()
  await uploads.close()
  await rm(parent, { recursive: true, force: true })
})

const untilBuilt = (db: Db): Promise<void> =>
  until(async () => {
    const [row] = await db.query(sql`SELECT state FROM svc.overviews WHERE dataset_id = ${datasetId}::uuid`)
    assert.notEqual(row?.state, 'failed')
    return row?.state === 'built'
  })

type Http = UploadApp['app']['http']

async function tileOf(http: Http, key: string): Promise<string> {
  const reply = await http.inject({
    method: 'GET',
    url: `/tiles/${datasetId}/1/1/0.mvt`,
    headers: { 'x-api-key': key },
  })
  assert.equal(reply.statusCode, 200, reply.body)
  assert.ok(reply.rawPayload.length > 100)
  return reply.rawPayload.toString('base64')
}

/** Again when the server wrote something of its own meanwhile. */
async function backUp(): Promise<void> {
  for (;;) {
    digests = await digestOf(uploads.app.db)
    path = join(parent, `${randomUUID()}.graticule`)
    leftOut = await writeTo(path, uploads.app.db)
    try {
      return assert.deepEqual(await digestOf(uploads.app.db), digests)
    } catch {}
  }
}

async function writeTo(file: string, db: Db, directory = uploads.directory): Promise<LeftOut[]> {
  const archive = await createArchive(file, passphrase, 14)
  const files = openDataFiles(directory)
  return writeBackup({ db, files, archive, secret, version: '0.0.0', progress: progress(), signal })
}

type Place = { directory: string; openDatabase(): Promise<Db>; isEmbedded: boolean }

async function embeddedPlace(): Promise<Place> {
  const directory = join(parent, randomUUID())
  const openDatabase = () => openEmbedded({ directory: join(directory, 'database'), onError: () => {} })
  return { directory, openDatabase, isEmbedded: true }
}

async function postgresPlace(): Promise<Place> {
  const database = await externalDatabase()
  closers.push(() => database?.close() ?? Promise.resolve())
  const openDatabase = async () =>
    openPostgres({ platform: readPlatformServer(database?.url ?? ''), poolSize: 5, onError: () => {} })
  return { directory: join(parent, randomUUID()), openDatabase, isEmbedded: false }
}

const ownPlace = (): Promise<Place> => (uploads.app.db.kind === 'embedded' ? embeddedPlace() : postgresPlace())

const restoreTo = (place: Place, from = path, secretKey?: string) =>
  restoreBackup({
    path: from,
    passphrase,
    ...place,
    files: openDataFiles(place.directory),
    secretKey,
    progress: progress(),
    signal,
  })

async function inPlace<T>(place: Place, work: (db: Db) => Promise<T>): Promise<T> {
  const db = await place.openDatabase()
  return work(db).finally(() => db.close())
}

/** Tables with columns, constraints, indexes, comments and rights, and sequences with their state. */
const catalogOf = (db: Db) =>
  db.transaction(async (tx) => {
    await tx.script(await searchPath(tx))
    const tables: CatalogTable[] = []
    for await (const batch of readTables(tx, uploads.schema)) tables.push(...batch)
    const sequences = await readSequences(tx, uploads.schema)
    const states = await Promise.all(sequences.map(({ name }) => readState(tx, uploads.schema, name)))
    return {
      tables: tables.filter(({ name }) => !changed.has(name)).map(({ bytes: _, ...table }) => table),
      sequences,
      states,
    }
  })

async function filesIn(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { path: name } of openDataFiles(directory).list(() => {})) {
    found[name] = (await readFile(join(directory, name))).toString('base64')
  }
  return found
}

/** Serves what was restored: the key works, the user can log in, the tile is the same. */
async function assertServes(place: Place, db: Db): Promise<void> {
  const kept = (await readFile(join(place.directory, 'secret.key'), 'utf8')).trim()
  const config = loadConfig({ DATA_DIR: place.directory, OVERVIEW_MIN_ROWS: '100', ...(await addressOf(place, db)) })
  const app = await createApp({ db, secrets: createSecrets(kept), logger: createLogger('silent'), config, about })
  try {
    assert.equal(await tileOf(app.http, uploads.tenant.developer), tile)
    const login = await app.http.inject({ method: 'POST', url: '/api/v1/auth/login', payload: user })
    assert.equal(login.statusCode, 200, login.body)
    const own = await app.http.inject({ url: `/api/v1/apikeys`, headers: { 'x-api-key': uploads.app.master } })
    assert.ok(own.body.includes(uploads.tenant.public), 'sealed keys can be shown again')
  } finally {
    await app.close()
  }
}

async function addressOf({ isEmbedded }: Place, db: Db): Promise<{ DATABASE_URL?: string }> {
  if (isEmbedded) return {}
  const [row] = await db.query<{ name: string; role: string }>(
    raw('SELECT current_database() AS name, current_user::text AS role'),
  )
  const url = new URL(process.env.TEST_EXTERNAL_URL ?? process.env.TEST_DATABASE_URL ?? '')
  url.username = row?.role ?? ''
  url.pathname = `/${row?.name}`
  return { DATABASE_URL: url.href }
}

async function assertEqual(place: Place, db: Db): Promise<void> {
  const found = await digestOf(db)
  assert.ok(Object.keys(found).length > 30)
  assert.deepEqual(found, digests)
  assert.deepEqual(await catalogOf(db), await catalogOf(uploads.app.db))
  assert.deepEqual(await filesIn(place.directory), await filesIn(uploads.directory))
}

test('what is restored has the same rows, definitions and files, and serves the same', async () => {
  const place = await ownPlace()
  await restoreTo(place)
  restored = place
  await inPlace(place, async (db) => {
    await assertEqual(place, db)
    await assertServes(place, db)
    const watched = sql`SELECT FROM svc.data_changes WHERE schema_name = ${uploads.schema} AND table_name = 'parents'`
    const before = (await db.query(watched)).length
    await db.query(sql`INSERT INTO ${raw(uploads.schema)}.parents (name) VALUES ('new')`)
    assert.ok((await db.query(watched)).length > before, 'changes are noted again')
  })
})

test('a backup goes from PostgreSQL to the embedded database and back', {
  skip: process.env.TEST_DATABASE_URL === undefined,
}, async () => {
  const embedded = await embeddedPlace()
  await restoreTo(embedded)
  const again = join(parent, 'again.graticule')
  await inPlace(embedded, async (db) => {
    await assertEqual(embedded, db)
    await writeTo(again, db, embedded.directory)
  })
  const place = await postgresPlace()
  await restoreTo(place, again)
  await inPlace(place, async (db) => {
    await assertEqual(place, db)
    await assertServes(place, db)
  })
})

test('what a backup does not hold is listed, and its definitions are beside what was restored', async () => {
  const what = leftOut.map((one) => one.what).join('\n')
  for (const expected of [
    /view .*\.seen/,
    /function .*\.double/,
    /type .*\.short of the column "a"/,
    /"b" of .*"uses" is filled/,
    /policy only_one/,
    /partitions of .*"parted"/,
    /part of .*"uses", because it calls the function/,
  ]) {
    assert.match(what, expected)
  }
  assert.doesNotMatch(what, /svc_|svc\./)
  const place = restored
  const text = await readFile(join(place.directory, 'left-out.sql'), 'utf8')
  assert.match(text, /CREATE VIEW .*seen AS/)
  assert.match(text, /CREATE OR REPLACE FUNCTION .*double/)
  await inPlace(place, async (db) => {
    const [row] = await db.query(
      sql`SELECT relrowsecurity AS "isSecured" FROM pg_class WHERE oid = ${`${uploads.schema}.secured`}::regclass`,
    )
    assert.equal(row?.isSecured, true, 'without its policy a table stays closed')
  })
})

test('a place that is not empty is refused, and stays as it is', async () => {
  const place = await ownPlace()
  await mkdir(join(place.directory, 'files'), { recursive: true })
  await writeFile(join(place.directory, 'files', 'mine'), 'x')
  await assert.rejects(restoreTo(place), /files is not empty, and restore replaces nothing/)
  assert.deepEqual(await readdir(place.directory), ['files'])
  await rm(place.directory, { recursive: true })
  await assert.rejects(
    restoreTo(place, path, 'another secret of more than 32 characters'),
    /SECRET_KEY is not the secret of the backup/,
  )
  await mkdir(join(place.directory), { recursive: true })
  await writeFile(join(place.directory, 'secret.key'), 'another secret of more than 32 characters')
  await assert.rejects(restoreTo(place), /secret\.key is not the secret of the backup/)
  await rm(place.directory, { recursive: true })
  await inPlace(place, (db) => db.script('CREATE SCHEMA svc'))
  if (place.isEmbedded) await assert.rejects(restoreTo(place), /database is not empty/)
  else await assert.rejects(restoreTo(place), /has a schema "svc" already/)
})

test('a restore that is interrupted leaves nothing that could be used, and can be repeated', async () => {
  const place = await ownPlace()
  const failing: Place = {
    ...place,
    async openDatabase() {
      const db = await place.openDatabase()
      return {
        ...db,
        transaction: (work) =>
          db.transaction(async (tx) => {
            await work(tx)
            // Killed before the end of the transaction.
            throw new Error('killed')
          }),
      }
    },
  }
  await assert.rejects(restoreTo(failing), /killed/)
  const { demandNoUnfinishedRestore } = await import('./restore-target.ts')
  await assert.rejects(demandNoUnfinishedRestore(place.directory), /was interrupted. Run it again/)
  await restoreTo(place)
  await demandNoUnfinishedRestore(place.directory)
  await inPlace(place, (db) => assertEqual(place, db))
})

test('a restore that was killed after its transaction is finished by repeating it', {
  skip: process.env.TEST_DATABASE_URL === undefined,
}, async () => {
  const place = await postgresPlace()
  const { backup } = await restoreTo(place)
  await writeFile(join(place.directory, 'restore-unfinished'), backup.id)
  await restoreTo(place)
  assert.ok(!(await readdir(place.directory)).includes('restore-unfinished'))
  await inPlace(place, (db) => assertEqual(place, db))
})

test('a backup under writes holds one moment of all tables, also of those that are replaced meanwhile', async () => {
  const { app, schema } = uploads
  await app.db.script(`
    CREATE TABLE ${schema}.debit (amount int); CREATE TABLE ${schema}.credit (amount int); CREATE TABLE ${schema}.swapped AS SELECT 1 AS one;
    INSERT INTO ${schema}.debit VALUES (0); INSERT INTO ${schema}.credit VALUES (0)`)
  let isOver = false
  const move = async () => {
    for (let moved = 1; !isOver; moved++) {
      await app.db.transaction(async (tx) => {
        await tx.script(
          `INSERT INTO ${schema}.debit VALUES (${moved}); INSERT INTO ${schema}.credit VALUES (-${moved})`,
        )
        await tx.script(`CREATE TABLE ${schema}.next_swapped AS SELECT 1 AS one; DROP TABLE ${schema}.swapped;
          ALTER TABLE ${schema}.next_swapped RENAME TO swapped`)
      })
    }
  }
  const moving = move()
  const file = join(parent, 'ledger.graticule')
  await writeTo(file, app.db)
  isOver = true
  await moving
  const place = await ownPlace()
  await restoreTo(place, file)
  await inPlace(place, async (db) => {
    const [row] = await db.query(sql`SELECT (SELECT sum(amount) FROM ${raw(schema)}.debit)::int4 AS debit,
      (SELECT sum(amount) FROM ${raw(schema)}.credit)::int4 AS credit, (SELECT count(*) FROM ${raw(schema)}.swapped)::int4 AS swapped`)
    assert.equal(Number(row?.debit) + Number(row?.credit), 0)
    assert.equal(row?.swapped, 1, 'a table that is replaced is never empty')
  })
})
