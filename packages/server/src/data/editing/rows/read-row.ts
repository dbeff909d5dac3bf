// Reads one row by its key, with the rights and limits of the application.

import type { Row } from '../../../kernel/db/db.ts'
import { type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import type { Source } from '../../datasets/dataset-type.ts'
import { timeoutOf } from '../../datasets/queries/query-parameters.ts'
import type { QueryServices } from '../../datasets/queries/query-services.ts'
import type { EditContext } from '../editing.ts'
import { absentRow, noRow, visibleRow } from './row-shape.ts'

type Reader = Pick<EditContext, 'request' | 'signal'> & { readonly services: Pick<QueryServices, 'slots'> }

type RowSelection = {
  readonly dataset: Dataset
  readonly inSql: NonNullable<Source['inSql']>
  /** Of the table with the alias `q`. */
  readonly columns: Sql
}

/** The row whose key ends the address of the request, or 404. */
export async function readRow(context: Reader, { dataset, inSql, columns }: RowSelection): Promise<Row> {
  const { request, services, signal } = context
  const { condition } = visibleRow(dataset, request.raw.url ?? '')
  const statement = sql`SELECT ${columns} FROM ${inSql.relation.from} AS q WHERE ${condition}`
  const release = await services.slots.take(dataset.applicationId, signal)
  const options = { timeoutMs: timeoutOf(undefined), signal, atMost: 1, isTrusted: true, reads: 'row' } as const
  const answered = await inSql.connection.select(statement, options).catch(noRow).finally(release)
  const [cells] = (await Array.fromAsync(answered.batches)).flat()
  if (!cells) throw absentRow()
  return Object.fromEntries(answered.columns.map(({ name }, index) => [name, cells[index] ?? null]))
}
