import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { TileJob } from './tile-job.ts'
import { createTileWorkers } from './tile-workers.ts'

const script = new URL('../../../../testing/processes/stalling-tile-worker.ts', import.meta.url)
const never = new AbortController().signal

const jobOf = (what: string) => ({ rows: { cells: [[what]], geometry: 'ewkb' } }) as unknown as TileJob

describe('tile threads', () => {
  const workers = createTileWorkers({ count: 2, maxConnections: 2, stalledMs: 4_000, script })
  after(() => workers.close())
  const make = async (what: string): Promise<string> =>
    (await workers.make(jobOf(what), never, { applicationId: 'a' })).etag

  for (const what of ['loop', 'crash']) {
    test(`a tile whose thread meets a ${what} is 504, and the tiles beside it are made by another thread`, async () => {
      const [bad, ...others] = await Promise.allSettled([make(what), ...['a', 'b', 'c', 'd', 'e'].map(make)])
      assert.equal(bad?.status, 'rejected')
      assert.equal(bad.reason.code, 'query_timeout')
      assert.deepEqual(
        others.map((one) => one.status === 'fulfilled' && one.value),
        ['a', 'b', 'c', 'd', 'e'],
      )
      assert.equal(await make('afterwards'), 'afterwards')
    })
  }

  test('many tiles that loop do not stop the others for good', async () => {
    const loops = Promise.allSettled(Array.from({ length: 3 }, () => make('loop')))
    const others = await Promise.allSettled(Array.from({ length: 6 }, (_, n) => make(`${n}`)))
    assert.ok((await loops).every(({ status }) => status === 'rejected'))
    // Who meets two loops is given up with the second.
    assert.ok(others.some(({ status }) => status === 'fulfilled'))
    assert.equal(await make('afterwards'), 'afterwards')
    assert.equal(workers.pending, 0)
  })
})

test('an application that floods a thread with tiles does not keep those of another behind them: they come in turn', async () => {
  const workers = createTileWorkers({ count: 1, maxConnections: 2, script })
  const order: string[] = []
  const make = (applicationId: string) =>
    workers.make(jobOf('quick'), never, { applicationId }).then(() => order.push(applicationId))
  const all = [...Array.from({ length: 40 }, () => make('flood')), make('other'), make('other'), make('other')]
  await Promise.all(all)
  const places = order.flatMap((applicationId, place) => (applicationId === 'other' ? [place] : []))
  // Two of the flood are with the thread already; then one of each is, and whoever has none is next.
  assert.ok((places[2] ?? 99) < 8, `the others were made as ${places}`)
  await workers.close()
})
