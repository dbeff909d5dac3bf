// A one-second cache of tile sources with everything their tiles need.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Scope, scopeOf } from '../../../api/access/acl.ts'
import { createRecordCache } from '../../../api/resource/record-cache.ts'
import type { BaseServices } from '../../../api/resource/resource.ts'
import type { Db } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { ApiError, isNotFound } from '../../../kernel/errors.ts'
import { dataset as datasetResource } from '../../datasets/dataset.ts'
import { createCoverageCache, noCoverage } from './coverage-cache.ts'
import { tileSource } from './tile-source.ts'
import type { LoadedTileSource, TileSource, TileSourceContext } from './tile-source-type.ts'
import { tileSourceTypeOf } from './tile-source-types.ts'
import { datasetType } from './types/dataset.ts'
import { createVersionRefresh, type VersionRefresh } from './version-refresh.ts'
import { visibleTiles } from './visible-tiles.ts'

export type TileSourceCache = {
  /** At once if it is cached. A version that the request names makes it as new as that version. */
  get(scope: Scope, id: string, version?: string): LoadedTileSource | Promise<LoadedTileSource>
  /** Nothing if it is not cached. */
  fresh(scope: Scope, id: string, version?: string): LoadedTileSource | undefined
  /** The tiles that a dataset has without a tile source. The scope is one of datasets. */
  ofDataset(scope: Scope, id: string): Promise<LoadedTileSource>
}

/** Waits until the source may be read; returns since when it must have been. */
async function turnOf({ at, readAt }: VersionRefresh): Promise<number> {
  const waitMs = readAt - performance.now()
  if (waitMs > 0) await sleep(waitMs)
  return at
}

/** A dataset without a tile source acts as its own. */
export function createTileSourceCache(services: BaseServices, context: TileSourceContext): TileSourceCache {
  const { db } = services
  const firstNamed = createVersionRefresh()
  const coverageOf = createCoverageCache((applicationId, id) => datasetType.detect(context, applicationId, id))
  const explicit = createRecordCache(
    { resource: tileSource, services },
    async ({ entity, revision }) => following({ db, coverageOf }, await load(entity as TileSource, revision)),
    [datasetResource],
  )
  const implicit = createRecordCache({ resource: datasetResource, services }, async ({ entity }) => {
    const { id, applicationId } = entity as { id: string; applicationId: string }
    const base = {
      id,
      applicationId,
      type: 'dataset',
      source: id,
      name: '',
      attribution: '',
      headers: {},
      metadata: {},
    } as const
    const loadedSource = await load({ ...base, ...noCoverage }, '')
    const { isEstimate = false, lastExtent, ...coverage } = await coverageOf(applicationId, id, loadedSource.version)
    return { ...loadedSource, source: { ...base, ...coverage }, isExtentEstimated: isEstimate, lastExtent }
  })

  const load = (source: TileSource, revision: string): Promise<LoadedTileSource> =>
    tileSourceTypeOf(source).load(context, source, revision)

  function whole(scope: Scope, id: string, notBefore?: number): LoadedTileSource | undefined {
    const record = explicit.fresh(scope, id, notBefore)
    if (!(record instanceof ApiError)) return record
    const reach = scopeOf(scope.caller, 'datasets', 'execute')
    const own = reach && implicit.fresh(reach, id, notBefore)
    return own instanceof ApiError ? undefined : own
  }

  function cached(scope: Scope, id: string, notBefore?: number): LoadedTileSource | undefined {
    const loadedSource = whole(scope, id, notBefore)
    return loadedSource && visibleTiles(loadedSource, scope.caller)
  }

  function fresh(scope: Scope, id: string, version?: string): LoadedTileSource | undefined {
    const loadedSource = cached(scope, id)
    const isEnough = version === undefined || loadedSource?.version === version
    return isEnough ? loadedSource : cached(scope, id, firstNamed(id, version).at)
  }

  async function find(scope: Scope, id: string, version?: string): Promise<LoadedTileSource> {
    const notBefore = version === undefined ? 0 : await turnOf(firstNamed(id, version))
    try {
      return visibleTiles(await explicit.get(scope, id, notBefore), scope.caller)
    } catch (error) {
      const reach = scopeOf(scope.caller, 'datasets', 'execute')
      if (!isNotFound(error) || !reach) throw error
      return ofDataset(reach, id, notBefore).catch((reason) => {
        throw isNotFound(reason) ? error : reason
      })
    }
  }

  const ofDataset = async (scope: Scope, id: string, notBefore?: number): Promise<LoadedTileSource> =>
    visibleTiles(await implicit.get(scope, id, notBefore), scope.caller)

  const get: TileSourceCache['get'] = (scope, id, version) => fresh(scope, id, version) ?? find(scope, id, version)
  return { fresh, get, ofDataset }
}

type CoverageOf = ReturnType<typeof createCoverageCache>

/** A detected extent, unlike a configured one, follows the data. */
async function following(
  { db, coverageOf }: { readonly db: Db; readonly coverageOf: CoverageOf },
  loadedSource: LoadedTileSource,
): Promise<LoadedTileSource> {
  const { id, applicationId, source } = loadedSource.source
  if (!loadedSource.layer) return loadedSource
  const [row] = await db.query<{ found: boolean }>(
    sql`SELECT is_extent_found AS found FROM svc.tilesources WHERE id = ${id}::uuid`,
  )
  if (!row?.found) return loadedSource
  const { extentLngLat, isEstimate = false } = await coverageOf(applicationId, source, loadedSource.version)
  return { ...loadedSource, source: { ...loadedSource.source, extentLngLat }, isExtentEstimated: isEstimate }
}
