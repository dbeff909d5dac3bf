// The messages between the server and its tile workers.

import type { Compression } from '../../../api/http/answers/compression.ts'
import type { PostgresServer } from '../../../kernel/db/postgres/postgres-client.ts'
import type { RawStatement } from '../../../kernel/db/postgres/raw-connection.ts'
import type { LaneSession } from '../../../kernel/db/postgres/raw-lanes.ts'
import type { BoundNames } from '../../../kernel/db/sql.ts'
import type { Definitions } from '../../../query/values/projection.ts'
import type { DrawnCells } from '../aggregate/draw-cells.ts'
import type { Tile } from '../mvt/projection.ts'
import type { EncodedTile, EncoderOptions } from '../mvt/tile-encoder.ts'

/** The rows of a tile: a query that the worker runs itself, or rows fetched by the main thread. */
export type TileRows =
  | TileQueryRows
  | { readonly cells: readonly (readonly (string | null)[])[]; readonly geometry: 'ewkb' | 'geojson' }
  /** Row blocks of an engine (see query/execution/connection.ts), the geometry first. */
  | { readonly blocks: readonly Uint8Array[] }
  /** Some rows of the shared row cache: JSON, each from its start to the next. */
  | {
      readonly bytes: SharedArrayBuffer
      readonly starts: Int32Array
      readonly chosen: Int32Array
      /** What each chosen row stands for, as its last value, where rows are thinned. */
      readonly counts?: Int32Array
    }
  /** Cells of an aggregate. */
  | { readonly drawn: DrawnCells }
  /** An already encoded tile, to be compressed. */
  | { readonly encoded: Uint8Array }

export type TileQueryRows = {
  readonly server: PostgresServer
  readonly settings: string
  readonly statement: RawStatement
  /** The columns that its values are compared with. */
  readonly names?: BoundNames
}

/** Everything a worker needs to make one tile. */
export type TileJob = {
  readonly rows: TileRows
  readonly encoder: EncoderOptions
  /** PROJ definitions of the rows' reference systems, if the worker projects them. */
  readonly definitions?: Definitions
  /** The requested compression. */
  readonly compression: Compression
  readonly asGeoJson: boolean
}

/** How the tiles of a zoom are made that differ in nothing but their place. */
export type TileForm = {
  readonly session: LaneSession
  readonly statementFor: (tile: Tile) => RawStatement
  readonly encoder: Omit<EncoderOptions, 'tile'>
  /** Names the tiles whose sizes can be compared. */
  readonly series: string
}

export type MadeTile = EncodedTile & {
  /** Rows left out because the tile was full. */
  readonly refused: number
  /** Bytes of the rows that its query read; 0 if the rows came with the job. */
  readonly rowBytes: number
  /** Pairs of corners of their polygons, which bound what making them valid takes. */
  readonly pairs: number
  /** How long the database took for them. */
  readonly databaseMs: number
  /** ETag of the uncompressed bytes. */
  readonly etag: string
  /** The compressed bytes; absent if compression saves nothing. */
  readonly compressed?: Uint8Array
  readonly queryMs: number
  readonly encodeMs: number
  readonly compressMs: number
}
