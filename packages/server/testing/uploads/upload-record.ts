import { randomUUID } from 'node:crypto'
import type { Db } from '../../src/kernel/db/db.ts'
import { json, sql } from '../../src/kernel/db/sql.ts'

/** An upload that has ended, without a file ever having come. */
export async function uploadRecord(
  db: Db,
  applicationId: string,
  text: string,
  metadata: object = {},
): Promise<string> {
  const id = randomUUID()
  await db.query(sql`
    INSERT INTO svc.uploads (id, application_id, file_name, path, options, size, status, metadata)
    VALUES (${id}::uuid, ${applicationId}::uuid, ${text}, ${`uploads/${id}`}, ${json({ name: text })}, 1, 'failed', ${json(metadata)})`)
  return id
}
