// Writes a backup: records, tenants' tables, files and the secret, as entries of one archive.
import { randomUUID } from 'node:crypto'
import type { Db, Transaction } from '../../kernel/db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import type { ArchiveWriter } from './archive.ts'
import type { DataFiles } from './data-files.ts'
import { findLeftOut } from './left-out.ts'
import type { BackupRecord, LeftOut, RecordsRecord, SequenceState } from './records.ts'
import { type Snapshot, withSnapshot } from './snapshot.ts'
import { type CatalogTable, readSequences, readTables } from './tenant-catalog.ts'
import { describeTable, describeTenant, finishTenant, readState } from './tenant-ddl.ts'

/** How far it is, for whoever watches. */
export type BackupProgress = { tables: number; files: number; bytes: number }

export type BackupParts = {
  readonly db: Db
  readonly files: DataFiles
  readonly archive: ArchiveWriter
  readonly secret: string
  readonly version: string
  readonly progress: BackupProgress
  readonly signal: AbortSignal
}

/** Answers what it does not hold. */
export async function writeBackup(parts: BackupParts): Promise<LeftOut[]> {
  const { db, archive } = parts
  const leftOut: LeftOut[] = []
  const leaveOut = (one: LeftOut): void => void leftOut.push(one)
  await withSnapshot(db, async (snapshot) => {
    const { tx, schemas } = snapshot
    await archive.add(await describeBackup(tx, parts))
    await writeUploads(tx, parts, leaveOut)
    await writeRecords(tx, parts)
    leftOut.push(...(await findLeftOut(tx)))
    for (const schema of schemas) await writeTenant(snapshot, schema, parts, leaveOut)
  })
  await writeFiles(parts, leaveOut)
  await archive.add({ kind: 'left-out', items: leftOut })
  await archive.finish()
  return leftOut
}

async function describeBackup(tx: Transaction, { version, secret }: BackupParts): Promise<BackupRecord> {
  const migrations = await tx.query<BackupRecord['migrations'][number]>(
    raw('SELECT number, name, checksum FROM svc.migrations ORDER BY number'),
  )
  return { kind: 'backup', id: randomUUID(), version, madeAt: new Date().toISOString(), secret, migrations }
}

/**
 * The platform's own tables, but for the lists of migrations and functions, which are made by applying them, and the change log, whose numbers of
 * transactions mean nothing elsewhere. Applications come first, because their schemas are made with them.
 */
export const platformTables = raw(`
  SELECT c.relname AS table, (SELECT array_agg(a.attname::text ORDER BY a.attnum)
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
    ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
      AND pg_catalog.pg_get_serial_sequence('svc.' || quote_ident(c.relname), a.attname) IS NOT NULL) AS counted
  FROM pg_catalog.pg_class c WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind = 'r'
    AND c.relname NOT IN ('migrations', 'applied_functions', 'change_log', 'change_horizon', 'change_horizons', 'followed_tables',
      'change_intents')
  ORDER BY c.relname <> 'applications', c.relname`)

export type PlatformTable = { table: string; columns: string[]; counted: string[] }

async function writeRecords(tx: Transaction, { archive, progress, signal }: BackupParts): Promise<void> {
  for (const { table, columns, counted } of await tx.query<PlatformTable>(platformTables)) {
    const sequences: Record<string, SequenceState> = {}
    for (const column of counted) sequences[column] = await stateOf(tx, table, column)
    const record: RecordsRecord = { kind: 'records', table, columns, sequences }
    await archive.add(record, counting(tx.copyOut(copyOf('svc', table, columns)), progress, signal))
    progress.tables++
  }
}

async function stateOf(tx: Transaction, table: string, column: string): Promise<SequenceState> {
  const [row] = await tx.query<{ name: string }>(sql`
    SELECT relname AS name FROM pg_catalog.pg_class
    WHERE oid = pg_catalog.pg_get_serial_sequence('svc.' || quote_ident(${table}), ${column})::regclass`)
  return readState(tx, 'svc', row?.name ?? '')
}

const copyOf = (schema: string, table: string, columns: readonly string[], isPartitioned = false): Sql => {
  const names = joinSql(
    columns.map((column) => ident(column)),
    ', ',
  )
  const from = ident(schema, table)
  // A table without columns has rows all the same.
  const source =
    columns.length === 0 ? from : isPartitioned ? sql`(SELECT ${names} FROM ${from})` : sql`${from} (${names})`
  return sql`COPY ${source} TO STDOUT`
}

async function writeTenant(
  { tx, release }: Snapshot,
  schema: string,
  { archive, progress, signal }: BackupParts,
  leaveOut: (leftOut: LeftOut) => void,
): Promise<void> {
  const sequences = await readSequences(tx, schema)
  await archive.add(await describeTenant(tx, schema, sequences))
  const foreignKeys: string[] = []
  for await (const batch of readTables(tx, schema)) {
    for (const table of batch) {
      foreignKeys.push(...foreignKeysOf(schema, table))
      const record = await describeTable(schema, table, sequences, leaveOut)
      const rows = tx.copyOut(copyOf(schema, table.name, record.columns, table.isPartitioned))
      await archive.add(record, counting(rows, progress, signal))
      progress.tables++
    }
  }
  await archive.add(await finishTenant(tx, schema, sequences, foreignKeys, leaveOut))
  await release(schema)
}

const foreignKeysOf = (schema: string, { name, foreignKeys }: CatalogTable): string[] =>
  foreignKeys.map((key) =>
    compileText(sql`ALTER TABLE ${ident(schema, name)} ADD CONSTRAINT ${ident(key.name)} ${raw(key.definition)}`),
  )

const compileText = ({ parts }: Sql): string => parts.join('')

/**
 * The files of uploads that have not ended, before anything else: an upload that ends meanwhile removes its file, while the
 * snapshot still says that it waits.
 */
async function writeUploads(tx: Transaction, parts: BackupParts, leaveOut: (leftOut: LeftOut) => void): Promise<void> {
  const rows = await tx.query<{ id: string }>(
    raw(`SELECT id FROM svc.uploads WHERE status IN ('pending', 'processing')`),
  )
  for (const { id } of rows) {
    if (await writeFile(parts, `uploads/${id}/source`)) continue
    leaveOut({
      what: `The file of the upload ${id}, which was just loaded: once restored it fails, send it again`,
      definition: '',
    })
  }
}

async function writeFiles(parts: BackupParts, leaveOut: (leftOut: LeftOut) => void): Promise<void> {
  const strange = (path: string): void => leaveOut({ what: `${path}, which is no plain file`, definition: '' })
  for await (const { path } of parts.files.list(strange)) {
    if (await writeFile(parts, path)) continue
    leaveOut({ what: `${path}, which was deleted while the backup was written`, definition: '' })
  }
}

/** Whether it was there. */
async function writeFile({ files, archive, progress, signal }: BackupParts, path: string): Promise<boolean> {
  const content = await files.read(path)
  if (!content) return false
  await archive.add({ kind: 'file', path }, counting(content, progress, signal))
  progress.files++
  return true
}

async function* counting(
  content: AsyncIterable<Uint8Array>,
  progress: BackupProgress,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of content) {
    signal.throwIfAborted()
    progress.bytes += piece.length
    yield piece
  }
}
