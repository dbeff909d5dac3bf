import type { Queryable } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { UploadFault } from '../record/upload-fault.ts'

/** The first of these reference systems that the database does not know. 0 stands for one that only a text describes. */
export async function unknownSrid(db: Pick<Queryable, 'query'>, srids: readonly number[]): Promise<number | undefined> {
  const wanted = [...new Set(srids)].filter((srid) => srid !== 0)
  const rows = await db.query<{ srid: number }>(
    sql`SELECT srid FROM spatial_ref_sys WHERE srid = ANY(${wanted}::int4[])`,
  )
  return wanted.find((srid) => !rows.some((row) => row.srid === srid))
}

/** Throws a fault unless the database knows all of these. */
export async function demandKnownSrids(
  db: Pick<Queryable, 'query'>,
  srids: readonly number[],
  position: { readonly layer?: string } = {},
): Promise<void> {
  const unknown = await unknownSrid(db, srids)
  if (unknown === undefined) return
  const message = `${unknown} is not the number of a known reference system. Give an EPSG number such as 3067.`
  throw new UploadFault('srid_unknown', message, position)
}
