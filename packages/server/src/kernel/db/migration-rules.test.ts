import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { faultOfMigration } from '../../../testing/migration-rules.ts'

/** What the last release had: its migrations are as they are. Raise both with each release, and keep its server: npm run pack-release. */
const lastRelease = { version: '0.1.0', migration: 23 }

test('no migration since the last release takes away what its servers use', () => {
  const directory = join(import.meta.dirname, 'migrations')
  for (const file of globSync('*.sql', { cwd: directory }).sort()) {
    if (Number(file.slice(0, 4)) <= lastRelease.migration) continue
    assert.equal(faultOfMigration(readFileSync(join(directory, file), 'utf8'), lastRelease.version), undefined, file)
  }
})

test('a migration that only adds is allowed', () => {
  for (const text of [
    'CREATE TABLE svc.things (id uuid PRIMARY KEY, name text NOT NULL)',
    'ALTER TABLE svc.users ADD COLUMN note text',
    `ALTER TABLE svc.users ADD COLUMN note text NOT NULL DEFAULT ''`,
    `ALTER TABLE svc.users ADD note text DEFAULT '' NOT NULL`,
    'ALTER TABLE svc.users DROP CONSTRAINT one; ALTER TABLE svc.users ADD CONSTRAINT one CHECK (id > 0) NOT VALID',
    'ALTER TABLE svc.users ALTER COLUMN note DROP NOT NULL',
    'CREATE TRIGGER keep BEFORE UPDATE OR DELETE OR TRUNCATE ON svc.log FOR EACH STATEMENT EXECUTE FUNCTION svc.keep()',
    '-- DROP TABLE in a comment\nCREATE INDEX ON svc.users (email)',
    'CREATE OR REPLACE FUNCTION svc.f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DROP TABLE x; END $$',
  ]) {
    assert.equal(faultOfMigration(text, '0.1.0'), undefined, text)
  }
})

test('a migration that takes something away is refused, unless no server needs it any more', () => {
  for (const text of [
    'ALTER TABLE svc.users DROP COLUMN email',
    'ALTER TABLE svc.users DROP email',
    'DROP TABLE svc.users',
    'DROP FUNCTION svc.f()',
    'DO $$ BEGIN DROP TABLE svc.users; END $$',
    'ALTER TABLE svc.users RENAME COLUMN email TO mail',
    'ALTER TABLE svc.users ALTER COLUMN email TYPE bytea USING email::bytea',
    'ALTER TABLE svc.users ALTER email SET NOT NULL',
    'ALTER TABLE svc.users ADD COLUMN note text NOT NULL',
    'TRUNCATE svc.sessions',
  ]) {
    assert.match(faultOfMigration(text, '0.4.0') ?? '', /does not say "-- contract after/, text)
    const marked = `-- contract after 0.3.0: the server of 0.4.0 does not read it\n${text}`
    assert.equal(faultOfMigration(marked, '0.4.0'), undefined)
    assert.match(faultOfMigration(marked, '0.3.0') ?? '', /servers of 0\.3\.0 may still run/)
  }
})
