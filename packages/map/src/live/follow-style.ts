/** Keeps the sources of a map's style as new as their datasets. */
import type { Map as MapLibreMap, VectorTileSource } from 'maplibre-gl'
import type { MapClient } from '../map-client.ts'
import { tileSourceOf } from '../source/tile-address.ts'
import { followTilesOf } from './follow-source.ts'

type StyledMap = {
  readonly gl: MapLibreMap
  readonly client: MapClient
  /** Whether a data source takes care of it. */
  isOwned(sourceId: string): boolean
  /** The source stays as it is. */
  ended(sourceId: string, error: unknown): void
  failed(sourceId: string, error: unknown): void
}

export interface StyleFollower {
  /** Looks at a source that has come, gone or been replaced. */
  check(sourceId: string): void
  /** Looks at all sources of a style, and at those of the style before. */
  checkAll(sourceIds: readonly string[]): void
  end(): void
}

/** Sources that are made from no dataset, or by another server, stay as they are. */
export function followStyle(map: StyledMap): StyleFollower {
  const { gl, client } = map
  const followed = new Map<string, { source: VectorTileSource; stop(): void }>()

  function forget(id: string): void {
    followed.get(id)?.stop()
    followed.delete(id)
  }

  function check(id: string): void {
    const source = gl.getSource<VectorTileSource>(id)
    if (source && followed.get(id)?.source === source) return
    forget(id)
    if (source?.type !== 'vector' || map.isOwned(id)) return
    const tiles = tileSourceOf(client, source.url ?? source.tiles?.[0])
    if (!tiles) return
    const stop = followTilesOf({ map, id }, tiles, {
      failed: (error) => map.failed(id, error),
      ended: (error) => map.ended(id, error),
      isOther: () => {},
    })
    followed.set(id, { source, stop })
  }

  return {
    check,
    checkAll(ids) {
      for (const id of new Set([...followed.keys(), ...ids])) check(id)
    },
    end() {
      for (const id of [...followed.keys()]) forget(id)
    },
  }
}
