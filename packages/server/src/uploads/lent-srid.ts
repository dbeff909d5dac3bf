import { randomInt } from 'node:crypto'
import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'

/** Numbers that nobody gives away. */
const first = 910_000
const last = 998_999
/** What the column takes. */
const maxLength = 2_048
const tries = 5
/** Whose rows they are; PostGIS looks it up only together with a number. */
const lender = 'graticule'

/**
 * Does `work` while the text of a reference system has a number. False when the text cannot have one: somebody else's
 * database may not let us, or `work` itself says so, several times.
 */
export async function withNumber(db: Db, text: string, work: (srid: number) => Promise<boolean>): Promise<boolean> {
  if (text.length > maxLength || !(await mayLend(db))) return false
  for (let attempt = 0; attempt < tries; attempt++) {
    const srid = randomInt(first, last)
    const [lent] = await db.query(sql`
      INSERT INTO spatial_ref_sys (srid, auth_name, auth_srid, srtext, proj4text)
      VALUES (${srid}::int4, ${lender}, NULL, ${text}, '') ON CONFLICT DO NOTHING RETURNING srid`)
    if (!lent) continue
    try {
      if (await work(srid)) return true
    } finally {
      await db.query(sql`DELETE FROM spatial_ref_sys WHERE srid = ${srid}::int4 AND auth_name = ${lender}`)
    }
  }
  return false
}

async function mayLend(db: Db): Promise<boolean> {
  const [row] = await db.query<{ may: boolean }>(
    sql`SELECT has_table_privilege('spatial_ref_sys', 'INSERT') AND has_table_privilege('spatial_ref_sys', 'DELETE') AS may`,
  )
  return row?.may === true
}

/** Takes back what ended servers have lent. */
export async function takeBackNumbers(db: Db): Promise<void> {
  if (!(await mayLend(db))) return
  await db.query(sql`
    DELETE FROM spatial_ref_sys WHERE auth_name = ${lender}
      AND NOT EXISTS (SELECT FROM svc.uploads WHERE status = 'processing')`)
}
