import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { stays } from '../../../testing/until.ts'
import { createHeartbeat, watchThread } from './thread-watchdog.ts'

const watchdog = new URL('./thread-watchdog.ts', import.meta.url).href

function start(code: string) {
  const heartbeat = createHeartbeat()
  const source = `import(${JSON.stringify(watchdog)}).then(({ keepBeating }) => {
    keepBeating(require('node:worker_threads').workerData)
    ${code}
  })`
  const worker = new Worker(source, { eval: true, workerData: heartbeat })
  watchThread(worker, heartbeat, 2_000)
  return worker
}

describe('the watchdog of a thread', () => {
  test('ends a thread that loops', async () => {
    const worker = start('setTimeout(() => { for (;;); }, 1000)')
    await once(worker, 'exit', { signal: AbortSignal.timeout(100_000) })
  })

  test('leaves a thread alone that only waits', async () => {
    const worker = start('setInterval(() => {}, 1000)')
    let hasEnded = false
    worker.once('exit', () => (hasEnded = true))
    await stays(() => !hasEnded, 5_000)
    await worker.terminate()
  })
})
