// One database is enough: the clock asks none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startClock } from './embedded-statement-guard.ts'

const hour = 3_600_000

const sleepInThread = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, ms)

function burnCpu(ms: number): void {
  const { user, system } = process.threadCpuUsage()
  for (;;) {
    const now = process.threadCpuUsage()
    if (now.user + now.system - user - system > ms * 1000) return
  }
}

test('a statement that waits for the CPU of a busy machine keeps its CPU time', () => {
  const clock = startClock({ cpuMs: 200, elapsedMs: hour })
  sleepInThread(400)
  assert.equal(clock.isOver(), false)
  burnCpu(250)
  assert.equal(clock.isOver(), true)
})

test('a statement that has hardly any CPU ends by elapsed time', () => {
  const clock = startClock({ cpuMs: hour, elapsedMs: 100 })
  sleepInThread(150)
  assert.equal(clock.isOver(), true)
})
