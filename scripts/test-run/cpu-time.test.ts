import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { test } from 'node:test'
import { createCostTable } from './cost-table.ts'
import { cpuOf, cpuOfFamily } from './cpu-time.ts'

const skip = cpuOf('self') ? false : 'needs /proc'
const spin = 'const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end);'

test('the CPU time of a process that has ended is that of its parent’s children', { skip }, () => {
  const before = cpuOf('self')?.children ?? 0
  execFileSync(process.execPath, ['-e', spin])
  assert.ok((cpuOf('self')?.children ?? 0) - before >= 0.29)
})

test('the CPU time of a family has that of children which still run', { skip }, async () => {
  const child = spawn(process.execPath, ['-e', `${spin} console.log('done'); setInterval(() => {}, 1000)`])
  await new Promise((resolve) => child.stdout.once('data', resolve))
  assert.ok(cpuOfFamily(process.pid) - (cpuOf('self')?.own ?? 0) - (cpuOf('self')?.children ?? 0) >= 0.29)
  child.kill('SIGKILL')
})

test('the table has each part that ran, the server of all and the dearest files first', { skip }, () => {
  const table = createCostTable()
  const startedAt = performance.now()
  for (let n = 1; n <= 12; n++) {
    table.add({ name: `file-${n}`, cpu: { own: n, children: 0.5 }, startedAt }, n % 2 ? 'postgres' : 'embedded')
  }
  table.addServer(7)
  table.addBrowsers(4)
  const text = table.lines().join('\n')
  assert.match(text, /Tests on PostgreSQL +36\.0 +3\.0 +39\.0\n +Tests on the embedded database +42\.0 +3\.0 +45\.0/)
  assert.match(text, /share +7\.0\n +Chromium, besides the children +4\.0/)
  assert.doesNotMatch(text, /in a browser|file-1$|file-2$/m)
  assert.ok(text.indexOf('file-12') < text.indexOf('file-3'))
})
