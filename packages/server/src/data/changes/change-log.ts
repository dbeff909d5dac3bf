// The statements that read the change log and say which tables are logged (kernel/db/functions/log_change.sql, follow_table.sql).

import type { Db, Row } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import type { ServerFields } from '../databases/driver.ts'
import { serverKeyOf } from '../databases/drivers.ts'
import type { TableName } from '../databases/postgres/introspect.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { serverOf } from '../datasets/find-dataset.ts'
import { type LogPosition, startOf } from './position.ts'

/** One statement that wrote to a table. */
export type LoggedChange = {
  readonly position: LogPosition
  readonly relation: string
  readonly operation: ChangeOperation
  /** Undefined for TRUNCATE. */
  readonly rowCount: number | undefined
  /** The items of a JSON array, each as text, so that no digit is lost; undefined where they are not known. */
  readonly keys: readonly string[] | undefined
  /** West, south, east, north; undefined where unknown. */
  readonly boxes: readonly ChangeExtent[] | undefined
  /** How long ago it was logged when it was read, by the clock of the database. */
  readonly ageSeconds?: number
}

export const changeOperations = ['insert', 'update', 'delete', 'truncate'] as const
export type ChangeOperation = (typeof changeOperations)[number]
export type ChangeExtent = readonly [west: number, south: number, east: number, north: number]

/** The smallest box that holds both. */
export const around = (one: ChangeExtent, other: ChangeExtent): ChangeExtent => [
  Math.min(one[0], other[0]),
  Math.min(one[1], other[1]),
  Math.max(one[2], other[2]),
  Math.max(one[3], other[3]),
]

/** What may be said of a table with row security is only that something has changed. */
export const withoutRows = (change: LoggedChange): LoggedChange => ({
  ...change,
  rowCount: undefined,
  keys: undefined,
  boxes: undefined,
})

export type LogPage = {
  readonly changes: readonly LoggedChange[]
  /** Up to here everything is read, also where nothing was found. */
  readonly position: LogPosition
  /** The oldest transaction that was still running. */
  readonly horizon: bigint
  /** A transaction at the horizon is running, so what came later is held back. */
  readonly isHeld: boolean
  readonly isLast: boolean
}

/** With 64 KiB of keys in each, 13 MB at most. */
const pageSize = 200

type LogRow = Row & {
  horizon: string
  isHeld: boolean
  ageSeconds: number
  xid: string | null
  seq: string
  relation: string
  operation: ChangeOperation
  rowCount: string | null
  keys: string[] | null
  boxes: (readonly unknown[])[] | null
}

/**
 * The next page of the log behind `after`, of these relations. Below `before`, or below the oldest transaction that is still
 * running: what is above may yet get company with smaller numbers.
 */
export async function readLog(
  db: Db,
  relations: readonly string[],
  after: LogPosition,
  before?: bigint,
): Promise<LogPage> {
  const rows = await db.query<LogRow>(sql`
    SELECT h.horizon::text, h."isHeld", l."ageSeconds", l.xid::text, l.seq::text, l.relation::text, l.operation, l.row_count::text AS "rowCount", l.keys, l.boxes
    FROM (SELECT least(pg_snapshot_xmin(pg_current_snapshot()), ${before?.toString() ?? null}::xid8) AS horizon,
      pg_snapshot_xmin(pg_current_snapshot()) < pg_snapshot_xmax(pg_current_snapshot()) AS "isHeld") AS h
    LEFT JOIN LATERAL (
      SELECT xid, seq, relation, operation, row_count, extract(epoch FROM clock_timestamp() - at)::float8 AS "ageSeconds", svc.lng_lat_boxes(boxes) AS boxes,
        CASE WHEN keys IS NOT NULL THEN ARRAY(SELECT value::text FROM jsonb_array_elements(keys)) END AS keys
      FROM svc.change_log
      WHERE relation = ANY (${relations}::oid[]) AND xid < h.horizon
        AND (xid, seq) > (${after.xid.toString()}::xid8, ${after.seq.toString()}::int8)
      ORDER BY xid, seq LIMIT ${pageSize}) AS l ON true`)
  const changes = rows.flatMap((row) => (row.xid === null ? [] : [changeOf(row, row.xid)]))
  const last = changes.at(-1)
  const [{ isHeld = false, horizon: text = after.xid } = {}] = rows
  const horizon = BigInt(text)
  const page = { changes, horizon, isHeld }
  if (last && changes.length === pageSize) return { ...page, position: last.position, isLast: false }
  return { ...page, position: horizon < after.xid ? after : startOf(horizon), isLast: true }
}

