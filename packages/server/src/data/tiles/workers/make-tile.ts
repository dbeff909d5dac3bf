// Makes one tile of a job: reads its rows and encodes them. Runs in the tile threads, and for small tiles in the main thread.
import { hash } from 'node:crypto'
import { type Compression, isWorthCompressing } from '../../../api/http/answers/compression.ts'
import type { RowSink } from '../../../kernel/db/postgres/raw-connection.ts'
import { rowLength } from '../../../kernel/db/postgres/raw-reader.ts'
import type { Definitions } from '../../../query/values/projection.ts'
import type { DrawnCells } from '../aggregate/draw-cells.ts'
import type { PointConversion } from '../mvt/convert.ts'
import type { Tile } from '../mvt/projection.ts'
import { createTileEncoder, type TileEncoder } from '../mvt/tile-encoder.ts'
import { addBlocks } from './block-rows.ts'
import { addCells as addTextRows, chosenCells } from './cell-rows.ts'
import type { MadeTile, TileJob, TileQueryRows, TileRows } from './tile-job.ts'

export type MakeTileOptions = {
  /** Runs the job's query; answers how many milliseconds the database took. */
  query(rows: TileQueryRows, onRow: RowSink): Promise<number>
  compress(bytes: Uint8Array, compression: Compression): Uint8Array | Promise<Uint8Array>
  /** The thread works on this tile from here on. */
  atWork(): void
  /** Told before each row what all rows up to it come to. An error ends the query. */
  onSize?(rowBytes: number, pairs: number): void
}

export async function makeTile(job: TileJob, { query, compress, atWork, onSize }: MakeTileOptions): Promise<MadeTile> {
  const { rows, encoder: shape, definitions, compression, asGeoJson } = job
  const encoder = createTileEncoder(shape, definitions && (await toMercator(definitions)))
  const begun = performance.now()
  const taken = nothingTaken()
  let databaseMs = 0
  atWork()
  if ('statement' in rows) {
    databaseMs = await query(rows, (bytes, at) => {
      atWork()
      takeRow(taken, bytes, at, onSize)
      if (!encoder.addRow(bytes, at)) taken.refused++
    })
  } else if ('drawn' in rows) taken.refused = await addCells(encoder, rows.drawn, shape.tile)
  else taken.refused = addRows(encoder, rows, shape.columns)
  const queried = performance.now()
  atWork()
  const tile = encoder.finish()
  const vector = 'encoded' in rows ? rows.encoded : tile.bytes
  const bytes = asGeoJson ? await geoJsonOf(vector, shape.tile) : tile.bytes
  const etag = tileTag(bytes)
  const encoded = performance.now()
  const compressed = isWorthCompressing(bytes, compression) ? await compress(bytes, compression) : undefined
  return {
    ...tile,
    bytes,
    ...taken,
    databaseMs,
    etag,
    ...(compressed && { compressed }),
    queryMs: queried - begun,
    encodeMs: encoded - queried,
    compressMs: performance.now() - encoded,
  }
}

/** What the rows of a query come to. */
type RowTotals = Pick<MadeTile, 'refused' | 'rowBytes' | 'pairs'>

export const nothingTaken = (): { -readonly [name in keyof RowTotals]: number } => ({
  refused: 0,
  rowBytes: 0,
  pairs: 0,
})

/** Counts a row before it is added. */
export function takeRow(
  taken: ReturnType<typeof nothingTaken>,
  bytes: Buffer,
  at: Int32Array,
  onSize: MakeTileOptions['onSize'],
): void {
  taken.rowBytes += rowLength(at)
  taken.pairs += pairsIn(bytes, at)
  onSize?.(taken.rowBytes, taken.pairs)
}

/** The ETag of uncompressed bytes. */
export const tileTag = (bytes: Uint8Array): string => hash('sha1', bytes, 'base64url').slice(0, 16)

/** Adds rows that came with the job. Returns how many were left out because the tile was full. */
function addRows(
  encoder: TileEncoder,
  rows: Exclude<TileRows, TileQueryRows | { drawn: unknown }>,
  columns: TileJob['encoder']['columns'],
): number {
  if ('cells' in rows) return addTextRows(encoder, rows, columns)
  if ('chosen' in rows) return addTextRows(encoder, { cells: chosenCells(rows), geometry: 'geojson' }, columns)
  return 'blocks' in rows ? addBlocks(encoder, rows.blocks, columns.length) : 0
}

const bytesPerCorner = 16
/** Point, LineString, MultiPoint and MultiLineString in WKB: what they take grows with their size only. */
const simpleTypes = new Set([1, 2, 4, 5])

/**
 * Pairs of corners of a polygon, which may cross each other; none for other geometries. The geometry is the first column. WKB
 * begins with the byte order, 1 for little endian, and the type in four bytes.
 */
function pairsIn(row: Buffer, at: Int32Array): number {
  const [start = 0, end = 0] = [at[0], at[1]]
  if (start < 0 || simpleTypes.has(row[row[start] === 1 ? start + 1 : start + 4] ?? 0)) return 0
  return ((end - start) / bytesPerCorner) ** 2
}

/** Loaded on demand: H3 is large, and the main thread draws no cells. */
async function addCells(encoder: TileEncoder, drawn: DrawnCells, tile: Tile): Promise<number> {
  const { addCellShapes } = await import('../aggregate/draw-cells.ts')
  return addCellShapes(encoder, drawn, tile)
}

/** Loaded on demand: the main thread makes no GeoJSON. */
async function geoJsonOf(vector: Uint8Array, tile: Tile): Promise<Buffer> {
  const { tileAsGeoJson } = await import('../mvt/tile-geojson.ts')
  return Buffer.from(JSON.stringify(tileAsGeoJson(vector, tile)))
}

/** Loaded on demand: proj4 is large and rarely needed. */
async function toMercator(definitions: Definitions): Promise<ReadonlyMap<number, PointConversion>> {
  const { mercatorConverter } = await import('../mvt/convert.ts')
  return new Map(Object.entries(definitions).map(([srid, text]) => [Number(srid), mercatorConverter(text)]))
}
