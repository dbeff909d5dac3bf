import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { dbfOf } from '../../../../../testing/uploads/dbf-of.ts'
import { mutate, randomOf } from '../../../../../testing/uploads/mutations.ts'
import { type ReadLayer, readLayer } from '../../../../../testing/uploads/read-back.ts'
import { type TestZipEntry, zipOf } from '../../../../../testing/uploads/zip-of.ts'
import { openReader } from '../open-reader.ts'
import { type EncodedColumn, type LoadResult, type Reader, ReadFault, type ScannedLayer } from '../reader.ts'
import { openShapefiles } from './shapefile.ts'

const { signal } = new AbortController()
let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'zipped-'))
})
after(() => rm(directory, { recursive: true }))

const rowCount = 20_000
const random = randomOf(5)
/** They do not compress well, so that much of an entry is still to come when the first rows are made. */
const rowsOfTable = Array.from({ length: rowCount }, (_, row) => ({
  row,
  word: random(2 ** 23)
    .toString(36)
    .repeat(4),
}))

const recordSize = 28

/** Points, and the index of those that are named. */
function shpOf(count: number): Buffer {
  const bytes = Buffer.alloc(100 + count * recordSize)
  writeHeader(bytes)
  for (let record = 0; record < count; record++) {
    const at = 100 + record * recordSize
    bytes.writeInt32BE(record + 1, at)
    bytes.writeInt32BE(10, at + 4)
    bytes.writeInt32LE(1, at + 8)
    bytes.writeDoubleLE(random(360_000) / 1000 - 180, at + 12)
    bytes.writeDoubleLE(random(180_000) / 1000 - 90, at + 20)
  }
  return bytes
}

function shxOf(records: readonly number[]): Buffer {
  const bytes = Buffer.alloc(100 + records.length * 8)
  writeHeader(bytes)
  for (const [index, record] of records.entries()) {
    bytes.writeInt32BE((100 + record * recordSize) / 2, 100 + index * 8)
    bytes.writeInt32BE(10, 104 + index * 8)
  }
  return bytes
}

function writeHeader(bytes: Buffer): void {
  bytes.writeInt32BE(9994, 0)
  bytes.writeInt32BE(bytes.length / 2, 24)
  bytes.writeInt32LE(1000, 28)
  bytes.writeInt32LE(1, 32)
}

const every = Array.from({ length: rowCount }, (_, record) => record)
const [shp, shx, dbf] = [shpOf(rowCount), shxOf(every), dbfOf(rowsOfTable)]

type Parts = { shp?: Partial<TestZipEntry>; shx?: Partial<TestZipEntry>; dbf?: Partial<TestZipEntry> }

async function openZipped(change: Parts = {}, method = 8): Promise<Reader> {
  const entries: TestZipEntry[] = [
    { name: 'Areas.SHP', content: shp, method, ...change.shp },
    { name: 'areas.shx', content: shx, method, ...change.shx },
    { name: 'areas.dbf', content: dbf, method, ...change.dbf },
    { name: 'readme.txt', content: Buffer.from('hello') },
  ]
  return openArchive(zipOf(entries))
}

let unpacked = ''

async function openArchive(archive: Buffer): Promise<Reader> {
  const file = join(directory, 'archive.zip')
  unpacked = await mkdtemp(join(directory, 'unpacked-'))
  await writeFile(file, archive)
  return openReader(file, { fileName: 'archive.zip', directory: unpacked, signal, allowNativeGdal: false })
}

async function readFiles(change: Parts = {}): Promise<ReadLayer> {
  const own = await mkdtemp(join(directory, 'files-'))
  const paths = { shp: join(own, 'a.shp'), shx: join(own, 'a.shx'), dbf: join(own, 'a.dbf') }
  await writeFile(paths.shp, change.shp?.content ?? shp)
  await writeFile(paths.shx, change.shx?.content ?? shx)
  await writeFile(paths.dbf, change.dbf?.content ?? dbf)
  return readLayer(await openShapefiles([{ name: 'Areas', ...paths }]), 'Areas')
}

const columnsFor = ({ fields }: ScannedLayer): EncodedColumn[] => [
  { kind: 'fid' },
  ...fields.map(({ type }, field): EncodedColumn => ({ kind: 'field', field, type })),
  { kind: 'geometry', srid: 4326, hasZ: false, isMulti: false },
]

/** Loads by a guess, and answers how much came before the end or a fault. */
async function load(reader: Reader): Promise<{ bytes: number; loaded?: LoadResult; fault?: unknown }> {
  const [layer = ''] = await reader.layers()
  let bytes = 0
  try {
    const guess = await reader.guess?.(layer, { signal })
    assert.ok(guess && reader.load)
    const rows = reader.load(layer, columnsFor(guess), { signal })
    let step = await rows.next()
    for (; !step.done; step = await rows.next()) bytes += step.value.length
    return { bytes, loaded: step.value }
  } catch (fault) {
    return { bytes, fault }
  }
}

function assertDamaged(fault: unknown): void {
  assert.ok(fault instanceof ReadFault, String(fault))
  assert.equal(fault.code, 'invalid_zip', fault.message)
}

test('a Shapefile is read out of its archive, packed or stored, as if it lay there unpacked', async () => {
  const expected = await readFiles()
  assert.equal(expected.rows.length, rowCount)
  for (const method of [8, 0]) {
    const found = await readLayer(await openZipped({}, method), 'Areas')
    assert.deepEqual(found.rows, expected.rows)
    assert.deepEqual(found.scanned, expected.scanned)
    assert.equal((await readdir(unpacked)).length, 2, 'only what is small is unpacked')
    const { loaded } = await load(await openZipped({}, method))
    assert.deepEqual(loaded, { layer: expected.scanned, isAsGuessed: true })
  }
})

