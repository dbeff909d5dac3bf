import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { explain } from '../src/data/databases/duckdb/faults.ts'
import { whenFull } from '../src/data/databases/postgres/server-errors.ts'
import { createExportFiles } from '../src/data/datasets/exports/export-files.ts'
import { createExportThreads } from '../src/data/datasets/exports/export-threads.ts'
import { createMbtilesProcess } from '../src/data/tiles/archives/mbtiles-process.ts'
import type { TileJob } from '../src/data/tiles/workers/tile-job.ts'
import { createTileWorkers } from '../src/data/tiles/workers/tile-workers.ts'
import { wholeMachine } from '../src/kernel/concurrency/machine-share.ts'
import { PoolFull } from '../src/kernel/db/connection-pool.ts'
import { defaultLimits, limitError } from '../src/kernel/db/embedded/embedded-limits.ts'

// One database is enough: none is asked. Full queues and pools, which no request alone can fill.

const never = new AbortController().signal

/** The refusals among these, each once. */
async function refusals(all: Promise<unknown>[]): Promise<object[]> {
  const settled = await Promise.allSettled(all)
  const reasons = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  const texts = reasons.map(({ code, extensions }) => JSON.stringify({ code, ...extensions }))
  return [...new Set(texts)].map((text) => JSON.parse(text))
}

test('more files of exports than an application and all may have made are refused with the limit', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const directory = await mkdtemp(join(tmpdir(), 'exports-'))
  const files = createExportFiles({ directory, maxBytes: 0, largestBytes: 1, share: wholeMachine, onError() {} })
  const leaving = new AbortController()
  const write = (_: string, signal: AbortSignal) =>
    new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const ask = (applicationId: string, hash: string) =>
    files.make({ applicationId, hash, maxAgeMs: 1 }, leaving.signal, write)
  const own = [1, 2, 3].map((n) => ask('a', `${n}`))
  const others = [...'bcdefgh'].map((id) => ask(id, '1'))
  const late = refusals([own[2], ...others.slice(6)] as Promise<unknown>[])
  await new Promise((resolve) => setImmediate(resolve))
  t.mock.timers.tick(2_000)
  assert.deepEqual(await late, [
    { code: 'busy', limit: 2, limitName: 'exportsAtOnce' },
    { code: 'busy', limit: 8, limitName: 'allExportsAtOnce' },
  ])
  leaving.abort(new Error('left'))
  await Promise.allSettled([...own, ...others])
  files.close()
  await rm(directory, { recursive: true, force: true })
})

test('more exports than may wait for a thread are refused with the limit', async () => {
  const threads = createExportThreads({ number: 1, count: 2 })
  const order = { format: 'no such' } as unknown as Parameters<typeof threads.write>[0]
  const all = Array.from({ length: 12 + 48 + 1 }, () => threads.write(order, [], { applicationId: 'a', signal: never }))
  const refused = { code: 'busy', limit: 48, limitName: 'exportsWaiting' }
  assert.deepEqual(
    (await refusals(all)).filter((one) => 'limitName' in one),
    [refused],
  )
  await threads.close()
})

test('more tiles than threads may have are refused with the limit', async () => {
  const script = new URL('../testing/processes/stalling-tile-worker.ts', import.meta.url)
  const workers = createTileWorkers({ count: 1, maxConnections: 2, script })
  const job = { rows: { cells: [['a']], geometry: 'ewkb' } } as unknown as TileJob
  const leaving = new AbortController()
  const all = Array.from({ length: 257 }, () => workers.make(job, leaving.signal, { applicationId: 'a' }))
  const refused = { code: 'unavailable', limit: 256, limitName: 'allTilesAtOnce' }
  assert.deepEqual(await refusals(all.slice(-1)), [refused])
  leaving.abort(new Error('left'))
  await Promise.allSettled(all)
  await workers.close()
})

test('more tiles of MBTiles than may wait are refused with the limit', async () => {
  const reader = createMbtilesProcess()
  const file = { path: '/no such file', id: 'a' } as unknown as { path: string; id: string }
  const command = { kind: 'tile', file, z: 0, column: 0, row: 0 } as unknown as Parameters<typeof reader.call>[0]
  const all = Array.from({ length: 16 + 2_000 + 1 }, () => reader.call(command))
  const refused = { code: 'busy', limit: 2_000, limitName: 'archiveReads' }
  assert.deepEqual(
    (await refusals(all)).filter((one) => 'limitName' in one),
    [refused],
  )
  await reader.close()
})

test('whoever finds no database connection, or no room for an answer, is told the limit', () => {
  const full = whenFull(new PoolFull(0, 50))
  assert.equal(full.status, 503)
  assert.deepEqual(full.extensions, { limit: 50, limitName: 'allQueryConnections' })
  const held = limitError('answer', defaultLimits, { timeoutMs: 1, heldBytes: 1 })
  assert.equal(held.status, 429)
  assert.deepEqual(held.extensions, { limit: 268_435_456, limitName: 'answersHeldBytes' })
})

test('whoever queries more files than may be is told the limit', () => {
  const fault = (limit: object) => Object.assign(new Error('busy'), { name: 'DuckdbFault', code: 'busy', limit })
  for (const [limit, extensions] of [
    [
      { of: 'queries', value: 32 },
      { limit: 32, limitName: 'fileQueries' },
    ],
    [
      { of: 'applications', value: 8 },
      { limit: 8, limitName: 'fileApplications' },
    ],
  ] as const) {
    assert.throws(() => explain(fault(limit)), { code: 'busy', extensions })
  }
})
