/**
 * The change log of tables in databases of applications' own. A write there and its entry here are in two databases: the entry is noted as an
 * intent before the commit there, and moved into the log after it. So a change is told once it can be seen, and a process that dies in between
 * leaves an intent that others tell.
 */
import { randomUUID } from 'node:crypto'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import { quoted, type Sql, sql } from '../../kernel/db/sql.ts'
import type { TableName } from '../databases/postgres/introspect.ts'
import type { ChangeOperation } from './change-log.ts'

/** An entry of the log that is not in it yet. */
export type ExternalChange = {
  readonly operation: ChangeOperation
  readonly rowCount?: number
  /** A JSON array. */
  readonly keys?: string | undefined
  /** [srid, minX, minY, maxX, maxY]; undefined where unknown. */
  readonly boxes?: readonly (readonly unknown[])[] | undefined
}

/** What is told where nothing is known but that something was written. */
export const anyChange: readonly ExternalChange[] = [
  { operation: 'insert' },
  { operation: 'update' },
  { operation: 'delete' },
]

/** A write that may be committed at any moment. */
export type Intent = { readonly id: string; readonly standIn: TableName; readonly changes: readonly ExternalChange[] }

/**
 * An intent that is older belongs to a process that is dead, or that looks itself whether its intent was told already. Longer than an
 * external transaction can last once its intent is noted: 30 s until its COMMIT arrives, and 30 s for that.
 */
const abandonedSeconds = 90

export async function followStandIn(db: Db, { schema, name }: TableName): Promise<void> {
  await db.query(sql`SELECT svc.follow_stand_in(${schema}, ${name})`)
}

const followed = ({ schema, name }: TableName): Sql =>
  sql`svc.followed_tables f WHERE f.relation = to_regclass(${`${quoted(schema)}.${quoted(name)}`})`

/** Whether somebody has followed the table within the retention. */
export async function isFollowed(db: Db, standIn: TableName): Promise<boolean> {
  return (await db.query(sql`SELECT FROM ${followed(standIn)}`)).length > 0
}

export async function noteIntent(db: Db, standIn: TableName, changes: readonly ExternalChange[]): Promise<Intent> {
  const intent = { id: randomUUID(), standIn, changes }
  await db.query(sql`
    INSERT INTO svc.change_intents (write_id, place, relation, operation, row_count, keys, boxes)
    SELECT ${intent.id}::uuid, c.place, f.relation, c.operation, c.row_count, c.keys, c.boxes
    FROM ${rowsOf(changes)}, ${followed(standIn)}`)
  return intent
}

/** After a rollback. */
export async function withdrawIntent(db: Db, { id }: Intent): Promise<void> {
  await db.query(sql`DELETE FROM svc.change_intents WHERE write_id = ${id}::uuid`)
}

/** After the commit. What was taken for abandoned meanwhile was told too early, and is told again. */
export async function tellIntent(db: Db, { id, standIn, changes }: Intent): Promise<void> {
  const moved = await moveIntents(db, sql`write_id = ${id}::uuid`)
  if (moved === 0) await logChanges(db, standIn, changes)
}

/** Tells what processes have left that died while they wrote. */
export async function tellAbandoned(db: Db): Promise<void> {
  await moveIntents(db, sql`noted_at < clock_timestamp() - make_interval(secs => ${abandonedSeconds})`)
}

/** Logs changes of a table, if somebody follows it. */
export async function logChanges(db: Queryable, standIn: TableName, changes: readonly ExternalChange[]): Promise<void> {
  await db.query(sql`
    INSERT INTO svc.change_log (relation, operation, row_count, keys, boxes)
    SELECT f.relation, c.operation, c.row_count, c.keys, c.boxes FROM ${rowsOf(changes)}, ${followed(standIn)} ORDER BY c.place`)
}

/** Drops what stood for tables that nobody follows any more. */
export async function dropStandIns(db: Db): Promise<void> {
  await db.query(sql`SELECT svc.drop_stand_ins()`)
}

async function moveIntents(db: Db, condition: Sql): Promise<number> {
  const moved = await db.query(sql`
    WITH told AS (DELETE FROM svc.change_intents WHERE ${condition} RETURNING *)
    INSERT INTO svc.change_log (relation, operation, row_count, keys, boxes)
    SELECT relation, operation, row_count, keys, boxes FROM told ORDER BY noted_at, write_id, place RETURNING 1`)
  return moved.length
}

/** SQL: changes as rows, in their order. Keys are JSON already, whose digits stay as they are. */
function rowsOf(changes: readonly ExternalChange[]): Sql {
  const items = changes.map(({ operation, rowCount = null, keys = 'null', boxes = null }, place) => {
    const rest = JSON.stringify({ place, operation, row_count: rowCount, boxes })
    return `${rest.slice(0, -1)},"keys":${keys}}`
  })
  return sql`jsonb_to_recordset(${`[${items.join(',')}]`}::jsonb)
    AS c (place integer, operation text, row_count bigint, keys jsonb, boxes jsonb)`
}
