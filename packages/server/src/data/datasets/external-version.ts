import type { Db } from '../../kernel/db/db.ts'
import { quoted, sql } from '../../kernel/db/sql.ts'
import type { DatabaseRecord } from '../databases/driver.ts'
import { driverOf } from '../databases/drivers.ts'
import { serverSchema, standInOf } from '../databases/stand-in.ts'
import type { Dataset } from './dataset-record.ts'
import { datasetTypeOf } from './dataset-types.ts'

/**
 * The last change that was logged of a table in an external database; empty where none was. Whoever was told of a change
 * must get data that are as new.
 */
export async function lastLogged(
  db: Db,
  { applicationId, source, type }: Pick<Dataset, 'applicationId' | 'source' | 'type'>,
  database: DatabaseRecord,
): Promise<string> {
  const driver = driverOf(database.type)
  const table = datasetTypeOf({ type }).tableOf?.(source, serverSchema)
  if (!table || !driver?.canFollow || driver.isPlatform) return ''
  const { schema, name } = standInOf(applicationId, driver.serverKey(database), table)
  const [last] = await db.query<{ version: string }>(sql`
    SELECT xid || '.' || seq AS version FROM svc.change_log
    WHERE relation = to_regclass(${`${quoted(schema)}.${quoted(name)}`}) ORDER BY xid DESC, seq DESC LIMIT 1`)
  return last?.version ?? ''
}
