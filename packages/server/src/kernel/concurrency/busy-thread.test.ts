import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { evaluateInBusyThread } from './busy-thread.ts'

const endless = `require('node:worker_threads').parentPort.postMessage('begun'); globalThis.turns = 0; while (!globalThis.isStopped) turns++`

async function startBusy(): Promise<Worker> {
  const worker = new Worker(endless, { eval: true })
  await once(worker, 'message')
  return worker
}

test('a thread in a loop without end evaluates what it is asked, and no other thread does', async () => {
  const [other, worker] = await Promise.all([startBusy(), startBusy()])
  const ended = once(worker, 'exit')
  assert.equal(typeof (await evaluateInBusyThread(worker.threadId, 'turns')), 'number')
  assert.equal(await evaluateInBusyThread(worker.threadId, 'globalThis.isStopped = true'), true)
  await ended
  assert.equal(await evaluateInBusyThread(other.threadId, 'globalThis.isStopped'), undefined)
  await other.terminate()
})

test('a thread that has ended, or ends meanwhile, evaluates nothing and keeps nobody waiting', async () => {
  const worker = await startBusy()
  const { threadId } = worker
  await Promise.allSettled([evaluateInBusyThread(threadId, '1'), worker.terminate()])
  assert.equal(await evaluateInBusyThread(threadId, '1'), undefined)
})
