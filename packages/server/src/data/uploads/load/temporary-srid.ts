// Temporary SRIDs for reference systems that are known only as text.
import { randomInt } from 'node:crypto'
import { poll } from '../../../kernel/concurrency/retry.ts'
import type { Db } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'

/**
 * SRIDs that no authority assigns, used while one file is transformed: ST_Transform parses a .prj text again for every
 * row.
 */
const first = 910_000
const last = 998_999
/** The length of the column srtext. */
const maxLength = 2_048
const tries = 5
/** The auth_name of our rows in spatial_ref_sys. */
const authName = 'graticule'

/**
 * Runs `work` while the text has an SRID. False if it cannot have one: a tenant's database may not allow it, or `work`
 * refused several numbers.
 */
export async function withTemporarySrid(
  db: Db,
  text: string,
  work: (srid: number) => Promise<boolean>,
): Promise<boolean> {
  if (text.length > maxLength || !(await mayAddSrids(db))) return false
  return (await poll(() => withSrid(db, randomInt(first, last), text, work), { tries })) === true
}

/** True if the work is done; undefined if the number is taken, or `work` refuses it. */
async function withSrid(db: Db, srid: number, text: string, work: (srid: number) => Promise<boolean>) {
  const [inserted] = await db.query(sql`
    INSERT INTO spatial_ref_sys (srid, auth_name, auth_srid, srtext, proj4text)
    VALUES (${srid}::int4, ${authName}, NULL, ${text}, '') ON CONFLICT DO NOTHING RETURNING srid`)
  if (!inserted) return undefined
  try {
    return (await work(srid)) || undefined
  } finally {
    await db.query(sql`DELETE FROM spatial_ref_sys WHERE srid = ${srid}::int4 AND auth_name = ${authName}`)
  }
}

async function mayAddSrids(db: Db): Promise<boolean> {
  const [row] = await db.query<{ may: boolean }>(
    sql`SELECT has_table_privilege('spatial_ref_sys', 'INSERT') AND has_table_privilege('spatial_ref_sys', 'DELETE') AS may`,
  )
  return row?.may === true
}

/** Deletes the SRIDs that crashed servers left behind. */
export async function deleteStaleSrids(db: Db): Promise<void> {
  if (!(await mayAddSrids(db))) return
  await db.query(sql`
    DELETE FROM spatial_ref_sys WHERE auth_name = ${authName}
      AND NOT EXISTS (SELECT FROM svc.uploads WHERE status = 'processing')`)
}
