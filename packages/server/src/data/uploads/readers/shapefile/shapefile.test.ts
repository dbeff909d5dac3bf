import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sourceLayers } from '../../../../../testing/uploads/layer-data.ts'
import { mutate, randomOf } from '../../../../../testing/uploads/mutations.ts'
import { type ReadLayer, readLayer } from '../../../../../testing/uploads/read-back.ts'
import { writeLayer } from '../../../../../testing/uploads/source-layers.ts'
import { ReadFault, type UploadErrorCode } from '../reader.ts'
import { unzip } from '../zip/zip.ts'
import type { ShapefileParts } from './records.ts'
import { openShapefile, openShapefiles } from './shapefile.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'shapefile-'))
})
after(() => rm(directory, { recursive: true }))

type FilesOnDisk = { [part in keyof Required<ShapefileParts>]: string }

/** The files of a layer that GDAL wrote, to be spoilt. */
async function partsOf(name: string): Promise<FilesOnDisk> {
  const own = await mkdtemp(join(directory, `${name}-`))
  const layer = sourceLayers.find((known) => known.name === name)
  assert.ok(layer)
  const unpacked = join(own, 'unpacked')
  await mkdir(unpacked)
  const parts: Record<string, string> = { name }
  for (const file of await unzip(await writeLayer(layer, 'shapefile', own), unpacked))
    parts[file.name.split('.').at(-1) ?? ''] = file.path
  return parts as FilesOnDisk
}

async function read(parts: ShapefileParts): Promise<ReadLayer> {
  return readLayer(await openShapefiles([parts]), parts.name)
}

const codes = ({ scanned }: ReadLayer) => scanned.warnings.map(({ code }) => code)

function isFault(code: UploadErrorCode) {
  return (error: unknown) => {
    assert.ok(error instanceof ReadFault, String(error))
    assert.equal(error.code, code)
    return true
  }
}

test('without .dbf the shapes come without attributes', async () => {
  const { dbf: _, ...parts } = await partsOf('points')
  const found = await read(parts)
  assert.deepEqual(codes(found), ['missing_dbf'])
  assert.equal(found.rows.length, 50)
  assert.deepEqual(found.scanned.fields, [])
})

test('without .prj the reference system is not known', async () => {
  const { prj: _, ...parts } = await partsOf('british')
  const found = await read(parts)
  assert.deepEqual(codes(found), ['missing_prj'])
  assert.equal(found.scanned.wkt, undefined)
  assert.ok((found.scanned.extent?.[0] ?? 0) > 180)
})

test('without .shx, or with a wrong one, the shapes are read in their order', async () => {
  const parts = await partsOf('holes')
  const expected = await read(parts)
  const { shx, ...rest } = parts
  const without = await read(rest)
  assert.deepEqual(without.rows, expected.rows)
  assert.deepEqual(codes(without), ['missing_shx'])
  await writeFile(shx, Buffer.alloc(116, 255))
  const wrong = await read(parts)
  assert.deepEqual(wrong.rows, expected.rows)
  assert.deepEqual(codes(wrong), ['shx_ignored'])
})

test('a bare .shp file is read', async () => {
  const { shp } = await partsOf('lines_3d')
  const signal = new AbortController().signal
  const reader = await openShapefile(shp, { fileName: 'my lines.shp', directory, signal, allowNativeGdal: false })
  assert.deepEqual(await reader.layers(), ['my lines'])
  const { scanned, rows } = await readLayer(reader, 'my lines')
  assert.equal(rows.length, 2)
  assert.equal(scanned.hasZ, true)
})

test('a short .dbf gives rows without attributes, a truncated .shp a fault', async () => {
  const parts = await partsOf('points')
  await truncate(parts.dbf, 600)
  const found = await read(parts)
  assert.equal(found.rows.length, 50)
  assert.ok(codes(found).includes('short_dbf') && codes(found).includes('missing_rows'))
  await truncate(parts.shp, 700)
  await assert.rejects(read(parts), isFault('truncated'))
  await writeFile(parts.shp, 'no shapefile'.repeat(20))
  await assert.rejects(read(parts), isFault('wrong_format'))
})

test('a .shp file whose header gives a wrong length is read to its last record, with a warning', async () => {
  const parts = await partsOf('points')
  const expected = await read(parts)
  const { shx: _, ...unindexed } = parts
  const good = await readFile(parts.shp)
  for (const words of [good.length / 2 + 40, good.length / 2 - 28, 0, 0x7fffffff]) {
    good.writeInt32BE(words, 24)
    await writeFile(parts.shp, good)
    const found = await read(parts)
    assert.deepEqual(found.rows, expected.rows)
    assert.deepEqual(codes(found), ['shp_length'])
    assert.deepEqual((await read(unindexed)).rows, expected.rows)
  }
})

test('a .shp file that ends between two records is truncated, not short', async () => {
  const parts = await partsOf('points')
  const { shx: _, ...unindexed } = parts
  await truncate(parts.shp, 100 + 28 * 20)
  await assert.rejects(read(parts), isFault('truncated'))
  await assert.rejects(read(unindexed), isFault('truncated'))
})

