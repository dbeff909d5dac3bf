// The interface of tile source types. tile-source-types.ts lists them; CONTRIBUTING.md says how to add one.

import type { Scope } from '../../../api/access/acl.ts'
import type { Compression } from '../../../api/http/answers/compression.ts'
import type { Folder } from '../../../kernel/storage/file-store.ts'
import type { DataState } from '../../datasets/data-versions.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import type { ParameterValues, Source } from '../../datasets/dataset-type.ts'
import type { CellTables } from '../aggregate/cell-tables.ts'
import type { ArchiveInfo } from '../archives/archive.ts'
import type { Archives } from '../archives/archives.ts'
import type { RowCache } from '../cache/row-cache.ts'
import type { CachedTile } from '../cache/tile-cache.ts'
import type { TileRequest } from '../http/tile-request.ts'
import type { FileOverview } from '../overviews/files/file-overview.ts'
import type { Overview } from '../overviews/overview.ts'
import type { DensestTilesCache } from '../thinning/densest-tiles.ts'
import type { TileWorkers } from '../workers/tile-workers.ts'
import type { DatasetLayer } from './dataset-layer.ts'
import type { TileExtent } from './tile-bounds.ts'
import type { TileBudget } from './tile-budget.ts'

export type TileSourceType = {
  /** Throws a 400 unless the caller may publish what the source names; absent if the source needs no permission. */
  checkReach?(scope: Scope, source: string): void
  /**
   * Throws a 400 for a source that the application does not have, or a malformed URL. Remote servers are not contacted.
   */
  resolve(context: TileSourceContext, applicationId: string, source: string): Promise<void>
  /** Detects what a source covers; throws if the source cannot be a map. */
  detect(
    context: TileSourceContext,
    applicationId: string,
    source: string,
    signal?: AbortSignal,
  ): Promise<TileSourceCoverage>
  /** An unreachable source may be stored if zooms and extent are given. */
  readonly mayBeUnreachable?: boolean
  /** Loads everything that its tiles need. */
  load(context: TileSourceContext, source: TileSource, revision: string): Promise<LoadedTileSource>
  /** Makes a tile; undefined if the source has none. */
  makeTile(
    makers: TileMakers,
    source: LoadedTileSource,
    tileRequest: TileRequest,
    compression: Compression,
    signal: AbortSignal,
  ): Promise<CachedTile | undefined>
  /** The tile if it can be read within microseconds; null if there is none. Undefined says nothing about it. */
  readTileNow?(makers: TileMakers, source: LoadedTileSource, tileRequest: TileRequest): CachedTile | null | undefined
}

export type TileSource = {
  readonly id: string
  readonly applicationId: string
  /** A key of tile-source-types.ts. A newer version of the service may have stored an unknown one. */
  readonly type: string
  readonly source: string
  /** May be empty. */
  readonly name: string
  readonly attribution: string
  readonly minZoom: number
  readonly maxZoom: number
  readonly extentLngLat: TileExtent
  readonly headers: Readonly<Record<string, string>>
  readonly metadata: Readonly<Record<string, unknown>>
}

/** What inspecting a source found. */
export type TileSourceCoverage = {
  minZoom: number
  maxZoom: number
  extentLngLat: TileExtent
  attribution?: string
  name?: string
  /** Only a part of the data was read: some may lie outside the extent. */
  isEstimate?: boolean
}

/** A tile source with everything its tiles need. */
export type LoadedTileSource = {
  readonly source: TileSource
  /** Changes whenever a tile may change. */
  readonly version: string
  /** The newest change of the dataset's change feed that tiles of this version have; absent if nobody follows it. */
  readonly lastChange?: string | undefined
  readonly name: string
  /** Absent if the tiles come from an archive. */
  readonly layer?: DatasetLayer
  /** The names of the dataset's own parameters. */
  readonly parameters?: ReadonlySet<string>
  readonly overview?: Overview
  /** Of a table that is files. */
  readonly fileOverview?: FileOverview
  readonly archive?: ArchiveInfo
  /** The extent may be too small. */
  readonly isExtentEstimated?: boolean
  /** Rules of the dataset hide something from the callers whom it is for. */
  readonly isNarrowed?: boolean
  /** The extent as it was last measured, without the margin for rows that came since. */
  readonly lastExtent?: TileExtent
}

/** What types use to inspect their sources. */
export type TileSourceContext = {
  readonly data: TileDatasets
  readonly archives: TileArchives
  /** The directory of an application's files. */
  filesOf(applicationId: string): Folder
}

/** What types use to make tiles. */
export type TileMakers = {
  readonly data: TileDatasets
  readonly workers: TileWorkers
  readonly budget: TileBudget
  readonly rowCache: RowCache
  readonly cellTables: CellTables
  readonly densest: DensestTilesCache
  readonly archives: Archives
}

/** The part of an open dataset that tiles use. */
export type TileData = Pick<Source, 'rows' | 'inSql' | 'inBlocks' | 'readsBoxes'>

/** What tiles need from datasets. */
export type TileDatasets = {
  find(applicationId: string, id: string): Promise<Dataset | undefined>
  open(dataset: Dataset, inputs: ParameterValues): Promise<TileData>
  /** Changes with the data. */
  version(dataset: Dataset): Promise<string>
  /** The version, and the newest change of the change feed that it has. */
  state(dataset: Dataset): Promise<DataState>
  /** Estimated row count and extent from statistics; no row is read. */
  estimate(dataset: Dataset, signal: AbortSignal): Promise<TileEstimate | undefined>
  /**
   * Statistics of a table with a spatial index, at most a minute old; undefined for anything else, and for a table that was
   * never analysed.
   */
  table(dataset: Dataset): Promise<TileTable | undefined>
  /** For low zooms of large tables in the platform's database, and of external ones whose datasets ask for it. */
  overview(dataset: Dataset): Promise<Overview | undefined>
  /** For tables that are files. */
  fileOverview(dataset: Dataset): Promise<FileOverview | undefined>
  /** Ends the work on an overview, so that the dataset's table can be dropped. */
  cancelOverview(datasetId: string): Promise<void>
}

export type TileEstimate = { readonly rows?: number; readonly extent?: TileExtent }

export type TileTable = { readonly rows: number }

/** What tiles need from archives. */
export type TileArchives = { info(applicationId: string, uri: string): Promise<ArchiveInfo> }
