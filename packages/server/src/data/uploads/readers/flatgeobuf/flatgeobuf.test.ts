import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { mutate, randomOf } from '../../../../../testing/uploads/mutations.ts'
import { readLayer } from '../../../../../testing/uploads/read-back.ts'
import { gdal, layersFor, writeLayer } from '../../../../../testing/uploads/source-layers.ts'
import { ReadFault, type UploadErrorCode } from '../reader.ts'
import { openFlatGeobuf } from './flatgeobuf.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flatgeobuf-'))
})
after(() => rm(directory, { recursive: true }))

async function read(file: string) {
  const signal = new AbortController().signal
  const reader = await openFlatGeobuf(file, { fileName: 'a.fgb', directory, signal, allowNativeGdal: false })
  try {
    return await readLayer(reader, (await reader.layers())[0] ?? '')
  } finally {
    await reader.close()
  }
}

async function fileOf(name: string): Promise<string> {
  const layer = layersFor('flatgeobuf').find((known) => known.name === name)
  assert.ok(layer)
  return writeLayer(layer, 'flatgeobuf', await mkdtemp(join(directory, 'made-')))
}

function isFault(code: UploadErrorCode) {
  return (error: unknown) => {
    assert.ok(error instanceof ReadFault, String(error))
    assert.equal(error.code, code)
    return true
  }
}

test('a file cut anywhere is truncated or damaged', async () => {
  const file = await fileOf('points')
  const bytes = await readFile(file)
  for (const size of [9, 11, 40, 300, bytes.length - 2000, bytes.length - 3]) {
    await writeFile(file, bytes.subarray(0, size))
    await assert.rejects(read(file), isFault('truncated'))
  }
})

test('a file cut between two features is truncated, because it says how many it has', async () => {
  const file = await fileOf('points_3d')
  const bytes = await readFile(file)
  const last = bytes.length
  for (let at = last - 4; at > 0; at--) {
    if (bytes.readUInt32LE(at) !== last - at - 4) continue
    await writeFile(file, bytes.subarray(0, at))
    return assert.rejects(read(file), isFault('truncated'))
  }
  assert.fail('no feature was found')
})

test('a header or a feature that says to be huge takes no memory', async () => {
  const file = await fileOf('points')
  const bytes = await readFile(file)
  const header = Buffer.from(bytes)
  header.writeUInt32LE(0xfffffff0, 8)
  await writeFile(file, header)
  await assert.rejects(read(file), isFault('invalid_file'))
})

test('curves become lines', async () => {
  const csv = join(directory, 'curves.csv')
  await writeFile(
    csv,
    'id,WKT\n1,"CURVEPOLYGON (CIRCULARSTRING (0 0,1 1,2 0,1 -1,0 0))"\n2,"MULTISURFACE (((0 0,1 0,1 1,0 0)))"\n3,"COMPOUNDCURVE ((0 0,1 0),CIRCULARSTRING (1 0,2 1,3 0),(3 0,4 0))"\n',
  )
  const file = join(directory, 'curves.fgb')
  await gdal('ogr2ogr', ['-f', 'FlatGeobuf', '-lco', 'SPATIAL_INDEX=NO', file, csv])
  const { rows } = await read(file)
  assert.deepEqual(
    rows.map(({ geometry }) => geometry?.type),
    ['Polygon', 'MultiPolygon', 'LineString'],
  )
  const rings = rows[0]?.geometry?.coordinates as [number, number][][] | undefined
  const circle = rings?.[0] ?? []
  assert.ok(circle.length > 60)
  for (const [x, y] of circle) assert.ok(Math.abs(Math.hypot(x - 1, y) - 1) < 1e-9)
  const line = rows[2]?.geometry?.coordinates as [number, number][]
  assert.deepEqual(
    [line[0], line[1], line.at(-2), line.at(-1)],
    [
      [0, 0],
      [1, 0],
      [3, 0],
      [4, 0],
    ],
  )
})

test('mutated files give faults or rows, never anything else', async () => {
  const random = randomOf(5)
  for (const name of ['holes', 'mixed_geometries', 'dates', 'non_ascii', 'points']) {
    const file = await fileOf(name)
    const bytes = await readFile(file)
    for (let round = 0; round < 300; round++) {
      await writeFile(file, mutate(bytes, random))
      await read(file).catch((error) => assert.ok(error instanceof ReadFault, `${name} ${round}: ${error?.stack}`))
    }
  }
})
