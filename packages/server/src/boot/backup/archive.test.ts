import assert from 'node:assert/strict'
import { createCipheriv } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type ArchiveEntry, createArchive, readArchive } from './archive.ts'
import { refusalOf } from './checked-ddl.ts'
import { isFilePath } from './data-files.ts'
import { readChecked } from './records.ts'
import { checkBackup } from './restore.ts'
import { chunkLength, headerLength } from './sealed-stream.ts'

/** The least that is allowed: 16 MB of memory for each key. */
const cost = 14
const passphrase = 'correct horse battery staple'
const signal = new AbortController().signal
const progress = () => ({ tables: 0, files: 0, bytes: 0 })

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-archive-'))
})
after(() => rm(directory, { recursive: true }))

let made = 0
/** An archive with these entries. */
async function archiveOf(entries: readonly { record: object; content?: Uint8Array[] }[]): Promise<string> {
  const path = join(directory, `archive-${++made}`)
  const archive = await createArchive(path, passphrase, cost)
  for (const { record, content } of entries) await archive.add(record as ArchiveEntry['record'], content)
  await archive.finish()
  return path
}

async function contentOf(path: string, words = passphrase): Promise<[object, Buffer][]> {
  const found: [object, Buffer][] = []
  for await (const { record, content } of readArchive(path, words)) {
    const pieces: Buffer[] = []
    for await (const piece of content) pieces.push(piece)
    found.push([record, Buffer.concat(pieces)])
  }
  return found
}

/** Does not compress, so that the archive has several chunks. */
const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(
  Buffer.alloc(2 * chunkLength + 100_000),
)
const entries = [
  { record: { kind: 'a', text: 'ü' }, content: [noise, Buffer.alloc(0), Buffer.from('end')] },
  { record: { kind: 'b' } },
]

test('an archive gives back its entries, in pieces of any size', async () => {
  const found = await contentOf(await archiveOf(entries))
  assert.deepEqual(
    found.map(([record]) => record),
    [{ kind: 'a', text: 'ü' }, { kind: 'b' }],
  )
  assert.ok(found[0]?.[1].equals(Buffer.concat([noise, Buffer.from('end')])))
})

test('another passphrase is refused with words, and so is what is no backup', async () => {
  const path = await archiveOf(entries)
  await assert.rejects(contentOf(path, 'incorrect horse'), /passphrase is not the one of this backup/)
  await writeFile(
    join(directory, 'text'),
    'no backup at all, but a text that is long enough to be one, of some hundred characters',
  )
  await assert.rejects(contentOf(join(directory, 'text')), /not a backup of Graticule/)
  const bytes = await readFile(path)
  bytes[16] = 2
  await writeFile(join(directory, 'newer'), bytes)
  await assert.rejects(contentOf(join(directory, 'newer')), /format 2.*Use a newer version/)
})

test('an archive that was cut anywhere is refused', async () => {
  const bytes = await readFile(await archiveOf(entries))
  const sealed = chunkLength + 16
  const ends = [
    0,
    10,
    headerLength,
    headerLength + 1,
    headerLength + sealed,
    headerLength + 2 * sealed,
    bytes.length - 1,
  ]
  for (const end of ends) {
    await writeFile(join(directory, 'cut'), bytes.subarray(0, end))
    await assert.rejects(contentOf(join(directory, 'cut')), { name: 'StartError' }, `cut at ${end}`)
  }
  await writeFile(join(directory, 'longer'), Buffer.concat([bytes, Buffer.from('x')]))
  await assert.rejects(contentOf(join(directory, 'longer')), /damaged/)
})

test('an archive with any bit flipped is refused', async () => {
  const bytes = await readFile(await archiveOf(entries))
  const flipped = join(directory, 'flipped')
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (place, bit) => {
      const changed = Buffer.from(bytes)
      changed[place] = (changed[place] ?? 0) ^ (1 << bit)
      await writeFile(flipped, changed)
      await assert.rejects(contentOf(flipped), { name: 'StartError' })
    }),
    {
      numRuns: 20,
      examples: [
        [0, 0],
        [16, 1],
        [17, 3],
        [20, 0],
        [60, 0],
        [headerLength, 0],
      ],
    },
  )
})

