import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import {
  noFetch,
  pmtilesOf,
  pyramid,
  serve,
  temporaryDirectory,
  writeMbtiles,
} from '../../../../testing/tile-archives.ts'
import { until } from '../../../../testing/until.ts'
import { createEgress } from '../../../kernel/egress/guard.ts'
import { createDirectoryStore } from '../../../kernel/storage/directory-store.ts'
import { createArchives } from './archives.ts'
import { openMbtiles } from './mbtiles.ts'
import { createMbtilesProcesses } from './mbtiles-processes.ts'

const content = (text: string) => pyramid(2, (z, x, y) => `${text} ${z}/${x}/${y}`)

async function setUp(t: TestContext, options: { max?: number } = {}) {
  const directory = await temporaryDirectory(t)
  for (const application of ['a', 'b']) await mkdir(join(directory, application))
  const archives = createArchives({
    filesOf: (id) => createDirectoryStore(join(directory, id)),
    fetch: noFetch,
    ...options,
  })
  t.after(() => archives.close())
  return { directory, archives }
}

/** The archives below a directory that this process holds open. */
async function openFiles(directory: string): Promise<string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
  return (await Promise.all(links)).filter((path) => path.startsWith(directory))
}

test('each application reads its own files', async (t) => {
  const { directory, archives } = await setUp(t)
  for (const id of ['a', 'b']) {
    await writeFile(join(directory, id, 'x.pmtiles'), pmtilesOf(content(id)))
    writeMbtiles(join(directory, id, 'x.mbtiles'), content(id))
  }
  for (const id of ['a', 'b']) {
    for (const uri of ['pmtiles://x.pmtiles', 'mbtiles://x.mbtiles']) {
      const archive = archives.of(id, uri)
      assert.deepEqual((await archive.tile(0, 0, 0))?.bytes, content(id)[0]?.bytes)
    }
  }
})

test('an archive is opened once, however many ask at the same time', async (t) => {
  const whole = pmtilesOf(content('a'))
  let opened = 0
  const { url, fetch } = await serve(t, createEgress({ allow: '', mayReachLoopback: true }), (request, response) => {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    if (from === '0') opened++
    const part = whole.subarray(Number(from), Number(to) + 1)
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${whole.length}`
    response.writeHead(206, { 'content-range': range }).end(part)
  })
  const archives = createArchives({ filesOf: () => createDirectoryStore('/nowhere'), fetch })
  t.after(() => archives.close())
  await Promise.all(Array.from({ length: 50 }, () => archives.of('a', `pmtiles://${url}/x.pmtiles`).tile(0, 0, 0)))
  assert.equal(opened, 1)
})

test('those used least recently are closed, and opened again when they are asked', async (t) => {
  const { directory, archives } = await setUp(t, { max: 2 })
  const names = ['1', '2', '3', '4']
  for (const name of names) await writeFile(join(directory, 'a', `${name}.pmtiles`), pmtilesOf(content(name)))
  const opened = names.map((name) => archives.of('a', `pmtiles://${name}.pmtiles`))
  await Promise.all(opened.map((archive) => archive.info()))
  await until(async () => (await openFiles(directory)).length === 2)
  for (let round = 0; round < 5; round++) {
    const found = await Promise.all(opened.flatMap((archive) => [archive.tile(1, 1, 1), archive.tile(0, 0, 0)]))
    assert.deepEqual(
      found.map((tile) => tile?.bytes),
      names.flatMap((name) => [content(name).at(-1)?.bytes, content(name)[0]?.bytes]),
    )
  }
  await until(async () => (await openFiles(directory)).length === 2)
  await archives.close()
  assert.deepEqual(await openFiles(directory), [])
})

test('a file that was replaced, rewritten or removed is noticed', async (t) => {
  const { directory, archives } = await setUp(t)
  for (const kind of ['pmtiles', 'mbtiles']) {
    const path = join(directory, 'a', `x.${kind}`)
    const write = async (text: string) => {
      if (kind === 'pmtiles') await writeFile(`${path}.new`, pmtilesOf(content(text)))
      else writeMbtiles(`${path}.new`, content(text))
      await rename(`${path}.new`, path)
    }
    await write('old')
    const archive = archives.of('a', `${kind}://x.${kind}`)
    const first = (await archive.tile(0, 0, 0))?.bytes
    assert.deepEqual(first, content('old')[0]?.bytes)
    const { version } = await archive.info()
    await write('new')
    await until(
      async () => content('new')[0]?.bytes.equals((await archive.tile(0, 0, 0))?.bytes ?? Buffer.alloc(0)) ?? false,
    )
    assert.notEqual((await archive.info()).version, version)
    await rm(path)
    await until(() =>
      archive.tile(0, 0, 0).then(
        () => false,
        (error) => error.code === 'not_found',
      ),
    )
    await write('back')
    assert.deepEqual((await archive.tile(0, 0, 0))?.bytes, content('back')[0]?.bytes)
  }
})

test('no more processes rest awake than there may be', async (t) => {
  const directory = await temporaryDirectory(t)
  writeMbtiles(join(directory, 'x.mbtiles'), content('x'))
  const processes = createMbtilesProcesses(2)
  t.after(() => processes.close())
  const running = async () =>
    (await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')).split(' ').filter(Boolean).length
  const before = await running()
  for (const id of ['a', 'b', 'c', 'd', 'a']) {
    const reader = { process: processes.of(id), ownsProcess: false }
    assert.ok(await (await openMbtiles(createDirectoryStore(directory), 'x.mbtiles', reader)).tile(0, 0, 0))
  }
  await until(async () => (await running()) === before + 2)
})
