import type { Db } from '../../src/kernel/db/db.ts'
import { ident, raw, sql } from '../../src/kernel/db/sql.ts'

/** By table how many rows it has and a digest of them, of the platform and of all tenants. Replicas report all the time. */
export async function digestOf(db: Db): Promise<Record<string, string>> {
  const tables = await db.query<{ schema: string; name: string }>(
    raw(`
    SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE (n.nspname = 'svc' AND c.relname NOT IN ('migrations', 'applied_functions', 'replicas') OR n.nspname ~ '^app_[0-9a-f]{32}$')
      AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1, 2`),
  )
  const digests: Record<string, string> = {}
  for (const { schema, name } of tables) {
    const [row] = await db.query(sql`
      SELECT count(*) || ' ' || md5(coalesce(string_agg(t::text, ' ' ORDER BY t::text COLLATE "C"), '')) AS digest
      FROM ${ident(schema, name)} AS t`)
    digests[`${schema}.${name}`] = String(row?.digest)
  }
  return digests
}
