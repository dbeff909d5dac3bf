import { setTimeout as sleep } from 'node:timers/promises'
import type { TileJob } from '../../src/data/tiles/workers/tile-job.ts'
import { serveRequests } from '../../src/kernel/concurrency/serve-requests.ts'

// A tile thread that never comes back from a job whose first cell is `loop`, and ends at one whose first cell is `crash`.
// One whose first cell is `quick` is made at once, others after a moment.

serveRequests<TileJob>(async ({ rows }, { atWork }) => {
  const [[what] = []] = 'cells' in rows ? rows.cells : []
  if (what === 'loop' || what === 'crash') atWork()
  if (what === 'crash') process.exit(1)
  while (what === 'loop');
  if (what !== 'quick') await sleep(300)
  return { etag: String(what) }
})