test('chunks in another order are refused', async () => {
  const bytes = await readFile(await archiveOf(entries))
  const sealed = chunkLength + 16
  const [first, second] = [0, 1].map((index) =>
    bytes.subarray(headerLength + index * sealed, headerLength + (index + 1) * sealed),
  )
  const swapped = Buffer.concat([
    bytes.subarray(0, headerLength),
    second ?? '',
    first ?? '',
    bytes.subarray(headerLength + 2 * sealed),
  ] as Buffer[])
  await writeFile(join(directory, 'swapped'), swapped)
  await assert.rejects(contentOf(join(directory, 'swapped')), /damaged/)
})

test('a file of an archive cannot lead out of the data directory', async () => {
  const archive = await archiveOf([{ record: { kind: 'file', path: 'files/../../x' } }])
  await assert.rejects(readChecked(archive, passphrase).next(), /outside of DATA_DIR: "files\/..\/..\/x"/)
  for (const path of [
    ...[
      '../x',
      'files/../../x',
      '/etc/passwd',
      'files',
      'files/',
      'files//x',
      'files/./x',
      'files/a\\..\\x',
      'secret.key',
    ],
    ...['database/PG_VERSION', 'files/a\0b', 'files/c:x', `files/${'x'.repeat(256)}`, 'files/\ud800'],
  ]) {
    assert.equal(isFilePath(path), false, path)
  }
  assert.ok(isFilePath('files/0b5e/ü ç.pmtiles') && isFilePath('fonts/Noto Sans Regular/0-255.pbf'))
})

test('an archive that is well sealed and has strange entries is refused', async () => {
  const backup = {
    kind: 'backup',
    id: '6f0c7c9e-5a8e-4a39-9b8e-0d4f3a0a7b11',
    version: '9',
    madeAt: '',
    secret: 's'.repeat(32),
    migrations: [],
  }
  const table = {
    kind: 'table',
    schema: `app_${'0'.repeat(32)}`,
    name: 't',
    create: `CREATE TABLE app_${'0'.repeat(32)}.t ()`,
    columns: [],
    finish: [],
    privileges: [],
    comment: null,
    columnComments: {},
    isWatched: true,
    isRowSecured: false,
    isRowForced: false,
  }
  const check = async (...records: object[]) =>
    checkBackup({
      path: await archiveOf(records.map((record) => ({ record }))),
      passphrase,
      progress: progress(),
      signal,
    })
  await check(backup, table)
  await assert.rejects(check(), /is empty/)
  await assert.rejects(check(table), /no beginning/)
  await assert.rejects(check(backup, backup), /or two/)
  await assert.rejects(check(backup, { kind: 'surprise' }), /not valid: surprise/)
  await assert.rejects(check(backup, { ...table, schema: 'svc' }), /not valid: table/)
  await assert.rejects(
    check(backup, { ...table, privileges: ['SELECT ON svc.apikeys TO PUBLIC; --'] }),
    /not valid: table/,
  )
  await assert.rejects(
    check(backup, { ...table, create: 'DROP SCHEMA svc CASCADE' }),
    /does not run, because it is a DropStmt/,
  )
  await assert.rejects(check(backup, { kind: 'file', path: 'files/a' }, { kind: 'file', path: 'files/a' }), /twice/)
  await assert.rejects(
    check({ ...backup, migrations: [{ number: 9999, name: '9999-future.sql', checksum: '' }] }),
    /made by version 9.*newer than this server/,
  )
})

const schema = 'app_00000000000000000000000000000000'

