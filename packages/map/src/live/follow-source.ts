/// <reference lib="dom" />
/** Keeps a source of a map, of a data source or of the style, as new as its dataset. */
import type { Map as MapLibreMap } from 'maplibre-gl'
import type { MapClient } from '../map-client.ts'
import type { SourceData } from '../source/source-data.ts'
import { type FollowedTiles, followDataset, followTiles, type LiveView } from './live.ts'
import { renewTiles } from './live-tiles.ts'

export type FollowedSource = {
  readonly map: { readonly gl: MapLibreMap; readonly client: MapClient }
  readonly id: string
}

type Outcome = Pick<LiveView, 'failed' | 'ended'>

/** Returns a function that ends it. `isOther`: the tiles are made from no dataset. */
export function followTilesOf(
  source: FollowedSource,
  tiles: FollowedTiles,
  outcome: Outcome & { isOther(): void; renewing?(): void },
): () => void {
  const { map, id } = source
  return followTiles(tiles, map.client, {
    isReady: () => isDrawn(source),
    async renew(changes, next) {
      outcome.renewing?.()
      await renewTiles({ gl: map.gl, client: map.client, sourceId: id }, tiles, changes, next)
    },
    failed: outcome.failed,
    ended: outcome.ended,
    isOther: outcome.isOther,
  })
}

type Refreshed = FollowedSource & {
  readonly isLoading: boolean
  refresh(): Promise<void>
  /** Tiles that are loaded now are newer than what is known of their features. */
  expect(): void
}

/** Follows the dataset of a data source. */
export function followSource(
  source: Refreshed,
  data: SourceData,
  apiKey: string | undefined,
  outcome: Outcome,
): (() => void) | undefined {
  if (data.kind === 'dataset')
    return followDataset(
      source.map.client,
      { datasetId: data.datasetId, apiKey },
      { isReady: () => isDrawn(source) && !source.isLoading, renew: () => source.refresh(), ...outcome },
    )
  if (data.kind !== 'tiles' || !data.tileSource) return undefined
  const isOther = (): void => outcome.ended(new Error('live: the tiles are not made from a dataset.'))
  return followTilesOf(source, data.tileSource, { ...outcome, isOther, renewing: () => source.expect() })
}

/** Whether a source has all its tiles, and a layer that can be seen at the zoom of the map. */
function isDrawn({ map: { gl }, id }: FollowedSource): boolean {
  if (document.hidden || !gl.getSource(id) || !gl.isSourceLoaded(id)) return false
  return gl.getLayersOrder().some((name) => {
    const layer = gl.getLayer(name)
    return layer?.source === id && !layer.isHidden(gl.getZoom())
  })
}
