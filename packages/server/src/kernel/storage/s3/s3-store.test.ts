// One database is enough: there is none.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { s3Storage } from '../../../../testing/peers/s3-storage.ts'
import { createS3Store, type S3Store } from './s3-store.ts'

let storage: Awaited<ReturnType<typeof s3Storage>>
let store: S3Store
let folder: string
const partBytes = 8 * 1024 * 1024

const openStore = (rest: { timeoutMs?: number; maxBytes?: number; abandonedMs?: number } = {}): S3Store =>
  createS3Store({
    bucket: storage.bucket,
    prefix: storage.prefix,
    endpoint: storage.proxy.url,
    region: 'us-east-1',
    credentials: storage.credentials,
    forcePathStyle: true,
    timeoutMs: rest.timeoutMs ?? 20_000,
    cache: { directory: join(folder, 'cache'), maxBytes: rest.maxBytes ?? 1_000 },
    ...(rest.abandonedMs !== undefined && { abandonedMs: rest.abandonedMs }),
  })

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 's3-store-'))
  storage = await s3Storage()
  store = openStore()
})
afterEach(() => {
  Object.assign(storage.proxy, { mode: 'pass', only: /^/ })
})
after(async () => {
  await store.close()
  await storage.close()
  await rm(folder, { recursive: true })
})

async function localFile(bytes: string | Buffer): Promise<string> {
  const path = join(folder, randomBytes(8).toString('hex'))
  await writeFile(path, bytes)
  return path
}

const keysOf = async (prefix: string): Promise<string[]> =>
  (await Array.fromAsync(store.list(prefix))).map(({ key }) => key)

test('a stored file is found, listed, fetched, read in ranges and removed', async () => {
  const [one, other] = await Promise.all([localFile('hello world'), localFile('')])
  await store.put('files/a/one.pmtiles', one)
  await store.put('files/a/empty', other)
  await store.put('files/b/two', one)
  await store.put('files/b/deeper/three', one)
  assert.equal((await store.stat('files/a/one.pmtiles'))?.size, 11)
  assert.equal(await store.stat('files/a/none'), undefined)
  assert.deepEqual(await keysOf('files/'), ['files/a/empty', 'files/a/one.pmtiles', 'files/b/two'])
  assert.deepEqual(await keysOf('files/a/'), ['files/a/empty', 'files/a/one.pmtiles'])
  assert.equal(String(await store.read('files/a/one.pmtiles')), 'hello world')
  assert.equal(String(await store.read('files/a/empty')), '')
  const source = await store.open('files/a/one.pmtiles')
  assert.equal(String((await source.read(6, 3)).bytes), 'wor')
  assert.equal(String((await source.read(6, 300)).bytes), 'world')
  assert.equal((await source.read(600, 3)).bytes.length, 0)
  const path = join(folder, 'new', 'fetched')
  await store.fetch('files/b/two', path)
  assert.equal(await readFile(path, 'utf8'), 'hello world')
  await store.remove('files/a/one.pmtiles')
  await store.remove('files/a/one.pmtiles')
  await store.remove('files/b/')
  assert.deepEqual(await storage.keys(), ['files/a/empty'])
  const missing = () => [store.fetch('files/b/two', join(folder, 'x')), store.read('files/b/two'), source.read(0, 1)]
  await Promise.all(missing().map((call) => assert.rejects(call, { code: 'not_found' })))
})

test('a range is never mixed of two versions of a file', async () => {
  await storage.put('files/a/changing', 'first')
  const source = await store.open('files/a/changing')
  const first = await source.read(0, 2)
  assert.equal((await source.read(2, 3)).version, first.version)
  await storage.put('files/a/changing', 'other')
  const second = await source.read(2, 3)
  assert.equal(String(second.bytes), 'her')
  assert.notEqual(second.version, first.version)
  assert.equal((await source.read(0, 2)).version, second.version)
})