test('SQL of an archive that makes tables, indexes, keys, types and sequences may run', async () => {
  for (const statement of [
    `CREATE TABLE ${schema}."T ü" ("a b" integer NOT NULL, g geometry(Point,4326), t text COLLATE pg_catalog."C", n numeric(10,2)[])`,
    `CREATE TABLE ${schema}.t (a bigint GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME ${schema}.s START WITH 1))`,
    `CREATE TABLE ${schema}.t (a bigint DEFAULT nextval('${schema}.s'::regclass), b text GENERATED ALWAYS AS (lower(c)) STORED)`,
    `CREATE SEQUENCE ${schema}.s AS bigint START WITH 1 INCREMENT BY 1 MINVALUE 1 MAXVALUE 9 CACHE 1 CYCLE`,
    `ALTER SEQUENCE ${schema}.s OWNED BY ${schema}.t.a`,
    `CREATE TYPE ${schema}.mood AS ENUM ('it''s')`,
    `CREATE UNIQUE INDEX i ON ${schema}.t USING btree (a DESC, lower(b)) INCLUDE (c) WITH (fillfactor='70') WHERE (a > 0)`,
    `CREATE INDEX i ON ${schema}.t USING gist (st_transform(g, 3857))`,
    `ALTER TABLE ${schema}.t ADD CONSTRAINT p PRIMARY KEY (a)`,
    `ALTER TABLE ${schema}.t ADD CONSTRAINT c CHECK (((a > 0) AND (b ~ '^x'::text)))`,
    `ALTER TABLE ${schema}.t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES ${schema}.u(a) ON DELETE CASCADE NOT VALID`,
  ]) {
    assert.equal(await refusalOf(statement, schema), undefined, statement)
  }
})

test('SQL of an archive that does anything else is refused', async () => {
  for (const statement of [
    'SELECT 1',
    'DROP TABLE x',
    "COPY t TO PROGRAM 'id'",
    'DO $$ BEGIN END $$',
    '',
    'CREATE TABLE',
    '\0',
    `CREATE TABLE ${schema}.t (); DROP SCHEMA svc`,
    'CREATE TABLE svc.t ()',
    'CREATE TABLE t ()',
    `CREATE TABLE ${schema}.t (LIKE svc.apikeys)`,
    `CREATE TABLE ${schema}.t () INHERITS (svc.apikeys)`,
    `CREATE TABLE ${schema}.t () TABLESPACE x`,
    `CREATE TABLE ${schema}.t AS SELECT * FROM svc.apikeys`,
    `CREATE UNLOGGED TABLE ${schema}.t () WITH (fillfactor = 70)`,
    `CREATE TABLE ${schema}.t (a text DEFAULT pg_read_file('/etc/passwd'))`,
    `CREATE TABLE ${schema}.t (a text DEFAULT (SELECT max(secret) FROM svc.apikeys))`,
    `CREATE TABLE ${schema}.t (a bigint DEFAULT nextval('svc.data_changes_id_seq'::regclass))`,
    `CREATE TABLE ${schema}.t (a bigint DEFAULT nextval(('${schema}.s' || pg_read_file('x'))::regclass))`,
    `CREATE TABLE ${schema}.t (a bigint GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME svc.s))`,
    `ALTER TABLE ${schema}.t ADD CONSTRAINT c CHECK (pg_terminate_backend(a))`,
    `ALTER TABLE ${schema}.t ADD CONSTRAINT c CHECK (svc.tenant_name(a) = '')`,
    `ALTER TABLE ${schema}.t ADD CONSTRAINT c CHECK (t.pg_typeof > 0)`,
    `ALTER TABLE ${schema}.t ADD CONSTRAINT c CHECK (a OPERATOR(svc.+) 1 > 0)`,
    `ALTER TABLE svc.apikeys ADD CONSTRAINT c CHECK (true)`,
    `ALTER TABLE ${schema}.t OWNER TO postgres`,
    `ALTER TABLE ${schema}.t ADD COLUMN a int`,
    `ALTER TABLE ${schema}.t DISABLE TRIGGER ALL`,
    `ALTER TABLE ${schema}.t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES svc.apikeys(hash)`,
    `CREATE INDEX i ON svc.apikeys (hash)`,
    `CREATE INDEX i ON ${schema}.t (${schema}.f(a))`,
    `CREATE INDEX i ON ${schema}.t (a) TABLESPACE x`,
    `CREATE TYPE svc.mood AS ENUM ('a')`,
    `ALTER SEQUENCE ${schema}.s OWNED BY svc.apikeys.hash`,
  ]) {
    assert.notEqual(await refusalOf(statement, schema), undefined, statement)
  }
})
