// The attributes of columns as the database has them now: after a change, in its transaction.
import type { Queryable } from '../../kernel/db/db.ts'
import { type Sql, sql } from '../../kernel/db/sql.ts'
import type { Cells } from '../databases/postgres/catalog.ts'
import { typeOfColumn } from '../databases/postgres/column-type.ts'
import { defaultColumns, defaultOf } from '../databases/postgres/default-facts.ts'
import type { TableName } from '../databases/postgres/introspect.ts'
import type { AttributeDto } from '../datasets/attribute-dto.ts'

export type ColumnFacts = Pick<
  AttributeDto,
  'name' | 'type' | 'dbType' | 'nullable' | 'description' | 'default' | 'generated'
>

export async function readColumnFacts(tx: Queryable, { schema, name }: TableName): Promise<Map<string, ColumnFacts>> {
  const rows = await tx.query<Cells>(sql`
    SELECT a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type,
      (NOT a.attnotnull)::text AS nullable, coalesce(col_description(a.attrelid, a.attnum), '') AS description, ${defaultColumns}
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE n.nspname = ${schema}::text AND c.relname = ${name}::text AND a.attnum > 0 AND NOT a.attisdropped`)
  return new Map(rows.map((row) => [row.name ?? '', factsOf(row)]))
}

const factsOf = (row: Cells): ColumnFacts => ({
  name: row.name ?? '',
  type: typeOfColumn(row.type ?? ''),
  dbType: row.type ?? '',
  nullable: row.nullable === 'true',
  description: row.description ?? '',
  ...defaultOf(row),
})

/** SQL: the attributes of a record without one. */
export const attributesBut = (name: string): Sql => sql`
  coalesce((SELECT jsonb_agg(a ORDER BY n) FROM jsonb_array_elements(attributes) WITH ORDINALITY AS e(a, n)
    WHERE a->>'name' <> ${name}), '[]')`

/** SQL: the attributes of a record with one of them as it is now. */
export const attributesWith = (name: string, now: ColumnFacts): Sql => sql`
  (SELECT jsonb_agg(CASE WHEN a->>'name' = ${name} THEN (a - 'default' - 'generated') || ${JSON.stringify(now)}::jsonb ELSE a END ORDER BY n)
    FROM jsonb_array_elements(attributes) WITH ORDINALITY AS e(a, n))`
