import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { until } from '../../../../testing/until.ts'
import { wholeMachine } from '../../../kernel/concurrency/machine-share.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { createExportFiles, type ExportFiles, type ExportKey, unwatchedMs } from './export-files.ts'
import { watchedMs } from './export-sweep.ts'

// One database is enough: it has to do with files alone.

const forever = new AbortController().signal
const maxBytes = 4_000

let directory: string
let files: ExportFiles
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-export-files-'))
  files = createExportFiles({ directory, maxBytes, largestBytes: 500, share: wholeMachine, onError: assert.fail })
})
after(async () => {
  files.close()
  await rm(directory, { recursive: true, force: true })
})

const keyOf = (applicationId: string, hash: string, maxAgeMs = watchedMs): ExportKey => ({
  applicationId,
  hash,
  maxAgeMs,
})
const writeBytes = (size: number) => (path: string) => writeFile(path, Buffer.alloc(size))
const namesIn = (applicationId: string) => readdir(join(directory, applicationId))

async function make(applicationId: string, hash: string, size: number, ageMs = 0): Promise<void> {
  const { handle } = await files.make(keyOf(applicationId, hash), forever, writeBytes(size))
  await handle.close()
  const at = new Date(Date.now() - ageMs)
  await utimes(join(directory, applicationId, hash), at, at)
}

describe('files of exports', () => {
  test('are made once for all who ask at the same time, and again only when they are too old', async () => {
    let made = 0
    const write = async (path: string): Promise<void> => {
      made++
      await writeFile(path, 'x')
    }
    const key = keyOf('once', 'a', unwatchedMs)
    const all = await Promise.all([1, 2, 3].map(() => files.make(key, forever, write)))
    assert.equal(made, 1)
    assert.equal(new Set(all.map(({ tag }) => tag)).size, 1)
    for (const { handle } of all) await handle.close()
    const old = new Date(Date.now() - unwatchedMs - 1_000)
    await utimes(join(directory, 'once', 'a'), old, old)
    assert.equal(await files.find(key), undefined)
    const again = await files.make(key, forever, write)
    await again.handle.close()
    assert.equal(made, 2)
    assert.notEqual(again.tag, all[0]?.tag)
  })

  test('leave nothing behind when they fail, or when nobody waits for them any more', async () => {
    const leaving = new AbortController()
    const failing = files.make(keyOf('failed', 'a'), leaving.signal, async (path, signal) => {
      await writeFile(path, 'half')
      await mkdir(`${path}.parts`)
      leaving.abort(new Error('left'))
      await until(() => signal.aborted)
      signal.throwIfAborted()
    })
    await assert.rejects(failing, /left/)
    const broken = files.makeOnce('failed', forever, async (path) => {
      await writeFile(path, 'half')
      throw new Error('broken')
    })
    await assert.rejects(broken, /broken/)
    await until(async () => (await namesIn('failed')).length === 0)
  })

  test('stay within their bounds: the oldest go, and those of an application before those of others', async () => {
    await make('greedy', 'old', 600, 3_000)
    await make('greedy', 'middle', 600, 2_000)
    await make('modest', 'oldest', 900, 4_000)
    await make('greedy', 'new', 400)
    await make('modest', 'expired', 10, watchedMs + 1_000)
    await files.sweep()
    assert.deepEqual((await namesIn('greedy')).sort(), ['middle', 'new'])
    assert.deepEqual(await namesIn('modest'), ['oldest'])
    const crashed = join(directory, 'modest', 'making-1')
    await writeFile(crashed, 'x')
    const lately = new Date(Date.now() - 60_000)
    await utimes(crashed, lately, lately)
    await files.sweep()
    assert.ok(await stat(crashed))
    await rm(crashed)
    await writeFile(crashed, 'x')
    const longAgo = new Date(Date.now() - 16 * 60_000)
    await utimes(crashed, longAgo, longAgo)
    await files.sweep()
    assert.deepEqual(await namesIn('modest'), ['oldest'])
  })

  test('that are still read count when they have been removed, and refuse the next file until they are closed', async () => {
    const read = await files.make(keyOf('slow', 'a'), forever, writeBytes(600))
    const twice = await files.find(keyOf('slow', 'a'))
    await make('slow', 'b', 600)
    await files.sweep()
    assert.deepEqual(await namesIn('slow'), ['b'])
    const { handle } = await files.makeOnce('slow', forever, writeBytes(400))
    await assert.rejects(files.make(keyOf('slow', 'c'), forever, writeBytes(1)), (error) => {
      assert.ok(error instanceof ApiError)
      const { code, extensions } = error
      assert.deepEqual({ code, ...extensions }, { code: 'busy', limit: 1_000, limitName: 'exportsReadBytes' })
      return true
    })
    await make('other', 'c', 1)
    await read.handle.close()
    await assert.rejects(files.make(keyOf('slow', 'c'), forever, writeBytes(1)), /Read them to their end/)
    await twice?.handle.close()
    await files.sweep()
    await make('slow', 'c', 1)
    await handle.close()
  })

  test('that are being made count: older ones make room for them', async () => {
    await make('making', 'a', 600, 1_000)
    const isWritten = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    const made = files.makeOnce('making', forever, async (path) => {
      await writeFile(path, Buffer.alloc(500))
      isWritten.resolve()
      await mayEnd.promise
    })
    await isWritten.promise
    await files.sweep()
    assert.ok(!(await namesIn('making')).includes('a'))
    mayEnd.resolve()
    await (await made).handle.close()
  })
})
