import { hash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { ApiError } from '../errors.ts'
import { compressNow, worthCompressing } from '../http/compression.ts'
import { keepBeating, noteJob } from '../thread-watchdog.ts'
import { addCells, chosenCells } from './cell-rows.ts'
import type { Convert } from './mvt/convert.ts'
import { createTileEncoder } from './mvt/tile-encoder.ts'
import { tileAsGeoJson } from './mvt/tile-geojson.ts'
import type { Definitions } from './own-coordinates.ts'
import { createRawPools } from './raw-pools.ts'
import type { FromWorker, MadeTile, TileJob, TileThreadData, ToWorker } from './tile-job.ts'

/** A thread that makes tiles: it queries on connections of its own and encodes what comes, so that nobody else waits. */

const { heartbeat, maxConnections } = workerData as TileThreadData
keepBeating(heartbeat)
const pools = createRawPools(maxConnections)
const running = new Map<number, AbortController>()

const tell = (message: FromWorker, given?: ArrayBuffer[]): void => parentPort?.postMessage(message, given)

/** The memory of the bytes that has nothing else in it goes to the other thread; the rest is copied. */
const ownMemory = ({ bytes, compressed }: MadeTile): ArrayBuffer[] =>
  [bytes, compressed].flatMap((part) =>
    part?.buffer instanceof ArrayBuffer && part.byteLength === part.buffer.byteLength ? [part.buffer] : [],
  )

parentPort?.on('message', (message: ToWorker) => {
  if ('cancel' in message) return void running.get(message.id)?.abort()
  const { id, job } = message
  const leaving = new AbortController()
  running.set(id, leaving)
  make(job, leaving.signal, () => noteJob(heartbeat, id))
    .then((tile) => tell({ id, tile }, ownMemory(tile)))
    .catch((error) => tell({ id, error: describe(error) }))
    .finally(() => running.delete(id))
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
  } else if ('statement' in rows) {
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

/** The library is large, and hardly ever needed. */
async function toMercator(definitions: Definitions): Promise<ReadonlyMap<number, Convert>> {
  const { mercatorConverter } = await import('./mvt/convert.ts')
  return new Map(Object.entries(definitions).map(([srid, text]) => [Number(srid), mercatorConverter(text)]))
}

/** Errors lose their class on the way to another thread. */
function describe(error: unknown): { message: string; code: string; status?: string } {
  if (error instanceof ApiError) return { message: error.message, code: '', status: error.code }
  if (!(error instanceof Error)) return { message: String(error), code: '' }
  return { message: error.message, code: 'code' in error ? String(error.code) : '' }
}
