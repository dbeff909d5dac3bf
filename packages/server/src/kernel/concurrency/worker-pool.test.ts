import assert from 'node:assert/strict'
import { execFile, fork } from 'node:child_process'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ApiError } from '../errors.ts'
import { type Channel, processChannel, startThread } from './channel.ts'
import { createWorkerPool, type WorkerPoolOptions } from './worker-pool.ts'

const script = new URL('../../../testing/processes/pool-worker.ts', import.meta.url)
const killAndWait = fileURLToPath(new URL('../../../testing/processes/kill-and-wait.ts', import.meta.url))
const kinds = {
  thread: (): Channel => startThread(script),
  process: (): Channel => processChannel(fork(script, { serialization: 'advanced', execArgv: [] })),
}
const errors = {
  busy: () => new Error('busy'),
  late: (request: string) => new Error(`late: ${request}`),
  lost: (cause: Error) => new Error('lost', { cause }),
  closing: () => new Error('closing'),
}

for (const [kind, startWorker] of Object.entries(kinds)) {
  describe(`a pool of workers, each a ${kind}`, () => {
    function poolOf(more: Partial<WorkerPoolOptions<string>> = {}) {
      let started = 0
      const start = (): Channel => {
        started++
        return startWorker()
      }
      const options: WorkerPoolOptions<string> = { start, size: 1, depth: 8, onAbort: 'cancel', errors, ...more }
      const pool = createWorkerPool<string, string, string>(options)
      return { ...pool, pool, started: () => started }
    }

    test('answers requests, and hands on errors with what they say', async (t) => {
      const { run, close, started } = poolOf()
      t.after(close)
      assert.deepEqual(await Promise.all(['a', 'b'].map((what) => run(what))), ['a', 'b'])
      const isRefusal = (error: unknown): boolean =>
        error instanceof ApiError && error.code === 'invalid_request' && error.faults[0]?.path === 'a'
      await assert.rejects(run('refuse'), isRefusal)
      await assert.rejects(run('fail'), { message: 'failed', code: '42P01' })
      assert.equal(started(), 1)
    })

    test('carries notices one way and words the other way', async (t) => {
      const { run, close } = poolOf()
      t.after(close)
      const onNotice = (notice: string, tell: (message: unknown) => void): void => tell(`${notice}!`)
      assert.equal(await run('talk', { onNotice }), 'go on!')
    })

    test('a worker that ends costs the request that it was at, and the others go to another', async (t) => {
      const { run, close, started } = poolOf({ depth: 3 })
      t.after(close)
      const [crash, ...others] = await Promise.allSettled(['crash', 'a', 'b', 'c', 'd'].map((what) => run(what)))
      assert.equal(crash?.status === 'rejected' && crash.reason.message, 'lost')
      assert.deepEqual(
        others.map((one) => one.status === 'fulfilled' && one.value),
        ['a', 'b', 'c', 'd'],
      )
      assert.equal(started(), 2)
    })

    test('a request that takes too long ends with its worker, where the worker hears nothing', async (t) => {
      const { run, close } = poolOf({ timeout: { ends: 'replace', ms: () => 1_000 } })
      t.after(close)
      const late = run('loop')
      const other = run('a')
      await assert.rejects(late, /late: loop/)
      assert.equal(await other, 'a')
    })

    test('a request that takes too long is cancelled, where the worker listens', async (t) => {
      const { run, close, started, pool } = poolOf({ timeout: { ends: 'cancel', ms: () => 100 } })
      t.after(close)
      await assert.rejects(run('wait'), /late: wait/)
      // Its place is free when the worker has answered.
      while (pool.pending > 0) await new Promise(setImmediate)
      assert.equal(started(), 1)
    })

    test('whoever leaves ends its request, also while it waits', async (t) => {
      const { run, close, started, pool } = poolOf({ depth: 1, onAbort: 'replace' })
      t.after(close)
      const leaving = [new AbortController(), new AbortController()]
      const requests = leaving.map(({ signal }) => run('loop', { signal }))
      const results = Promise.allSettled(requests)
      leaving[1]?.abort(new Error('left the queue'))
      leaving[0]?.abort(new Error('left'))
      assert.deepEqual(
        (await results).map((one) => one.status === 'rejected' && one.reason.message),
        ['left', 'left the queue'],
      )
      assert.deepEqual([await run('a'), started(), pool.pending], ['a', 2, 0])
    })

    test('of those who wait, an owner of whom nothing is being answered comes first; too many are refused', async (t) => {
      const { run, close } = poolOf({ size: 2, depth: 1, maxWaiting: 2, onAbort: 'replace' })
      t.after(close)
      const leaving = new AbortController()
      const greedy = run('wait', { owner: 'greedy' })
      const first = run('loop', { owner: 'first', signal: leaving.signal })
      const order: string[] = []
      const waiting = ['greedy', 'other'].map((owner) => run(owner, { owner }).then((value) => order.push(value)))
      await assert.rejects(run('c'), /busy/)
      leaving.abort(new Error('left'))
      await assert.rejects(first, /left/)
      await Promise.all(waiting)
      assert.deepEqual(order, ['other', 'greedy'])
      greedy.catch(() => undefined)
    })

    test('a process that killed its last worker waits for its end, whatever the worker still answers', async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [killAndWait, kind])
      assert.equal(stdout, 'ended\n')
    })

    test('an idle worker ends, and closing ends all that is under way', async () => {
      const { run, close, started, pool } = poolOf({ idleMs: 1 })
      await run('a')
      while (pool.isRunning) await new Promise(setImmediate)
      const under = run('wait')
      const closing = close()
      await assert.rejects(under, /closing/)
      await closing
      await assert.rejects(run('b'), /closing/)
      assert.equal(started(), 2)
    })
  })
}

test('a thread that stands still is ended by its watchdog', async (t) => {
  const start = (): Channel => startThread(script, { stalledMs: 1_000 })
  const { run, close } = createWorkerPool<string, string>({ start, size: 1, depth: 8, onAbort: 'cancel', errors })
  t.after(close)
  const [waits, loops] = [run('a'), run('loop')]
  await assert.rejects(loops, /lost/)
  assert.equal(await waits, 'a')
})
