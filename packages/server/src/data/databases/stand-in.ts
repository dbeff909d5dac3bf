/**
 * Stand-ins: empty tables in the schema of an application, each for one table in another database, whose changes are logged under
 * its oid (0033-external-changes.sql).
 */
import { hash } from 'node:crypto'
import type { ServerKey } from './driver.ts'
import type { TableName } from './postgres/introspect.ts'
import { tenantSchema } from './tenant-schema.ts'

/** Where tables are on such a server whose names have no schema. */
export const serverSchema = 'public'

/** How the names of stand-ins begin, also in the migration. */
const standInPrefix = 'svc_out_'

export const isStandIn = ({ name }: TableName): boolean => name.startsWith(standInPrefix)

/** Records of the same database share it, but not those of other applications: each tells its own keys only. */
export function standInOf(applicationId: string, server: ServerKey, { schema, name }: TableName): TableName {
  const digest = hash('sha256', JSON.stringify([server, schema, name])).slice(0, 32)
  return { schema: tenantSchema(applicationId), name: `${standInPrefix}${digest}` }
}
