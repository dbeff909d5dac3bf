import { workerData } from 'node:worker_threads'
import { compressNow } from '../../../api/http/answers/compression.ts'
import type { ThreadData } from '../../../kernel/concurrency/channel.ts'
import { lowerThreadPriority } from '../../../kernel/concurrency/priority.ts'
import { serveRequests } from '../../../kernel/concurrency/serve-requests.ts'
import type { CollectJob, WriteJob } from '../aggregate/cell-job.ts'
import { makeTile } from './make-tile.ts'
import { createRawPools } from './raw-pools.ts'
import type { MadeTile, TileJob } from './tile-job.ts'

/**
 * A tile worker thread: it queries on its own connections and encodes the rows, so that the main thread stays
 * responsive.
 */

const { data: maxConnections } = workerData as ThreadData<number>
const pools = createRawPools(maxConnections)

/** Transfers buffers that hold nothing else; others are copied. */
const transferable = ({ bytes, compressed }: MadeTile): ArrayBuffer[] =>
  [bytes, compressed].flatMap((part) =>
    part?.buffer instanceof ArrayBuffer && part.byteLength === part.buffer.byteLength ? [part.buffer] : [],
  )

lowerThreadPriority()
serveRequests<TileJob | CollectJob | WriteJob>(async (job, { signal, atWork, transfer }) => {
  if ('collect' in job || 'write' in job) {
    const { collect, writeCells } = await import('../aggregate/cell-job.ts')
    return 'write' in job ? writeCells(job) : collect(job, (rows, onRow) => pools.run(rows, signal, onRow), atWork)
  }
  const tile = await makeTile(job, {
    query: (rows, onRow) => pools.run(rows, signal, onRow),
    compress: compressNow,
    atWork,
  })
  transfer.push(...transferable(tile))
  return tile
})
