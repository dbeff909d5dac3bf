/**
 * What anybody may know of a shared map without its key: title, description and picture, which chats show beside a link. A link's key
 * is in the fragment, which is not sent, so a map counts as shared while there is a key that was made to share it and works for everybody.
 */
import type { SharedMap, SharedMaps } from '../../../api/console/shared-page.ts'
import { createLoadingCache } from '../../../kernel/concurrency/loading-cache.ts'
import type { Db } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export function createSharedMaps(db: Db): SharedMaps {
  const maps = createLoadingCache<SharedMap | undefined>({ max: 1_000 })
  return {
    async find(id) {
      return uuid.test(id) ? maps.get(id.toLowerCase(), () => findMap(db, id)) : undefined
    },
    async picture(id) {
      if (!uuid.test(id)) return undefined
      const [row] = await db.query<{ picture: Uint8Array }>(
        sql`SELECT p.picture ${currentPicture} WHERE s.id = ${id}::uuid AND p.picture IS NOT NULL AND ${isShared}`,
      )
      return row && Buffer.from(row.picture)
    },
  }
}

const currentPicture = sql`
  FROM svc.styles s LEFT JOIN svc.style_pictures p ON p.style_id = s.id AND p.style_digest = md5(s.style::text)`

/** A key for some websites only is not for everybody. */
const isShared = sql`EXISTS (
  SELECT FROM svc.apikeys k WHERE k.application_id = s.application_id AND k.metadata ->> 'share' = s.id::text
    AND k.permissions #> '{styles,execute}' @> to_jsonb(s.id::text)
    AND k.allowed_origins IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()))`

type Row = {
  name: string
  description: string
  width: number | null
  height: number | null
  version: string | null
}

async function findMap(db: Db, id: string): Promise<SharedMap | undefined> {
  const [row] = await db.query<Row>(sql`
    SELECT s.name, s.description, p.width, p.height, left(md5(p.picture), 8) AS version ${currentPicture}
    WHERE s.id = ${id}::uuid AND ${isShared}`)
  if (!row) return undefined
  const { name, description, width, height, version } = row
  return { name, description, ...(width && height && version && { picture: { width, height, version } }) }
}