test('rows of the .dbf without a shape are left out, with a warning', async () => {
  const { shx: _, ...parts } = await partsOf('points')
  const bytes = (await readFile(parts.shp)).subarray(0, 100 + 28 * 20)
  bytes.writeInt32BE(bytes.length / 2, 24)
  await writeFile(parts.shp, bytes)
  const found = await read(parts)
  assert.equal(found.rows.length, 20)
  assert.deepEqual(
    found.scanned.warnings.map(({ code, count }) => [code, count]).filter(([code]) => code === 'extra_rows'),
    [['extra_rows', 30]],
  )
})

test('deleted records are passed over', async () => {
  const parts = await partsOf('points')
  const bytes = await readFile(parts.dbf)
  bytes[bytes.readUInt16LE(8)] = 0x2a
  bytes[bytes.readUInt16LE(8) + 3 * bytes.readUInt16LE(10)] = 0x2a
  await writeFile(parts.dbf, bytes)
  const { rows, scanned } = await read(parts)
  assert.equal(rows.length, 48)
  assert.equal(scanned.featureCount, 48)
  assert.deepEqual(
    rows.slice(0, 3).map(({ properties }) => properties.id),
    [1, 2, 4],
  )
})

const codePages: [string | undefined, number, Buffer, string][] = [
  ['UTF-8', 0, Buffer.from('Zürich'), 'Zürich'],
  ['1252', 0, Buffer.from('Z\xfcrich', 'latin1'), 'Zürich'],
  ['ANSI 1251', 0, Buffer.from([0xcc, 0xee, 0xf1]), 'Мос'],
  ['ISO 8859-2', 0, Buffer.from([0xb1, 0xbf]), 'ąż'],
  ['OEM 437', 0, Buffer.from([0x5a, 0x81]), 'Zü'],
  ['932', 0, Buffer.from([0x93, 0x8c, 0x8b, 0x9e]), '東京'],
  [undefined, 0x02, Buffer.from([0x9b, 0x41]), 'øA'],
  [undefined, 0x65, Buffer.from([0x8c, 0xae]), 'Мо'],
  [undefined, 0, Buffer.from('Zürich'), 'Zürich'],
  [undefined, 0, Buffer.from('Z\xfcrich', 'latin1'), 'Zürich'],
]

/** A table of one column of text and one row. */
function tableOf(value: Buffer, languageDriver: number): Buffer {
  const header = Buffer.alloc(65)
  header[0] = 3
  header.writeUInt32LE(1, 4)
  header.writeUInt16LE(65, 8)
  header.writeUInt16LE(21, 10)
  header[29] = languageDriver
  header.write('text', 32)
  header.write('C', 43)
  header[48] = 20
  header[64] = 0x0d
  return Buffer.concat([header, Buffer.from(' '), value, Buffer.alloc(20 - value.length, ' ')])
}

for (const [cpg, driver, bytes, expected] of codePages) {
  test(`text in ${cpg ?? `the encoding of language driver ${driver}`} (${bytes.toString('hex')}) is understood`, async () => {
    const own = await mkdtemp(join(directory, 'page-'))
    await writeFile(join(own, 'a.dbf'), tableOf(bytes, driver))
    if (cpg !== undefined) await writeFile(join(own, 'a.cpg'), `${cpg}\r\n`)
    const parts = { name: 'a', dbf: join(own, 'a.dbf'), ...(cpg === undefined ? {} : { cpg: join(own, 'a.cpg') }) }
    assert.deepEqual((await read(parts)).rows[0]?.properties, { text: expected })
  })
}

test('hostile numbers in a record give faults', async () => {
  const parts = await partsOf('holes')
  const good = await readFile(parts.shp)
  // The first record's content begins at 108: parts at 36, points at 40.
  const spoilt = async (offset: number, value: number) => {
    const bytes = Buffer.from(good)
    bytes.writeUInt32LE(value, 108 + offset)
    await writeFile(parts.shp, bytes)
    return read(parts)
  }
  for (const offset of [36, 40, 44]) {
    for (const value of [0xffffffff, 0x7fffffff, 100_000])
      await assert.rejects(spoilt(offset, value), isFault('invalid_file'))
  }
  await assert.rejects(spoilt(0, 99), isFault('invalid_file'))
})

test('mutated files give faults or rows, never anything else', async () => {
  const random = randomOf(11)
  for (const name of ['holes', 'lines_3d', 'mixed_types', 'multipoints']) {
    const parts = await partsOf(name)
    const originals = { shp: await readFile(parts.shp), dbf: await readFile(parts.dbf), shx: await readFile(parts.shx) }
    for (let round = 0; round < 250; round++) {
      for (const [part, bytes] of Object.entries(originals))
        await writeFile(parts[part as 'shp'], random(2) ? mutate(bytes, random) : bytes)
      await read(parts).catch((error) => assert.ok(error instanceof ReadFault, `${name} ${round}: ${error?.stack}`))
    }
  }
})

test('no file stays open', async () => {
  const before = (await readdir('/proc/self/fd')).length
  const parts = await partsOf('points')
  for (let round = 0; round < 20; round++) await read(parts)
  await truncate(parts.shp, 300)
  for (let round = 0; round < 20; round++) await read(parts).catch(() => {})
  assert.ok((await readdir('/proc/self/fd')).length <= before + 2)
})
