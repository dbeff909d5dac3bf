/// <reference lib="dom" />
/** Where the features of a data source are. */
import type { GeoJSONSource, Source, VectorTileSource } from 'maplibre-gl'
import { type Bounds, boxOf } from '../bounds.ts'
import type { GeoJsonCollection } from '../geojson.ts'
import type { MapClient } from '../map-client.ts'
import type { SourceData } from './source-data.ts'
import { rowParams } from './source-filter.ts'
import { type DataSourceOptions, isCollection } from './source-options.ts'

/** The box around the features of a source that the filter lets through; undefined where there are none. */
export async function boxOfSource(
  client: MapClient,
  data: SourceData,
  { filter, time, apiKey }: Pick<DataSourceOptions, 'filter' | 'time' | 'apiKey'>,
  held: GeoJsonCollection,
  added: Source | undefined,
): Promise<Bounds | undefined> {
  if (data.kind === 'tiles' && data.tileSource) {
    const request = { ...rowParams({ filter, time }), ...(apiKey && { apiKey }) }
    return (await client.tiles.describe(data.tileSource.tileSourceId, request)).bounds
  }
  if (data.kind === 'tiles') return (added as VectorTileSource | undefined)?.bounds as Bounds | undefined
  const features = data.kind === 'address' ? await (added as GeoJSONSource | undefined)?.getData() : held
  return isCollection(features) ? boxOf(features) : undefined
}