test('a table that has more rows than there are shapes, or fewer, is read the same out of an archive', async () => {
  for (const rows of [rowsOfTable.slice(0, 100), [...rowsOfTable, ...rowsOfTable]]) {
    const change = { dbf: { content: dbfOf(rows) } }
    const expected = await readFiles(change)
    const { loaded } = await load(await openZipped(change))
    assert.deepEqual(loaded?.layer, expected.scanned)
    assert.deepEqual((await readLayer(await openZipped(change), 'Areas')).rows, expected.rows)
  }
})

test('an index that passes over shapes leads through an archive too', async () => {
  const records = every.filter((record) => record % 1000 === 3)
  const change = { shx: { content: shxOf(records) } }
  const { rows } = await readLayer(await openZipped(change), 'Areas')
  assert.equal(rows.length, records.length)
  assert.deepEqual(rows, (await readFiles(change)).rows)
})

test('a surprise in the last row is noticed, and all is read again', async () => {
  const late = [...rowsOfTable.slice(0, -1), { row: 5_000_000_000, word: 'x' }]
  const reader = await openZipped({ dbf: { content: dbfOf(late) } })
  const { loaded } = await load(reader)
  assert.equal(loaded?.isAsGuessed, false)
  assert.deepEqual(
    loaded?.layer.fields.map(({ type }) => type),
    ['bigint', 'text'],
  )
  const rows: Buffer[] = []
  for await (const chunk of reader.encode('Areas', columnsFor(loaded.layer), { signal })) rows.push(Buffer.from(chunk))
  const again = await openZipped({ dbf: { content: dbfOf(late) } })
  await again.scan('Areas', { signal })
  const expected: Buffer[] = []
  for await (const chunk of again.encode('Areas', columnsFor(loaded.layer), { signal }))
    expected.push(Buffer.from(chunk))
  assert.ok(Buffer.concat(rows).equals(Buffer.concat(expected)))
})

test('a .dbf that is damaged far behind its beginning fails after rows were made', async () => {
  const { bytes, fault } = await load(
    await openZipped({ dbf: { damageAt: Math.floor(deflateRawSync(dbf).length * 0.8) } }),
  )
  assertDamaged(fault)
  assert.ok(bytes > 0, 'the damage lies behind the first rows')
})

const damages: Record<string, Parts> = {
  'whose .shp has a wrong checksum': { shp: { crc: 1 } },
  'whose .dbf has a wrong checksum': { dbf: { crc: 1 } },
  'whose .shx has a wrong checksum': { shx: { crc: 1 } },
  'whose .dbf is larger than it says': { dbf: { size: dbf.length - 1000 } },
  'whose .dbf is smaller than it says': { dbf: { size: dbf.length + 1000 } },
  'whose .shp is larger than it says': { shp: { content: Buffer.concat([shp, shp]), size: shp.length } },
  'whose .shp is smaller than it says': { shp: { size: shp.length + 1000 } },
  'whose .shp is damaged where a record says how long it is': {
    shp: { method: 0, damageAt: 100 + 999 * recordSize + 4 },
  },
  'whose .shp is damaged in its header': { shp: { method: 0, damageAt: 0 } },
  'whose .dbf is damaged in its header': { dbf: { method: 0, damageAt: 8 } },
  'whose .shp is an archive itself': { shp: { content: zipOf([{ name: 'a.shp' }]) } },
}

for (const [what, change] of Object.entries(damages)) {
  test(`an archive ${what} is damaged, however it is read`, async () => {
    const { loaded, fault } = await openZipped(change).then(load, (error) => ({ loaded: undefined, fault: error }))
    assert.equal(loaded, undefined)
    assertDamaged(fault)
    const scan = async () => (await openZipped(change)).scan('Areas', { signal })
    await assert.rejects(scan, (error) => {
      assertDamaged(error)
      return true
    })
  })
}

test('no more is unpacked of an entry than it says that there is', async () => {
  const { fault } = await load(await openZipped({ dbf: { content: Buffer.alloc(100_000_000), size: 1000 } }))
  assert.match(String(fault), /larger than the archive says/)
})

test('behind the rows that are wanted an archive is looked at too', async () => {
  const rows = dbfOf([...rowsOfTable, ...rowsOfTable])
  const { fault } = await load(await openZipped({ dbf: { content: rows, method: 0, damageAt: rows.length - 100 } }))
  assertDamaged(fault)
})

test('mutated archives give faults or rows, and no file stays open', async () => {
  const few = every.slice(0, 200)
  const entries = [
    { name: 'a.shp', content: shp.subarray(0, 100 + 200 * recordSize) },
    { name: 'a.shx', content: shxOf(few) },
    { name: 'a.dbf', content: dbfOf(rowsOfTable.slice(0, 200)) },
  ]
  entries[0]?.content.writeInt32BE((100 + 200 * recordSize) / 2, 24)
  const before = (await readdir('/proc/self/fd')).length
  for (let round = 0; round < 300; round++) {
    const archive = mutate(zipOf(entries.map((entry) => ({ ...entry, method: random(2) * 8 }))), random)
    const read = async () => {
      const reader = await openArchive(archive)
      for (const layer of await reader.layers()) await readLayer(reader, layer)
    }
    await read().catch((error) => assert.ok(error instanceof ReadFault, `round ${round}: ${error?.stack}`))
  }
  assert.ok((await readdir('/proc/self/fd')).length <= before + 2)
})
