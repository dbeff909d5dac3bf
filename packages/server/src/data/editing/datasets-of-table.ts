// The datasets that show a table of the application's own database.

import type { Queryable } from '../../kernel/db/db.ts'
import { type Sql, sql } from '../../kernel/db/sql.ts'
import { platformTypes } from '../databases/drivers.ts'
import type { TableName } from '../databases/postgres/introspect.ts'
import { datasetTypeNames, datasetTypeOf } from '../datasets/dataset-types.ts'

const tableTypes = datasetTypeNames.filter((type) => datasetTypeOf({ type }).tableOf)

type TableDataset = { readonly id: string; readonly type: string; readonly source: string }

/**
 * Locks them until the transaction ends, by id, and before the table: whoever deletes a dataset with its table takes the locks
 * in the same order.
 */
export async function lockDatasetsOf(tx: Queryable, applicationId: string, table: TableName): Promise<string[]> {
  const rows = await read(
    tx,
    sql`
    WHERE application_id = ${applicationId}::uuid AND type = ANY (${tableTypes}::text[])
      AND database_id IN (SELECT id FROM svc.databases WHERE application_id = ${applicationId}::uuid AND type = ANY (${platformTypes}::text[]))
      AND strpos(replace(source, '""', '"'), ${table.name}) > 0`,
  )
  // One that was given another source before it was locked is not of this table any more.
  const locked = await read(
    tx,
    sql`
    WHERE id = ANY (${idsOf(rows, table)}::uuid[]) ORDER BY id FOR NO KEY UPDATE`,
  )
  return idsOf(locked, table)
}

const read = (tx: Queryable, rest: Sql): Promise<TableDataset[]> =>
  tx.query<TableDataset>(sql`SELECT id, type, source FROM svc.datasets ${rest}`)

const idsOf = (datasets: readonly TableDataset[], { schema, name }: TableName): string[] =>
  datasets.flatMap(({ id, source, ...dataset }) => {
    const table = datasetTypeOf(dataset).tableOf?.(source, schema)
    return table?.schema === schema && table.name === name ? [id] : []
  })
