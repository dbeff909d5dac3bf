import { parentPort, workerData } from 'node:worker_threads'
import { keepBeating, noteJob } from '../thread-watchdog.ts'
import type { TileThreadData, ToWorker } from '../tiles/tile-job.ts'

// A tile thread that never comes back from a job whose first cell is `loop`, and ends at one whose first cell is `crash`.

const { heartbeat } = workerData as TileThreadData
keepBeating(heartbeat)
parentPort?.on('message', (message: ToWorker) => {
  if ('cancel' in message) return
  const { id, job } = message
  const [[what] = []] = 'cells' in job.rows ? job.rows.cells : []
  if (what !== 'loop' && what !== 'crash') {
    return void setTimeout(() => parentPort?.postMessage({ id, tile: { etag: String(what) } }), 300)
  }
  noteJob(heartbeat, id)
  if (what === 'crash') throw new Error('crash')
  for (;;);
})
