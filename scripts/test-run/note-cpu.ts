// Loaded before each test file: writes to TEST_CPU_LOG what each has cost, for the table that the runner prints.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { cpuOf } from './cpu-time.ts'

// Processes and threads that a test starts inherit the variable and what is loaded before.
const isTestProcess = isMainThread && String(process.ppid) === process.env.TEST_RUNNER
const log = isTestProcess ? process.env.TEST_CPU_LOG : undefined
let before = { own: 0, children: 0 }

// What the process has used since the last call, loading included; without a file: what was left at its end.
export function noteCpu(file?: string): void {
  const now = log && cpuOf('self')
  if (!now) return
  const used = { own: now.own - before.own, children: now.children - before.children }
  appendFileSync(log, `${JSON.stringify({ file, ...used })}\n`)
  before = now
}

process.on('exit', () => noteCpu())
