import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { blame, type PostgresConnection } from '../../../query/execution/connection.ts'
import type { TableInfo, TablePage } from '../../../query/execution/introspection.ts'
import { readCount } from './catalog.ts'

const kindOf: Readonly<Record<string, TableInfo['kind']>> = {
  r: 'table',
  v: 'view',
  m: 'materialized view',
  p: 'partitioned table',
  f: 'foreign table',
}

/** PostgreSQL's own limit is 63 bytes; whoever sends more is no PostgreSQL. */
const maxNameLength = 63
const maxCommentLength = 1_000
const timeoutMs = 10_000

/** The tables and views that the user of this connection may read, in the order of their names. */
export async function listTables(
  connection: PostgresConnection,
  page: TablePage,
  signal: AbortSignal,
): Promise<TableInfo[]> {
  const ask = connection.catalog ?? connection.select
  const options = { timeoutMs, signal, atMost: page.limit, isTrusted: true }
  try {
    const { batches } = await ask(tablesSql(connection, page), options)
    const tables: TableInfo[] = []
    for await (const batch of batches) tables.push(...batch.flatMap((cells) => readTable(cells, connection.schema)))
    return tables
  } catch (error) {
    return blame(connection)(error)
  }
}

/** In the platform's database an application has its schema and no other; there the rights of its role count. */
function tablesSql({ catalog, schema: own }: PostgresConnection, { schema, limit, offset }: TablePage): Sql {
  const role = catalog ? sql`${own}::name` : raw('current_user')
  const within = catalog ? sql`n.nspname = ${own} AND c.relname NOT LIKE 'svc\\_%'` : raw(`n.nspname !~ '${closed}'`)
  const wanted = schema === undefined ? raw('TRUE') : sql`n.nspname = ${schema}`
  return sql`
    SELECT n.nspname, c.relname, c.relkind, ${estimate}, g.attname, g.type,
           left(coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), ''), ${maxCommentLength}::int4)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN LATERAL (
      SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type
      FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND t.typname IN ('geometry', 'geography')
        AND has_column_privilege(${role}, c.oid, a.attnum, 'SELECT')
      ORDER BY a.attnum LIMIT 1) g ON TRUE
    WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND NOT c.relispartition AND ${within} AND ${wanted}
      AND has_schema_privilege(${role}, n.oid, 'USAGE') AND has_any_column_privilege(${role}, c.oid, 'SELECT')
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
                      WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY n.nspname, c.relname LIMIT ${limit} OFFSET ${offset}`
}

/** Those that no dataset may name, whatever its database. */
const closed = '^(pg_.*|information_schema|svc|pgboss|topology|tiger|tiger_data|app_[0-9a-f]{32})$'

/** A partitioned table has no rows of its own; -1 says that nobody has counted yet. */
const estimate = raw(`
  (SELECT CASE WHEN min(p.reltuples) >= 0 THEN sum(p.reltuples::float8)::int8 END FROM pg_catalog.pg_class p
   WHERE CASE WHEN c.relkind = 'p' THEN p.oid IN (SELECT relid FROM pg_catalog.pg_partition_tree(c.oid) WHERE isleaf)
              ELSE p.oid = c.oid AND c.relkind <> 'v' END)`)

/** Nothing where a server says what PostgreSQL would not. */
function readTable(cells: readonly (string | null)[], ownSchema: string): TableInfo[] {
  const [schema, name, letter, rows, geometryColumn = null, type, comment] = cells
  const kind = kindOf[letter ?? '']
  if (!kind || !isName(schema) || !isName(name)) return []
  return [
    {
      schema,
      name,
      source: schema === ownSchema ? part(name) : `${part(schema)}.${part(name)}`,
      kind,
      rows: readCount(rows),
      ...(geometryColumn !== null && isName(geometryColumn)
        ? { geometryColumn, ...geometryOf(type ?? '') }
        : { geometryColumn: null, geometryType: null, srid: null }),
      comment: (comment ?? '').slice(0, maxCommentLength),
    },
  ]
}

const isName = (text: string | null | undefined): text is string =>
  typeof text === 'string' && text !== '' && text.length <= maxNameLength

/** A name as a dataset's source has it. */
const part = (name: string): string => (/[."]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)

/** `geometry(Point,4326)`; a column that does not say what is in it may hold anything. */
function geometryOf(type: string): Pick<TableInfo, 'geometryType' | 'srid'> {
  const [, kind = 'Geometry', srid] = /\((\w{1,30})(?:,(\d{1,6}))?\)$/.exec(type) ?? []
  if (srid !== undefined) return { geometryType: kind, srid: Number(srid) }
  return { geometryType: kind, srid: type.includes('geography') ? 4326 : null }
}
