// Queries of the catalogs of PostgreSQL.
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { PostgresConnection } from '../../../query/execution/connection.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'

/** A row by the names of its columns. */
export type Cells = Record<string, string | null>

export const catalogOf = ({ catalog, select }: PostgresConnection): Pick<PostgresConnection, 'select'> => ({
  select: catalog ?? select,
})

/** Whose rights count: in the platform's database a role has the name of its schema. */
export const roleOf = ({ catalog, schema }: PostgresConnection): Sql =>
  catalog ? sql`${schema}::name` : raw('current_user')

/** The rows of a statement by the names of its columns, as text. */
export async function facts(
  connection: Pick<PostgresConnection, 'select'>,
  options: SelectOptions,
  statement: Sql,
): Promise<Cells[]> {
  const { columns, batches } = await connection.select(statement, options)
  const rows: Cells[] = []
  for await (const batch of batches) {
    for (const cells of batch)
      rows.push(Object.fromEntries(columns.map(({ name }, index) => [name, cells[index] ?? null])))
  }
  return rows
}
