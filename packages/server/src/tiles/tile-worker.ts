import { hash } from 'node:crypto'
import { workerData } from 'node:worker_threads'
import type { ThreadData } from '../concurrency/channel.ts'
import { serveRequests } from '../concurrency/serve-requests.ts'
import { compressNow, worthCompressing } from '../http/compression.ts'
import type { Definitions } from '../query/projection.ts'
import { addBlocks } from './block-rows.ts'
import { addCells, chosenCells } from './cell-rows.ts'
import type { Convert } from './mvt/convert.ts'
import { createTileEncoder } from './mvt/tile-encoder.ts'
import { tileAsGeoJson } from './mvt/tile-geojson.ts'
import { createRawPools } from './raw-pools.ts'
import type { MadeTile, TileJob } from './tile-job.ts'

/**
 * A tile worker thread: it queries on its own connections and encodes the rows, so that the main thread stays
 * responsive.
 */

const { data: maxConnections } = workerData as ThreadData<number>
const pools = createRawPools(maxConnections)

/** Transfers buffers that hold nothing else; others are copied. */
const ownMemory = ({ bytes, compressed }: MadeTile): ArrayBuffer[] =>
  [bytes, compressed].flatMap((part) =>
    part?.buffer instanceof ArrayBuffer && part.byteLength === part.buffer.byteLength ? [part.buffer] : [],
  )

serveRequests<TileJob>(async (job, { signal, atWork, transfer }) => {
  const tile = await make(job, signal, atWork)
  transfer.push(...ownMemory(tile))
  return tile
})

async function make(
  { rows, encoder: options, definitions, compression, asGeoJson }: TileJob,
  signal: AbortSignal,
  atWork: () => void,
): Promise<MadeTile> {
  const encoder = createTileEncoder(options, definitions && (await toMercator(definitions)))
  const begun = performance.now()
  let refused = 0
  atWork()
  if ('cells' in rows) refused = addCells(encoder, rows, options.columns)
  else if ('chosen' in rows) {
    refused = addCells(encoder, { cells: chosenCells(rows), geometry: 'geojson' }, options.columns)
  } else if ('blocks' in rows) refused = addBlocks(encoder, rows.blocks, options.columns.length)
  else if ('statement' in rows) {
    await pools.run(rows, signal, (bytes, at) => {
      atWork()
      if (!encoder.addRow(bytes, at)) refused++
    })
  }
  const queried = performance.now()
  atWork()
  const tile = encoder.finish()
  const vector = 'encoded' in rows ? rows.encoded : tile.bytes
  const bytes = asGeoJson ? Buffer.from(JSON.stringify(tileAsGeoJson(vector, options.tile))) : tile.bytes
  const encoded = performance.now()
  const isWorthIt = compression !== 'identity' && bytes.length >= worthCompressing
  const compressed = isWorthIt ? compressNow(bytes, compression) : undefined
  return {
    ...tile,
    bytes,
    refused,
    etag: hash('sha1', bytes, 'base64url').slice(0, 16),
    ...(compressed && { compressed }),
    queryMs: queried - begun,
    encodeMs: encoded - queried,
    compressMs: performance.now() - encoded,
  }
}

/** Loaded on demand: proj4 is large and rarely needed. */
async function toMercator(definitions: Definitions): Promise<ReadonlyMap<number, Convert>> {
  const { mercatorConverter } = await import('./mvt/convert.ts')
  return new Map(Object.entries(definitions).map(([srid, text]) => [Number(srid), mercatorConverter(text)]))
}
