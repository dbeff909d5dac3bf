/**
 * The functions and triggers in force: `functions/` has one file for each function of schema svc, with the triggers that call it. A file
 * is run when its digest differs from the recorded one, so that a body stands in one place and its history is that of the file.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Queryable } from './db.ts'
import { raw, sql } from './sql.ts'

export type SqlFunction = {
  readonly name: string
  /** CREATE OR REPLACE FUNCTION, with the comment above it. */
  readonly text: string
  /** CREATE TRIGGER …, as pg_get_triggerdef writes it, without the semicolon. */
  readonly triggers: readonly string[]
  readonly digest: string
}

export const functionsDirectory = fileURLToPath(new URL('./functions/', import.meta.url))

export async function readFunctions(directory: string = functionsDirectory): Promise<SqlFunction[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(files.map((file) => readFunction(directory, file)))
}

async function readFunction(directory: string, file: string): Promise<SqlFunction> {
  // Some checkouts on Windows change the line ends.
  const whole = (await readFile(join(directory, file), 'utf8')).replaceAll('\r\n', '\n')
  const triggers = [...whole.matchAll(/^CREATE TRIGGER [^;]+/gm)].map(([statement]) =>
    statement.replaceAll(/\s+/g, ' '),
  )
  const end = triggers.length > 0 ? whole.search(/^CREATE TRIGGER /m) : whole.length
  return {
    name: file.slice(0, -'.sql'.length),
    text: whole.slice(0, end),
    triggers,
    digest: createHash('sha256').update(whole).digest('hex'),
  }
}

/** Brings the functions of the database to what the files say, in the transaction of the caller, and returns the names of those that it ran. */
export async function applyFunctions(tx: Queryable, functions: readonly SqlFunction[]): Promise<string[]> {
  const outdated = functions.length > 0 ? await outdatedFunctions(tx, functions) : []
  if (outdated.length === 0) return []
  await createFunctions(tx, outdated)
  await createTriggers(tx, outdated)
  for (const { name, digest } of outdated) {
    await tx.query(sql`
      INSERT INTO svc.applied_functions (name, digest) VALUES (${name}, ${digest})
      ON CONFLICT (name) DO UPDATE SET digest = EXCLUDED.digest, applied_at = EXCLUDED.applied_at`)
  }
  return outdated.map(({ name }) => name)
}

/** Those that were never run in this text, or that somebody has dropped. */
export async function outdatedFunctions(
  db: Pick<Queryable, 'query'>,
  functions: readonly SqlFunction[],
): Promise<SqlFunction[]> {
  const rows = await db.query<{ name: string; digest: string }>(
    raw(`SELECT a.name, a.digest FROM svc.applied_functions a
      WHERE EXISTS (SELECT FROM pg_proc p WHERE p.proname = a.name AND p.pronamespace = 'svc'::regnamespace)`),
  )
  const digests = new Map(rows.map(({ name, digest }) => [name, digest]))
  return functions.filter(({ name, digest }) => digests.get(name) !== digest)
}

/** In any order: the bodies, which may call each other, are not checked here, but by a test. */
export async function createFunctions(tx: Queryable, functions: readonly SqlFunction[]): Promise<void> {
  if (functions.length === 0) return
  await tx.script('SET LOCAL check_function_bodies = off')
  for (const { text } of functions) await tx.script(text)
}

/** Leaves those that are there as they are: replacing a trigger locks its table, which servers write to. */
async function createTriggers(tx: Queryable, functions: readonly SqlFunction[]): Promise<void> {
  const wanted = functions.flatMap(({ triggers }) => triggers)
  if (wanted.length === 0) return
  const present = new Set((await readTriggers(tx)).map(({ definition }) => definition))
  for (const definition of wanted.filter((one) => !present.has(one))) {
    await tx.script(definition.replace('CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER'))
  }
}

type PlatformTrigger = {
  readonly name: string
  readonly table: string
  readonly definition: string
  readonly fires: boolean
}

/** The triggers of the platform's own tables, but for those of foreign keys. */
export const readTriggers = (db: Pick<Queryable, 'query'>): Promise<PlatformTrigger[]> =>
  db.query(
    raw(`SELECT t.tgname::text AS name, c.relname::text AS table, pg_get_triggerdef(t.oid) AS definition, t.tgenabled IN ('O', 'A') AS fires
      FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
      WHERE c.relnamespace = 'svc'::regnamespace AND NOT t.tgisinternal ORDER BY definition`),
  )
