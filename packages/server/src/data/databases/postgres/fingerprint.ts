// Fingerprints of tables on servers that we cannot watch.
import { hash } from 'node:crypto'
import { sql } from '../../../kernel/db/sql.ts'
import type { PostgresConnection } from '../../../query/execution/connection.ts'
import type { Fingerprint } from '../../../query/execution/introspection.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import { facts, readCount, readList, roleOf } from './catalog.ts'
import { rowEstimate, tableName } from './introspect.ts'

/**
 * Changes with the rows of a table: its files, and the server's counts of inserted, updated and deleted rows, of all its
 * partitions and children. No row is read, and any role may ask. Counts may move without a change (a rolled back insert) and
 * up to a minute after it, but never miss one; on a standby server, or one that does not count, the position of the write-ahead
 * log takes their place, which moves with any change on the server. Undefined for what has no such counts: views, foreign
 * tables, and tables with row security, whose policies may depend on anything.
 */
export async function fingerprintTable(
  connection: PostgresConnection,
  source: string,
  options: SelectOptions,
): Promise<Fingerprint | undefined> {
  const { schema, name } = tableName(source, connection.schema)
  const role = roleOf(connection)
  const statement = sql`
    SELECT c.oid, ${rowEstimate} AS rows, parts.counts,
      (SELECT json_agg(a.attname)::text FROM pg_catalog.pg_attribute a
       WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
      CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn()
        WHEN pg_catalog.current_setting('track_counts') <> 'on' THEN pg_catalog.pg_current_wal_lsn() END AS position
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL (
      WITH RECURSIVE tree AS (
        SELECT c.oid AS oid UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree ON i.inhparent = tree.oid)
      SELECT bool_and(k.relkind IN ('r', 'm', 'p')) AS is_counted,
        md5(string_agg(concat_ws('.', k.oid, k.relfilenode, pg_catalog.pg_stat_get_tuples_inserted(k.oid),
          pg_catalog.pg_stat_get_tuples_updated(k.oid), pg_catalog.pg_stat_get_tuples_deleted(k.oid)), ' ' ORDER BY k.oid)) AS counts
      FROM tree JOIN pg_catalog.pg_class k ON k.oid = tree.oid) AS parts
    WHERE n.nspname = ${schema} AND c.relname = ${name} AND c.relkind IN ('r', 'm', 'p') AND NOT c.relrowsecurity
      AND parts.is_counted
      AND has_schema_privilege(${role}, n.oid, 'USAGE') AND has_table_privilege(${role}, c.oid, 'SELECT')`
  const [row] = await facts(connection, { ...options, atMost: 1, isTrusted: true }, statement)
  if (!row) return undefined
  const { oid, rows, counts, position, columns } = row
  // A hash each, because a hostile server may answer texts of any length.
  return {
    table: digest(oid),
    rows: digest(`${counts} ${position}`),
    rowEstimate: readCount(rows),
    columns: new Set(readList(columns) as string[]),
  }
}

const digest = (text: string | null | undefined): string => hash('sha1', String(text), 'base64url').slice(0, 16)
