// Fills an empty database from the entries of an archive, in one transaction of the caller.
import type { Db, Transaction } from '../../kernel/db/db.ts'
import { migrateTo } from '../../kernel/db/schema/migrate.ts'
import { ident, joinSql, quoted, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { StartError } from '../../kernel/errors.ts'
import type { BackupRecord, CheckedEntry, RecordsRecord, SequenceState, TableRecord } from './records.ts'
import { searchPath } from './snapshot.ts'
import { type PlatformTable, platformTables } from './write-backup.ts'

type Content = AsyncIterable<Buffer>

/** Takes one entry after the other. `finish` demands that none of the platform's tables was missing. */
export type DatabaseRestore = {
  add(entry: CheckedEntry): Promise<void>
  finish(): Promise<void>
}

/**
 * Makes the platform's tables as they were at the time of the backup. Rows go in without their triggers and foreign keys: what
 * triggers do is in the backup already, and tables come in any order. Both are put back by `finish`, which checks the keys.
 */
export async function startRestore(
  tx: Transaction,
  { migrations }: BackupRecord,
  kind: Db['kind'],
): Promise<DatabaseRestore> {
  await tx.script(`SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL maintenance_work_mem = '256MB'`)
  await migrateTo(tx, migrations, kind)
  const tables = new Map((await tx.query<PlatformTable>(platformTables)).map((table) => [table.table, table]))
  const foreignKeys = await tx.query<{ table: string; name: string; definition: string }>(
    raw(`
    SELECT c.relname AS table, k.conname AS name, pg_catalog.pg_get_constraintdef(k.oid) AS definition
    FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
    WHERE k.contype = 'f' AND c.relnamespace = 'svc'::regnamespace ORDER BY c.relname, k.conname`),
  )
  for (const key of foreignKeys) await tx.script(`ALTER TABLE ${svc(key.table)} DROP CONSTRAINT ${quoted(key.name)}`)
  // Migrations put rows into some.
  for (const table of tables.keys()) {
    await tx.script(`ALTER TABLE ${svc(table)} DISABLE TRIGGER USER; DELETE FROM ${svc(table)}`)
  }
  await tx.script(await searchPath(tx))
  const missing = new Set(tables.keys())
  let schemas: ReadonlySet<string> = new Set()

  async function addRecords(record: RecordsRecord, content: Content): Promise<void> {
    const table = tables.get(record.table)
    const strange = record.columns.find((column) => !table?.columns.includes(column))
    const isExpected = table && strange === undefined && missing.delete(record.table)
    if (!isExpected || (schemas.size === 0 && record.table !== 'applications')) {
      throw new StartError(`The backup has records of "${record.table}" that this version does not know.`)
    }
    await copyRows(tx, 'svc', record.table, record.columns, content)
    for (const [column, state] of Object.entries(record.sequences)) {
      await setSequence(tx, sql`pg_catalog.pg_get_serial_sequence(${svc(record.table)}, ${column})`, state)
    }
    if (record.table === 'applications') schemas = await createTenants(tx)
  }

  function demandTenant(schema: string): void {
    if (!schemas.has(schema))
      throw new StartError(`The backup has tables of an application that it does not have: ${schema}.`)
  }

  return {
    async add({ record, content }) {
      if (record.kind === 'records') return addRecords(record, content)
      if (record.kind !== 'tenant' && record.kind !== 'table' && record.kind !== 'tenant-end') return
      demandTenant(record.schema)
      if (record.kind === 'table') return addTable(tx, record, content)
      for (const statement of record.statements) await tx.script(statement)
      if (record.kind === 'tenant') return
      for (const state of record.sequences)
        await setSequence(tx, sql`${`${quoted(record.schema)}.${quoted(state.name)}`}`, state)
    },
    async finish() {
      if (missing.size > 0) throw new StartError(`The backup has no records of ${[...missing].join(', ')}.`)
      for (const { table, name, definition } of foreignKeys) {
        await tx.script(`ALTER TABLE ${svc(table)} ADD CONSTRAINT ${quoted(name)} ${definition}`)
      }
      for (const table of tables.keys())
        await tx.script(`ALTER TABLE ${svc(table)} ENABLE TRIGGER USER; ANALYZE ${svc(table)}`)
    },
  }
}

const svc = (table: string): string => `svc.${quoted(table)}`

/** Roles and schemas, as the platform makes them. It also records a database for each; those of the backup come later. */
async function createTenants(tx: Transaction): Promise<ReadonlySet<string>> {
  await tx.query(raw('SELECT svc.create_tenant(id) FROM svc.applications'))
  await tx.script(`DELETE FROM ${svc('databases')}`)
  const rows = await tx.query<{ name: string }>(raw('SELECT svc.tenant_name(id) AS name FROM svc.applications'))
  return new Set(rows.map(({ name }) => name))
}

const setSequence = (tx: Transaction, name: Sql, { last, isCalled }: SequenceState) =>
  tx.query(sql`SELECT pg_catalog.setval(${name}::regclass, ${last}::int8, ${isCalled})`)

async function addTable(tx: Transaction, record: TableRecord, content: Content): Promise<void> {
  const { schema, name } = record
  const table = `${quoted(schema)}.${quoted(name)}`
  await tx.script(record.create).catch((error: Error) => {
    throw new StartError(`The table ${table} cannot be made here: ${error.message}`, { cause: error })
  })
  await copyRows(tx, schema, name, record.columns, content)
  for (const statement of record.finish) await tx.script(statement)
  await tx.script(`REVOKE ALL ON ${table} FROM ${quoted(schema)}`)
  if (record.privileges.length > 0)
    await tx.script(`GRANT ${record.privileges.join(', ')} ON ${table} TO ${quoted(schema)}`)
  if (record.comment !== null) await tx.script(`COMMENT ON TABLE ${table} IS ${literal(record.comment)}`)
  for (const [column, text] of Object.entries(record.columnComments)) {
    await tx.script(`COMMENT ON COLUMN ${table}.${quoted(column)} IS ${literal(text)}`)
  }
  if (record.isRowSecured) await tx.script(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`)
  if (record.isRowForced) await tx.script(`ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`)
  if (record.isWatched) {
    await tx.script(`CREATE TRIGGER svc_note_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION svc.note_change()`)
  }
  await tx.script(`ANALYZE ${table}`)
}

/** Whatever `standard_conforming_strings` says. */
const literal = (text: string): string =>
  `E'${text.replaceAll('\0', '').toWellFormed().replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

async function copyRows(
  tx: Transaction,
  schema: string,
  table: string,
  columns: readonly string[],
  content: Content,
): Promise<void> {
  const names =
    columns.length === 0
      ? raw('')
      : sql`(${joinSql(
          columns.map((column) => ident(column)),
          ', ',
        )})`
  await tx.copyIn(sql`COPY ${ident(schema, table)} ${names} FROM STDIN`, linesOf(content))
}

const lineEnd = 10

/** Texts that end with a line. Rows have no line ends within, so a byte of this value is one. */
async function* linesOf(content: Content): AsyncGenerator<string, void, undefined> {
  let parts: Buffer[] = []
  for await (const piece of content) {
    const end = piece.lastIndexOf(lineEnd) + 1
    parts.push(piece.subarray(0, end || undefined))
    if (end === 0) continue
    yield Buffer.concat(parts).toString('utf8')
    parts = [piece.subarray(end)]
  }
  const rest = Buffer.concat(parts)
  if (rest.length > 0) throw new StartError('The backup has a row that does not end.')
}
