import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { endDescendants } from './process-tree.ts'

// A process that starts another one, which holds the same output and goes on for ever.
const family = `
  require('node:child_process').spawn(process.execPath, ['-e', 'console.log("ready"); setInterval(() => {}, 1000)'], {
    stdio: 'inherit',
  })`

test('a process that is ended takes with it what it has started, and nobody else', async () => {
  const start = (mark: string) =>
    spawn(process.execPath, ['-e', family, mark], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [ended, spared] = [start('mark-of-the-one'), start('mark-of-the-other')]
  try {
    await Promise.all([once(ended.stdout, 'data'), once(spared.stdout, 'data')])
    const closed = once(ended, 'close')
    endDescendants(process.pid, 'mark-of-the-one')
    await closed
    assert.equal(ended.signalCode, 'SIGKILL')
    assert.equal(spared.signalCode, null)
  } finally {
    const closed = once(spared, 'close')
    endDescendants(process.pid, 'mark-of-the')
    await closed
  }
})
