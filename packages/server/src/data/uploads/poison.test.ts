import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { until } from '../../../testing/until.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { sql } from '../../kernel/db/sql.ts'

// One database is enough: crash.test.ts ends readers and has their uploads tried again on both.

const run = promisify(execFile)
let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
  // One that looks after what was left.
  await (await uploads.app.replica()).work()
})
after(() => uploads.close())

/** The processes that read files for this one. */
async function readers(): Promise<number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid,ppid,args'])
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent] = /^ *(\d+) +(\d+) .*reader-child/.exec(line) ?? []
    return Number(parent) === process.pid ? [Number(pid)] : []
  })
}

/** False where the process, which was killed before, is gone by now. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

test('a file whose reader dies each time is tried three times, and fails', async () => {
  const rows = Array.from({ length: 100_000 }, (_, n) => `${n},${n % 180},${n % 90}`)
  const { body } = await uploads.send({ name: 'a.csv', bytes: `n,lon,lat\n${rows.join('\n')}\n` })
  const killed = new Set<number>()
  let record = body
  await until(async () => {
    for (const pid of await readers()) if (kill(pid)) killed.add(pid)
    // The next attempt is not waited for.
    await uploads.app.db.query(sql`
      UPDATE svc.uploads SET heard_at = heard_at - interval '1 minute' WHERE id = ${body.id}::uuid AND status = 'pending'`)
    record = (await uploads.call('GET', `/api/v1/uploads/${body.id}`)).body
    return !['pending', 'processing'].includes(record.status)
  })
  assert.equal(record.status, 'failed')
  assert.equal(record.error.code, 'worker_died')
  const [row] = await uploads.app.db.query<{ attempts: number }>(
    sql`SELECT attempts FROM svc.uploads WHERE id = ${body.id}::uuid`,
  )
  assert.equal(row?.attempts, 3)
  // One more where the server that the file came to had one ready, and the other got the job.
  assert.ok(killed.size === 3 || killed.size === 4, `${killed.size} were killed`)
  assert.deepEqual(await uploads.leftovers(), [])
})
