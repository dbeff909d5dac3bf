import type { Queryable } from '../../../kernel/db/db.ts'
import { type ExternalChange, logChanges } from '../../changes/external-log.ts'
import type { TableName } from '../../databases/postgres/introspect.ts'
import { standInOf } from '../../databases/stand-in.ts'
import type { Target } from '../load/target.ts'

const replaced: readonly ExternalChange[] = [{ operation: 'truncate' }, { operation: 'insert' }]

/**
 * Tells those who follow a table in another database that all its rows are new, once the upload is published. Here the followers see by
 * themselves that the table is another.
 */
export async function tellReplaced(
  tx: Queryable,
  applicationId: string,
  { serverKey }: Target,
  table: TableName,
): Promise<void> {
  await logChanges(tx, standInOf(applicationId, serverKey, table), replaced)
}
