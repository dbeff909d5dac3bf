// What the catalog says of the tables in a tenant's schema.
import type { Queryable } from '../../kernel/db/db.ts'
import { raw, type Sql, sql } from '../../kernel/db/sql.ts'

export type CatalogColumn = {
  readonly name: string
  readonly type: string
  /** The type that it has in the source, if it cannot be had elsewhere. */
  readonly ownType: string | null
  readonly isRequired: boolean
  readonly collation: string | null
  /** `a`lways, by `d`efault, or none. */
  readonly identity: string
  readonly isGenerated: boolean
  readonly expression: string | null
  /** Of an identity: the name of its sequence with its schema. */
  readonly sequence: string | null
  readonly comment: string | null
}

type NamedDefinition = { readonly name: string; readonly definition: string }

export type CatalogTable = {
  readonly name: string
  readonly isPartitioned: boolean
  readonly isRowSecured: boolean
  readonly isRowForced: boolean
  readonly isWatched: boolean
  readonly comment: string | null
  /** What the tenant's role may do. */
  readonly privileges: string[]
  readonly columns: readonly CatalogColumn[]
  /** Without foreign keys. */
  readonly constraints: readonly NamedDefinition[]
  readonly foreignKeys: readonly NamedDefinition[]
  readonly indexes: readonly NamedDefinition[]
  readonly bytes: number
}

export type CatalogSequence = {
  readonly name: string
  readonly type: string
  readonly [option: string]: unknown
  readonly isIdentity: boolean
  readonly isCycling: boolean
  readonly owner: string | null
}

/** Tables in which an upload or an overview is being made: whoever makes them begins anew. So do those who follow a stand-in. */
export const isUnfinished = raw(`c.relname ~ '^svc_(up_[0-9a-f]{32}_|out_|ov_[0-9a-f]{32}_(job_|u))'`)

/** Tables with rows of their own, but for those that are being made; partitions are part of their table. */
export const tablesIn = (schema: Sql): Sql => sql`
  c.relnamespace = ${schema} AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND NOT (${isUnfinished})`

/** A type of somebody's own becomes the type that a domain is based on, or text. */
const columnType = raw(`
  CASE WHEN own.is_own AND t.typtype = 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod)
    WHEN own.is_own AND NOT (t.typtype = 'e' AND t.typnamespace = c.relnamespace) THEN 'text'
    ELSE pg_catalog.format_type(a.atttypid, a.atttypmod) END`)

/** Of no extension and not PostgreSQL's own, or an array of such. */
const isTenantType = raw(`
  SELECT bool_or(k.typnamespace <> 'pg_catalog'::regnamespace AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_type'::regclass AND d.deptype = 'e'
      AND d.objid IN (k.oid, k.typelem))) AS is_own
  FROM pg_catalog.pg_type k WHERE k.oid = t.oid`)

const columnsOf = sql`
  SELECT coalesce(json_agg(json_build_object(
    'name', a.attname, 'type', ${columnType}, 'isRequired', a.attnotnull, 'identity', a.attidentity,
    'ownType', CASE WHEN ${columnType} <> pg_catalog.format_type(a.atttypid, a.atttypmod)
      THEN pg_catalog.format_type(a.atttypid, a.atttypmod) END,
    'isGenerated', a.attgenerated <> '', 'expression', pg_catalog.pg_get_expr(d.adbin, d.adrelid),
    'collation', CASE WHEN a.attcollation <> t.typcollation THEN
      (SELECT quote_ident(n.nspname) || '.' || quote_ident(l.collname) FROM pg_catalog.pg_collation l
       JOIN pg_catalog.pg_namespace n ON n.oid = l.collnamespace WHERE l.oid = a.attcollation) END,
    'sequence', CASE WHEN a.attidentity <> '' THEN
      (SELECT quote_ident(n.nspname) || '.' || quote_ident(s.relname) FROM pg_catalog.pg_depend p
       JOIN pg_catalog.pg_class s ON s.oid = p.objid AND s.relkind = 'S' JOIN pg_catalog.pg_namespace n ON n.oid = s.relnamespace
       WHERE p.refobjid = c.oid AND p.refobjsubid = a.attnum AND p.deptype = 'i'
         AND p.classid = 'pg_catalog.pg_class'::regclass AND p.refclassid = 'pg_catalog.pg_class'::regclass) END,
    'comment', pg_catalog.col_description(c.oid, a.attnum)) ORDER BY a.attnum), '[]')
  FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  CROSS JOIN LATERAL (${isTenantType}) AS own
  LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped`

