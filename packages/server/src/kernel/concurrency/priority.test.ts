import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { lowerProcessPriority } from './priority.ts'

const own = getPriority()

test('a thread lowers its priority behind the event loop that started it', {
  skip: process.platform !== 'linux',
}, async () => {
  const module = JSON.stringify(new URL('./priority.ts', import.meta.url))
  const code = `
    const { parentPort } = require('node:worker_threads')
    const { getPriority } = require('node:os')
    import(${module}).then(({ lowerThreadPriority }) => {
      lowerThreadPriority()
      parentPort.postMessage(getPriority())
    })`
  const worker = new Worker(code, { eval: true })
  const [seen] = await once(worker, 'message')
  assert.deepEqual([seen, getPriority()], [5, own])
})

test('a process is put behind, and one that has ended is let be', async () => {
  const child = lowerProcessPriority(spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)']))
  assert.equal(getPriority(child.pid), 10)
  child.kill()
  await once(child, 'exit')
  assert.equal(lowerProcessPriority(child), child)
})
