/** Reads what applications used: their counters by day or month, and what they keep now. */
import type { Db } from '../../kernel/db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { type Counts, counterNames, counters } from './counters.ts'
import { today } from './tallies.ts'

export type Interval = 'day' | 'month'

/** Days as `2026-01-31`, both included. */
export type ReportPeriod = {
  readonly from: string | undefined
  readonly to: string | undefined
  readonly interval: Interval
}

export type Period = Counts & { readonly start: string }

export type StorageUsage = { bytes: number; tableBytes: number; fileBytes: number; rows: number }

export type CurrentUsage = {
  readonly storage: Omit<StorageUsage, 'bytes' | 'fileBytes'>
  readonly uploads: { readonly running: number; readonly waiting: number }
}

/** Without `from`, so many days up to `to`. */
const usualDays = 30

const sums = joinSql(
  counterNames.map((name) => sql`sum(${ident(counters[name].column)}) AS ${ident(name)}`),
  ', ',
)

type PeriodRow = Counts & { id: string; start: string }

/** By application; periods without use are left out. */
export async function readPeriods(db: Db, ids: readonly string[], { from, to, interval }: ReportPeriod) {
  const last = to === undefined ? today : sql`${to}::date`
  const first = from === undefined ? sql`${last} - ${usualDays - 1}::int4` : sql`${from}::date`
  const start = interval === 'day' ? raw('day') : raw(`date_trunc('month', day)::date`)
  const rows = await db.query<PeriodRow>(sql`
    SELECT application_id::text AS id, (${start})::text AS start, ${sums} FROM svc.usage
    WHERE application_id = ANY(${ids}::uuid[]) AND day BETWEEN ${first} AND ${last}
    GROUP BY 1, ${start} ORDER BY ${start}`)
  const periods = new Map<string, Period[]>()
  for (const { id, ...period } of rows) periods.set(id, [...(periods.get(id) ?? []), period])
  return periods
}

/** The counters of this day, or of this month, by application. */
export async function readCurrent(db: Db, ids: readonly string[], interval: Interval): Promise<Map<string, Counts>> {
  const first = interval === 'day' ? today : sql`date_trunc('month', ${today})::date`
  const rows = await db.query<Counts & { id: string }>(sql`
    SELECT application_id::text AS id, ${sums} FROM svc.usage
    WHERE application_id = ANY(${ids}::uuid[]) AND day >= ${first} GROUP BY 1`)
  return new Map(rows.map(({ id, ...counts }) => [id, counts as Counts]))
}

/** Tables of each application's schema with their indexes and overviews, rows of its datasets, and unfinished uploads. */
export async function readUsedNow(
  db: Db,
  ids: readonly string[],
  platformTypes: readonly string[],
): Promise<Map<string, CurrentUsage>> {
  type Row = { id: string; tableBytes: number; rows: number; running: number; waiting: number }
  const rows = await db.query<Row>(sql`
    WITH asked AS (SELECT unnest(${ids}::uuid[]) AS id),
    tables AS (
      SELECT n.nspname, sum(svc.relation_bytes(c.oid, true)) AS bytes
      FROM asked JOIN pg_namespace n ON n.nspname = svc.tenant_name(asked.id) JOIN pg_class c ON c.relnamespace = n.oid
      WHERE c.relkind IN ('r', 'm') GROUP BY 1)
    SELECT asked.id::text AS id, (coalesce(tables.bytes, 0) + (
        -- Overviews of files are files.
        SELECT coalesce(sum(o.bytes), 0) FROM svc.overviews o JOIN svc.datasets d ON d.id = o.dataset_id
        WHERE d.application_id = asked.id))::float8 AS "tableBytes",
      (SELECT coalesce(sum(d.row_estimate), 0) FROM svc.datasets d JOIN svc.databases b ON b.id = d.database_id
       WHERE d.application_id = asked.id AND b.type = ANY (${platformTypes}::text[]))::float8 AS rows,
      ${uploadsWith('processing')} AS running, ${uploadsWith('pending')} AS waiting
    FROM asked LEFT JOIN tables ON tables.nspname = svc.tenant_name(asked.id)`)
  return new Map(
    rows.map(({ id, tableBytes, rows: count, running, waiting }) => [
      id,
      { storage: { tableBytes, rows: count }, uploads: { running, waiting } },
    ]),
  )
}

const uploadsWith = (status: string): Sql =>
  sql`(SELECT count(*) FROM svc.uploads u WHERE u.application_id = asked.id AND u.status = ${status})::int4`

/** How many records of these tables each application has. */
export async function countRecords(
  db: Db,
  ids: readonly string[],
  tables: readonly string[],
): Promise<Map<string, Record<string, number>>> {
  const counts = new Map(ids.map((id) => [id, Object.fromEntries(tables.map((name) => [name, 0]))]))
  if (tables.length === 0) return counts
  const selects = tables.map(
    (name) => sql`
      SELECT application_id::text AS id, ${name}::text AS name, count(*)::float8 AS count
      FROM ${ident('svc', name)} WHERE application_id = ANY(${ids}::uuid[]) GROUP BY 1`,
  )
  for (const { id, name, count } of await db.query<{ id: string; name: string; count: number }>(
    joinSql(selects, ' UNION ALL '),
  )) {
    const records = counts.get(id)
    if (records) records[name] = count
  }
  return counts
}