test('a large file is stored in parts, and whole', async () => {
  const bytes = randomBytes(2 * partBytes + 5)
  await store.put('files/a/large', await localFile(bytes))
  const copy = join(folder, 'large')
  await store.fetch('files/a/large', copy)
  assert.ok(bytes.equals(await readFile(copy)))
  assert.equal(await storage.unfinishedUploads(), 0)
})

test('a large file whose last request fails leaves no parts behind', async () => {
  const bytes = await localFile(Buffer.alloc(partBytes + 1))
  Object.assign(storage.proxy, { mode: 'busy', only: /^POST \S+uploadId=/ })
  await assert.rejects(store.put('files/a/never', bytes), { code: 'storage_unavailable' })
  assert.equal(await storage.unfinishedUploads(), 0)
  assert.equal(await store.stat('files/a/never'), undefined)
})

test('parts that even the abort could not remove go when the storage is tidied', async () => {
  await storage.beginUpload('files/a/abandoned')
  await store.tidy()
  assert.equal(await storage.unfinishedUploads(), 1, 'a young one may be another replica’s')
  await openStore({ abandonedMs: -60_000 }).tidy()
  assert.equal(await storage.unfinishedUploads(), 0)
})

test('a storage that fails is asked again, a bounded number of times, and refused with Retry-After', async () => {
  for (const mode of ['busy', 'down'] as const) {
    storage.proxy.mode = mode
    const before = storage.proxy.requests
    await assert.rejects(store.stat('files/a/empty'), {
      code: 'storage_unavailable',
      headers: { 'Retry-After': '5' },
    })
    assert.equal(storage.proxy.requests - before, 3)
  }
  storage.proxy.mode = 'pass'
  assert.equal((await store.stat('files/a/empty'))?.size, 0)
})

test('a storage that does not answer is given up after the time limit', async () => {
  const impatient = openStore({ timeoutMs: 300 })
  storage.proxy.mode = 'hang'
  const path = await localFile('x')
  const calls = () => [
    impatient.stat('files/a/empty'),
    impatient.read('files/a/empty'),
    impatient.fetch('files/a/empty', join(folder, 'y')),
    impatient.put('files/a/slow', path),
  ]
  await Promise.all(calls().map((call) => assert.rejects(call, { code: 'storage_unavailable' })))
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('y')),
    [],
  )
  await impatient.close()
})

test('no error of the storage holds a secret', async () => {
  storage.proxy.mode = 'busy'
  const error = await store.stat('files/a/empty').catch((reason) => reason)
  const { inspect } = await import('node:util')
  const text = inspect(error, { depth: 20, showHidden: true })
  assert.match(text, /503/)
  assert.ok(!text.includes(storage.credentials.secretAccessKey) && !/Signature=/.test(text), text)
})

test('a local copy is made once, shared, and the least recently used go when there are too many bytes', async () => {
  for (const name of ['a', 'b', 'c']) await storage.put(`files/copies/${name}`, name.repeat(400))
  const before = storage.proxy.requests
  const [one, same] = await Promise.all([store.localFile('files/copies/a'), store.localFile('files/copies/a')])
  assert.equal(one.path, same.path)
  assert.equal(storage.proxy.requests - before, 3, 'two questions and one download')
  const second = await store.localFile('files/copies/b')
  for (const [path, hours] of [
    [one.path, 2],
    [second.path, 1],
  ] as const)
    await utimes(path, new Date(Date.now() - hours * 3_600_000), new Date(Date.now() - hours * 3_600_000))
  assert.equal(await one.isReplaced(), false, 'marks it as used')
  await store.localFile('files/copies/c')
  assert.equal(await readFile(one.path, 'utf8'), 'a'.repeat(400))
  assert.equal(await second.isReplaced(), true)
  assert.equal((await readdir(join(folder, 'cache'))).length, 2)
  await storage.put('files/copies/a', 'new')
  assert.equal(await readFile((await store.localFile('files/copies/a')).path, 'utf8'), 'new')
})
