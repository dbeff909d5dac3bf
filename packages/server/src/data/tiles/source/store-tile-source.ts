// Stores the tile sources of loaded data.
import type { Queryable } from '../../../kernel/db/db.ts'
import { json, raw, sql } from '../../../kernel/db/sql.ts'
import type { TileSource, TileSourceCoverage } from './tile-source-type.ts'

/** Creates or updates the tile source of loaded data. An existing one keeps the settings a user chose. */
export async function putTileSource(
  tx: Queryable,
  { id, applicationId, type, source }: Pick<TileSource, 'id' | 'applicationId' | 'type' | 'source'>,
  { minZoom, maxZoom, extentLngLat, attribution, name }: TileSourceCoverage,
): Promise<void> {
  await tx.query(sql`
    INSERT INTO svc.tilesources AS t
      (id, application_id, type, source, name, attribution, min_zoom, max_zoom, extent_lng_lat, is_extent_found, headers)
    VALUES (${id}::uuid, ${applicationId}::uuid, ${type}, ${source}, ${name ?? ''}, ${attribution ?? ''}, ${minZoom}, ${maxZoom},
      ${json(extentLngLat)}, true, '{}'::jsonb)
    ON CONFLICT (id) DO UPDATE SET ${touched},
      attribution = coalesce(${attribution ?? null}, t.attribution),
      extent_lng_lat = CASE WHEN t.is_extent_found THEN excluded.extent_lng_lat ELSE t.extent_lng_lat END
    WHERE t.application_id = excluded.application_id`)
}

const touched = raw("revision = t.revision + 1, updated_at = date_trunc('milliseconds', clock_timestamp())")

/** Deletes the tile sources of a dataset. */
export async function deleteTileSourcesOf(tx: Queryable, applicationId: string, datasetId: string): Promise<void> {
  await tx.query(sql`
    DELETE FROM svc.tilesources
    WHERE application_id = ${applicationId}::uuid AND type = 'dataset' AND lower(source) = ${datasetId}`)
}