const constraintsOf = (types: string): Sql => sql`
  SELECT coalesce(json_agg(json_build_object('name', k.conname, 'definition', pg_catalog.pg_get_constraintdef(k.oid))
    ORDER BY k.contype = 'c', k.conname), '[]')
  FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = ANY (${types}::char[])`

const indexesOf = raw(`
  SELECT coalesce(json_agg(json_build_object('name', x.relname, 'definition', pg_catalog.pg_get_indexdef(x.oid))
    ORDER BY x.relname), '[]')
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
  WHERE i.indrelid = c.oid AND i.indisvalid
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = x.oid AND k.contype IN ('p', 'u', 'x'))`)

const bytesOf = raw(`
  SELECT sum(pg_catalog.pg_table_size(f.oid))::float8 FROM pg_catalog.pg_class f
  WHERE f.oid = c.oid OR c.relkind = 'p' AND f.oid IN (SELECT relid FROM pg_catalog.pg_partition_tree(c.oid))`)

export function readTables(tx: Queryable, schema: string): AsyncIterable<CatalogTable[]> {
  return tx.rows<CatalogTable>(
    sql`
    SELECT c.relname AS name, c.relkind = 'p' AS "isPartitioned", c.relrowsecurity AS "isRowSecured",
      c.relforcerowsecurity AS "isRowForced", pg_catalog.obj_description(c.oid, 'pg_class') AS comment,
      EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid AND g.tgname = 'svc_note_change') AS "isWatched",
      ARRAY(SELECT p.privilege_type FROM pg_catalog.aclexplode(c.relacl) p
        WHERE p.grantee = (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = ${schema}) ORDER BY 1) AS privileges,
      (${columnsOf}) AS columns, (${constraintsOf('{p,u,c,x}')}) AS constraints, (${constraintsOf('{f}')}) AS "foreignKeys",
      (${indexesOf}) AS indexes, (${bytesOf}) AS bytes
    FROM pg_catalog.pg_class c
    WHERE ${tablesIn(sql`(SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = ${schema})`)}
    ORDER BY c.relname`,
    { batchSize: 20 },
  )
}

/** Those of identities too: the table makes them, and their state is set like that of others. */
export function readSequences(tx: Queryable, schema: string): Promise<CatalogSequence[]> {
  return tx.query<CatalogSequence>(sql`
    SELECT c.relname AS name, pg_catalog.format_type(s.seqtypid, NULL) AS type, s.seqstart::text AS start,
      s.seqincrement::text AS increment, s.seqmin::text AS min, s.seqmax::text AS max, s.seqcache::text AS cache,
      s.seqcycle AS "isCycling",
      EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'i'
        AND d.classid = 'pg_catalog.pg_class'::regclass) AS "isIdentity",
      (SELECT quote_ident(r.relname) || '.' || quote_ident(a.attname) FROM pg_catalog.pg_depend d
       JOIN pg_catalog.pg_class r ON r.oid = d.refobjid AND r.relnamespace = c.relnamespace
       JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid AND a.attnum = d.refobjsubid
       WHERE d.objid = c.oid AND d.deptype = 'a' AND d.classid = 'pg_catalog.pg_class'::regclass
         AND d.refclassid = 'pg_catalog.pg_class'::regclass) AS owner
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_sequence s ON s.seqrelid = c.oid
    WHERE n.nspname = ${schema} ORDER BY c.relname`)
}

export function readEnums(tx: Queryable, schema: string): Promise<{ name: string; labels: string[] }[]> {
  return tx.query<{ name: string; labels: string[] }>(sql`
    SELECT t.typname AS name, array_agg(e.enumlabel::text ORDER BY e.enumsortorder) AS labels
    FROM pg_catalog.pg_type t JOIN pg_catalog.pg_enum e ON e.enumtypid = t.oid
    JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = ${schema} GROUP BY t.oid ORDER BY t.typname`)
}
