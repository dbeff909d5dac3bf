import { createHash } from 'node:crypto'
import type { Queryable } from '../../../kernel/db/db.ts'
import { json, sql } from '../../../kernel/db/sql.ts'

type BaseStyleInput = { key: string; name: string; description: string; style: object }

/** Installs the base styles from which new applications copy. Existing applications get theirs once. */
export async function installBaseStyles(tx: Queryable, styles: readonly BaseStyleInput[]): Promise<void> {
  const digest = createHash('sha256').update(JSON.stringify(styles)).digest('base64url')
  const [installed] = await tx.query(sql`SELECT value FROM svc.settings WHERE name = 'base_styles'`)
  if (installed?.value === digest) return
  const [row] = await tx.query(sql`SELECT FROM svc.base_styles LIMIT 1`)
  for (const { key, name, description, style } of styles) {
    await tx.query(sql`
      INSERT INTO svc.base_styles (key, name, description, style) VALUES (${key}, ${name}, ${description}, ${json(style)})
      ON CONFLICT (key) DO UPDATE SET name = excluded.name, description = excluded.description, style = excluded.style
      WHERE (base_styles.name, base_styles.description, base_styles.style)
        IS DISTINCT FROM (excluded.name, excluded.description, excluded.style)`)
  }
  await tx.query(sql`
    INSERT INTO svc.settings (name, value) VALUES ('base_styles', ${digest})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`)
  if (!row) await tx.query(sql`SELECT svc.copy_base_styles(id) FROM svc.applications`)
}
