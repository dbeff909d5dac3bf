import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { lastReleaseSql } from '../../../testing/upgrades/last-release.ts'
import { definedNames, definesFunctions, faultOfMigration } from '../../../testing/upgrades/migration-rules.ts'

/** What the last release had: its migrations are as they are. Raise both with each release, and keep its server: npm run pack-release. */
const lastRelease = { version: '0.1.0', migration: 23 }

/** The texts of a folder by the names of their files. */
function textsIn(folder: 'migrations' | 'functions'): Map<string, string> {
  const directory = join(import.meta.dirname, folder)
  const files = globSync('*.sql', { cwd: directory }).sort()
  return new Map(files.map((file) => [file, readFileSync(join(directory, file), 'utf8')]))
}

test('numbered files define no functions and no triggers, which stand in functions/', () => {
  for (const [file, text] of textsIn('migrations')) {
    assert.equal(definesFunctions(Number(file.slice(0, 4)), text), false, file)
  }
  const next = 40
  for (const text of [
    'CREATE FUNCTION svc.f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
    'create or replace\n  function svc.f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
    'ALTER FUNCTION svc.f() STABLE',
    'CREATE CONSTRAINT TRIGGER t AFTER INSERT ON svc.users FOR EACH ROW EXECUTE FUNCTION svc.f()',
    `DO $$ BEGIN EXECUTE 'CREATE OR REPLACE TRIGGER t AFTER INSERT ON svc.users EXECUTE FUNCTION svc.f()'; END $$`,
    'CREATE PROCEDURE svc.p() LANGUAGE sql AS $$ $$',
  ]) {
    assert.equal(definesFunctions(next, text), true, text)
  }
  for (const text of ['-- CREATE FUNCTION\nCREATE TABLE svc.functions (id int)', 'DROP FUNCTION IF EXISTS svc.f()']) {
    assert.equal(definesFunctions(next, text), false, text)
  }
})

test('functions and triggers of the last release are there, or a migration that no server of it needs drops them', async () => {
  const { migrations, functions } = await lastReleaseSql()
  const present = definedNames([...textsIn('functions').values()])
  const dropped = [...textsIn('migrations')].filter(([file]) => !migrations.has(file)).map(([, text]) => text)
  for (const name of definedNames([...migrations.values(), ...functions.values()])) {
    const isDropped = dropped.some((text) => new RegExp(`DROP (FUNCTION|TRIGGER)[^;]*\\b${name}\\b`).test(text))
    assert.ok(present.has(name) || isDropped, `${name} has no file, and stays in databases that have it`)
  }
})

test('functions that changed since the last release come with a migration, so that its servers do not put theirs back', async () => {
  const { migrations, functions } = await lastReleaseSql()
  const present = textsIn('functions')
  const isSame = functions.size === present.size && [...functions].every(([file, text]) => present.get(file) === text)
  const newest = (texts: Map<string, string>) => [...texts.keys()].sort().at(-1) ?? ''
  assert.ok(
    isSame || newest(textsIn('migrations')) > newest(migrations),
    'Add a migration, of a comment if no table changes: a server of the last release that starts again would not know that the database is newer.',
  )
})

test('no migration since the last release takes away what its servers use', () => {
  for (const [file, text] of textsIn('migrations')) {
    if (Number(file.slice(0, 4)) <= lastRelease.migration) continue
    assert.equal(faultOfMigration(text, lastRelease.version), undefined, file)
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