const changeOf = (
  { seq, relation, operation, rowCount, keys, boxes, ageSeconds }: LogRow,
  xid: string,
): LoggedChange => ({
  position: { xid: BigInt(xid), seq: BigInt(seq) },
  relation,
  operation,
  rowCount: rowCount === null ? undefined : Number(rowCount),
  keys: keys ?? undefined,
  boxes: boxes?.every(isBox) ? boxes : undefined,
  ageSeconds,
})

/** A box of coordinates that are not numbers is nowhere. */
const isBox = (box: readonly unknown[]): box is ChangeExtent => box.length === 4 && box.every(Number.isFinite)

/** How it stands with the log of a table. */
export type TableState = {
  readonly root: string
  /** Null where the log has a gap: the table must be followed anew. */
  readonly era: string | null
  /** The table and its parts. */
  readonly relations: readonly string[]
  /** An ordinary or partitioned table, whose parts are such tables too. */
  readonly isPlain: boolean
  /** Row security hides rows from the application's queries. */
  readonly isSecured: boolean
  /** The application may read it. */
  readonly isReadable: boolean
}

type StateRow = Row & Omit<TableState, 'root'> & { root: string | null }

/** In the order of the tables; undefined for one that does not exist. */
export async function readStates(db: Db, tables: readonly TableName[]): Promise<(TableState | undefined)[]> {
  const rows = await db.query<StateRow>(sql`
    SELECT s.root::text, s.era, s.relations::text[], s.is_plain AS "isPlain", s.is_secured AS "isSecured",
      s.is_readable AS "isReadable"
    FROM unnest(${tables.map(({ schema }) => schema)}::text[], ${tables.map(({ name }) => name)}::text[])
      WITH ORDINALITY AS t (schema_name, table_name, place)
    LEFT JOIN LATERAL svc.followed(t.schema_name, t.table_name) AS s ON true ORDER BY t.place`)
  return rows.map(({ root, ...rest }) => (root === null ? undefined : { root, ...rest }))
}

/** Begins to log the changes of a table, or notes that it is still followed. */
export async function followTable(db: Db, { schema, name }: TableName): Promise<void> {
  await db.query(sql`SELECT svc.follow_table(${schema}, ${name})`)
}

/** The transactions up to this one are no longer in the log. */
export async function readSwept(db: Db): Promise<bigint> {
  const [row] = await db.query<{ swept: string }>(sql`SELECT swept::text FROM svc.change_horizon`)
  return BigInt(row?.swept ?? 0)
}

/** What changes with a dataset and with the server of its database. */
export const revisionOf = ({ revision, serverKey }: Pick<Dataset, 'revision' | 'serverKey'>): string =>
  `${revision} ${serverKey}`

/** That of each dataset that still exists. */
export async function readRevisions(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db.query<{ id: string; revision: string; database: ServerFields }>(sql`
    SELECT s.id, s.revision::text, ${serverOf} AS database FROM svc.datasets s JOIN svc.databases d ON d.id = s.database_id
    WHERE s.id = ANY (${ids}::uuid[])`)
  return new Map(
    rows.map(({ id, revision, database }) => [id, revisionOf({ revision, serverKey: serverKeyOf(database) })]),
  )
}
