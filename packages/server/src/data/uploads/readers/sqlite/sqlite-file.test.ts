import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { openSqliteFile, type SqliteFile } from './sqlite-file.ts'

let directory: string
let file: SqliteFile
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-sqlite-'))
  const path = join(directory, 'a.gpkg')
  const made = new DatabaseSync(path)
  made.exec(`
    CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO plain VALUES (1, 'one');
    CREATE VIEW behind AS SELECT * FROM plain;
    CREATE VIEW endless AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r;
    CREATE VIRTUAL TABLE searched USING fts5(text);`)
  made.close()
  file = openSqliteFile(path)
})
after(async () => {
  file.close()
  await rm(directory, { recursive: true, force: true })
})

test('plain tables of an SQLite file can be read', () => {
  assert.deepEqual(
    file.database
      .prepare('SELECT name FROM plain')
      .all()
      .map(({ name }) => name),
    ['one'],
  )
})

for (const text of [
  'SELECT * FROM behind',
  'SELECT * FROM endless',
  'SELECT * FROM searched',
  'SELECT text FROM searched_content',
  'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r',
  'SELECT randomblob(1000000000)',
  "SELECT load_extension('x')",
  'SELECT * FROM pragma_database_list',
  'PRAGMA database_list',
  "ATTACH ':memory:' AS other",
  'CREATE TEMP TABLE t (a)',
  'DELETE FROM plain',
]) {
  test(`an SQLite file of a stranger's is not asked: ${text}`, () => {
    assert.throws(() => file.database.prepare(text).all())
  })
}
