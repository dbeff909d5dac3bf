import type { Server } from '../db/postgres-client.ts'
import type { RawStatement } from '../db/raw-connection.ts'
import type { Compression } from '../http/compression.ts'
import type { Heartbeat } from '../thread-watchdog.ts'
import type { EncodedTile, EncoderOptions } from './mvt/tile-encoder.ts'
import type { Definitions } from './own-coordinates.ts'

/** Where a tile's rows come from: a query of the worker's own, or rows that the main thread has fetched. */
export type TileRows =
  | { readonly server: Server; readonly settings: string; readonly statement: RawStatement }
  | { readonly cells: readonly (readonly (string | null)[])[]; readonly geometry: 'ewkb' | 'geojson' }
  /** Some of the rows that are kept in memory for all threads: JSON, from each start to the next. */
  | { readonly bytes: SharedArrayBuffer; readonly starts: Int32Array; readonly chosen: Int32Array }
  /** A tile that somebody else encoded, for another form of it. */
  | { readonly encoded: Uint8Array }

/** All that a worker needs to make one tile. */
export type TileJob = {
  readonly rows: TileRows
  readonly encoder: EncoderOptions
  /** The reference systems of the rows, where the worker is to transform them into web mercator. */
  readonly definitions?: Definitions
  /** The form in which the tile was asked for. */
  readonly compression: Compression
  readonly asGeoJson: boolean
}

export type MadeTile = EncodedTile & {
  /** Rows that were left out because the tile was full. */
  readonly refused: number
  /** Of the bytes, uncompressed. */
  readonly etag: string
  /** Compressed as asked; absent when that saves nothing. */
  readonly compressed?: Uint8Array
  readonly queryMs: number
  readonly encodeMs: number
  readonly compressMs: number
}

/** What a tile thread is told when it starts. */
export type TileThreadData = { readonly heartbeat: Heartbeat; readonly maxConnections: number }

export type ToWorker = { readonly id: number; readonly job: TileJob } | { readonly id: number; readonly cancel: true }

export type FromWorker =
  | { readonly id: number; readonly tile: MadeTile }
  | { readonly id: number; readonly error: { message: string; code: string; status?: string } }
