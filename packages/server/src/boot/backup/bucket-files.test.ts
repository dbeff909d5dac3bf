import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { s3Storage } from '../../../testing/peers/s3-storage.ts'
import { loadConfig } from '../../kernel/settings/config.ts'
import { openBucket } from '../../kernel/storage/open-file-store.ts'
import type { S3Store } from '../../kernel/storage/s3/s3-store.ts'
import { openBucketFiles } from './bucket-files.ts'
import type { DataFiles } from './data-files.ts'

// One database is enough: this is about files.

let storage: Awaited<ReturnType<typeof s3Storage>>
let bucket: S3Store
let scratch: string
let files: DataFiles
before(async () => {
  storage = await s3Storage()
  scratch = await mkdtemp(join(tmpdir(), 'graticule-bucket-'))
  bucket = (await openBucket(loadConfig({ ...storage.settings, DATA_DIR: scratch }))) as S3Store
  files = openBucketFiles(bucket, join(scratch, 'cache'))
})
after(async () => {
  await bucket.close()
  await storage.close()
  await rm(scratch, { recursive: true, force: true })
})

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

async function listed(leaveOut: (path: string) => void = () => {}): Promise<object[]> {
  return Array.fromAsync(files.list(leaveOut))
}

test('files go into a bucket and come out of it, and nothing is left on this machine', async () => {
  await files.write('files/an-application/world.pmtiles', pieces('one', 'two'))
  await files.write('fonts/Own/deep/0-255.pbf', pieces('glyphs'))
  await files.write('uploads/an-upload/source', pieces('waits'))
  await storage.put('cache/other', 'no file of an installation')
  await storage.put('files/an-application/bad\\name', 'x')
  const left: string[] = []
  assert.deepEqual(await listed((path) => left.push(path)), [
    { path: 'files/an-application/world.pmtiles', bytes: 6 },
    { path: 'fonts/Own/deep/0-255.pbf', bytes: 6 },
  ])
  assert.deepEqual(left, ['files/an-application/bad\\name'])
  const read = async (path: string) => `${await buffer((await files.read(path)) ?? pieces())}`
  assert.equal(await read('files/an-application/world.pmtiles'), 'onetwo')
  assert.equal(await read('uploads/an-upload/source'), 'waits')
  assert.equal(await files.read('files/an-application/absent'), undefined)
  await assert.rejects(files.write('files/../secret.key', pieces('x')), /outside of DATA_DIR/)
  assert.deepEqual(await readdir(join(scratch, 'cache')), [])
})

test('a bucket that is not empty is refused, unless a restore into it was interrupted', async () => {
  await storage.put('uploads/an-upload/source', 'waits')
  await assert.rejects(files.prepare(false), /The bucket has a file .*restore replaces nothing/)
  await files.prepare(true)
  assert.deepEqual(await storage.keys(), ['cache/other'])
  await files.prepare(false)
})
