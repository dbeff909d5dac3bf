// What a column of PostgreSQL gets where a row has no value for it.
import { raw, type Sql } from '../../../kernel/db/sql.ts'
import type { DefaultFact } from '../../../query/execution/introspection.ts'
import type { Cells } from './catalog.ts'

/** SQL: three columns about the attribute `a` of a table. */
export const defaultColumns: Sql = raw(`a.attidentity::text AS identity, a.attgenerated::text AS generated,
  (SELECT left(pg_catalog.pg_get_expr(d.adbin, d.adrelid), 1000) FROM pg_catalog.pg_attrdef d
   WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum) AS "defaultExpression"`)

export function defaultOf({ identity, generated, defaultExpression }: Cells): DefaultFact {
  const isAlways = identity === 'a' || Boolean(generated)
  return {
    ...(defaultExpression && { default: defaultExpression }),
    ...(isAlways ? { generated: 'always' } : identity === 'd' && { generated: 'byDefault' }),
  }
}
