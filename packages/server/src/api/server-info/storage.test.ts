import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startServer } from '../../../testing/command-line.ts'
import { testDatabase } from '../../../testing/database.ts'
import { testApp } from '../../../testing/harness.ts'
import { until } from '../../../testing/until.ts'
import { createWorkWatch } from '../../kernel/concurrency/work-watch.ts'
import { judgeFailure } from '../../kernel/db/database-error.ts'
import { ApiError } from '../../kernel/errors.ts'
import { isPlatformStorageFull, systemFault } from '../http/system-fault.ts'
import { watchStorage } from './storage.ts'

test('what the system ran out of, and values beyond its limits, are told apart', () => {
  const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code })
  const codeOf = (error: unknown) => systemFault(error)?.code
  for (const code of ['ENOSPC', 'EDQUOT', '53100']) {
    assert.equal(codeOf(coded(code)), 'storage_full', code)
    assert.equal(codeOf(new Error('outer', { cause: coded(code) })), 'storage_full', code)
  }
  assert.equal(codeOf(coded('53200')), 'unavailable')
  for (const code of ['54000', '54001', '54011', '22001']) assert.equal(codeOf(coded(code)), 'invalid_request', code)
  assert.equal(codeOf(coded('XX000', 'invalid memory alloc request size 1073741824')), 'invalid_request')
  assert.equal(codeOf(coded('XX000', 'cache lookup failed')), undefined)
  assert.equal(codeOf(coded('42P01')), undefined)
  assert.equal(isPlatformStorageFull(coded('ENOSPC')), false, 'an external database may say so')
})

/** Files of DATA_DIR are the same on both databases, and each of these servers would open an embedded one. */
const skip = process.env.TEST_DATABASE_URL ? false : 'DATA_DIR is the same on both databases'

/** A file system of this size, or nothing where the test may not mount one. */
async function smallDisk(megabytes: number) {
  const path = await mkdtemp(join(tmpdir(), 'graticule-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    await rm(path, { recursive: true })
    return undefined
  }
  return {
    path,
    async remove() {
      execFileSync('umount', ['-l', path])
      await rm(path, { recursive: true })
    },
  }
}

test('a full disk is 503 storage_full, and the health check says so until there is room again', { skip }, async (t) => {
  const disk = await smallDisk(4)
  if (!disk) return t.skip('this user may not mount a file system')
  const app = await testApp({ DATA_DIR: disk.path, DATA_MIN_FREE_MB: '0' })
  try {
    await app.http.listen({ port: 0, host: '127.0.0.1' })
    const url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}/api/v1`
    const health = () => app.call('GET', '/api/v1/healthcheck')
    assert.equal((await health()).status, 200)
    const form = new FormData()
    form.append('file', new Blob([`name,lon,lat\n${'a,1,2\n'.repeat(1_000_000)}`]), 'large.csv')
    const sent = await fetch(`${url}/uploads`, { method: 'POST', headers: { 'x-api-key': app.master }, body: form })
    const answer = (await sent.json()) as { code: string; detail: string }
    assert.deepEqual([sent.status, answer.code], [503, 'storage_full'], JSON.stringify(answer))
    assert.ok(sent.headers.get('retry-after'))
    assert.ok(!answer.detail.includes(disk.path))
    const unready = await health()
    assert.deepEqual([unready.status, unready.body.code], [503, 'storage_full'], 'a write has just failed')
  } finally {
    await app.close()
    await disk.remove()
  }
})

test('too little room for DATA_DIR is 503 storage_full of the health check, before a write fails', {
  skip,
}, async (t) => {
  const disk = await smallDisk(4)
  if (!disk) return t.skip('this user may not mount a file system')
  await writeFile(join(disk.path, 'file'), Buffer.alloc(3 * 1024 * 1024))
  const app = await testApp({ DATA_DIR: disk.path, DATA_MIN_FREE_MB: '2' })
  try {
    const { status, body } = await app.call('GET', '/api/v1/healthcheck')
    assert.deepEqual([status, body.code], [503, 'storage_full'])
    assert.equal((await app.call('GET', '/api/v1/styles')).status, 200, 'what is there can be read')
  } finally {
    await app.close()
    await disk.remove()
  }
})

test('a value that no index can hold is 400', async () => {
  const { db, close } = await testDatabase()
  try {
    await db.script('CREATE TABLE public.keyed (name text PRIMARY KEY)')
    const failure = await db
      .script(`INSERT INTO public.keyed SELECT string_agg(md5(i::text), '') FROM generate_series(1, 3000) i`)
      .catch((error) => error)
    assert.ok(!(failure instanceof ApiError))
    assert.equal(systemFault(failure)?.status, 400)
  } finally {
    await close()
  }
})

test('a disk that is full makes a server on the embedded database unready, whatever DATA_MIN_FREE_MB is, until there is room', {
  skip,
}, async (t) => {
  const disk = await smallDisk(220)
  if (!disk) return t.skip('this user may not mount a file system')
  const server = await startServer({ DATA_DIR: join(disk.path, 'data'), DATA_MIN_FREE_MB: '0', PORT: '0' })
  try {
    const storage = async () => {
      const answer = await fetch(`${server.url}/api/v1/readiness`)
      const { checks, reasons } = (await answer.json()) as { checks: { storage: string }; reasons?: string[] }
      return `${answer.status} ${checks.storage} ${reasons ?? ''}`
    }
    assert.equal(await storage(), '200 ok ')
    const fill = join(disk.path, 'fill')
    await assert.rejects(writeFile(fill, Buffer.alloc(220 * 1024 * 1024)), { code: 'ENOSPC' })
    await until(async () => (await storage()) === '503 full storage: full')
    await rm(fill)
    await until(async () => (await storage()) === '200 ok ')
  } finally {
    await server.stop('SIGTERM')
    await disk.remove()
  }
})

test('want of room in the database and other failures of work in the background are told apart', async () => {
  const works = createWorkWatch(judgeFailure)
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error('x'), { code }))
  const [sweeps, usage] = [works.part('sweeps'), works.part('usage')]
  for (const code of ['57P01', 'ECONNREFUSED', '40P01', '53300']) await assert.rejects(sweeps(failing(code)))
  assert.deepEqual([works.failing(), works.lacksRoom()], [[], false], 'these pass')
  await assert.rejects(sweeps(failing('42501')))
  await assert.rejects(usage(failing('53100')))
  assert.deepEqual([works.failing(), works.lacksRoom()], [['sweeps'], true])
  const storage = watchStorage({ directories: [tmpdir()], minFreeBytes: 0, lacksRoom: works.lacksRoom })
  assert.equal(await storage.state(), 'full')
  await Promise.all([sweeps, usage].map((part) => part(async () => {})))
  assert.deepEqual([works.failing(), await storage.state()], [[], 'ok'])
  storage.close()
})

test('a directory that cannot be written is said, not taken for a full one', async (t) => {
  const disk = await smallDisk(4)
  if (!disk) return t.skip('this user may not mount a file system')
  execFileSync('mount', ['-o', 'remount,ro', disk.path])
  const storage = watchStorage({ directories: [disk.path], minFreeBytes: 0 })
  assert.equal(await storage.state(), 'unwritable')
  storage.close()
  await disk.remove()
})
