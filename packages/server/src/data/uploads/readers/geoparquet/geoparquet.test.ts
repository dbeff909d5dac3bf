import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { writeParquet } from '../../../../../testing/uploads/parquet-writer.ts'
import { readLayer } from '../../../../../testing/uploads/read-back.ts'
import { ReadFault } from '../reader.ts'
import { openGeoParquet } from './geoparquet.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parquet-'))
})
after(() => rm(directory, { recursive: true }))

const open = (file: string) =>
  openGeoParquet(file, {
    fileName: 'layer.parquet',
    directory,
    signal: new AbortController().signal,
    allowNativeGdal: false,
  })

async function read(file: string) {
  const reader = await open(file)
  try {
    return await readLayer(reader, (await reader.layers())[0] ?? '')
  } finally {
    await reader.close()
  }
}

function wkbPoint(x: number, y: number): Buffer {
  const bytes = Buffer.alloc(21)
  bytes[0] = 1
  bytes.writeUInt32LE(1, 1)
  bytes.writeDoubleLE(x, 5)
  bytes.writeDoubleLE(y, 13)
  return bytes
}

const geoOf = (column: object) => ({ version: '1.0.0', primary_column: 'geometry', columns: { geometry: column } })

for (const codec of ['none', 'gzip', 'zstd'] as const) {
  test(`values of all types come out as they went in (${codec})`, async () => {
    const file = join(directory, `${codec}.parquet`)
    await writeParquet(
      file,
      [
        { path: ['geometry'], type: 'bytes', values: [wkbPoint(1, 2), null, wkbPoint(-3.5, 4.25)] },
        { path: ['id'], type: 'int64', values: [9007199254740993n, -1n, null] },
        { path: ['small'], type: 'int32', values: [1, -2, 3] },
        { path: ['name'], type: 'bytes', converted: 'text', values: ['東京 🗼', '', null] },
        { path: ['share'], type: 'double', values: [0.1, null, -1e300] },
        { path: ['open'], type: 'boolean', values: [true, false, null] },
        { path: ['day'], type: 'int32', converted: 'date', values: [19_782, -1, null] },
        { path: ['moment'], type: 'int64', converted: 'timestampMicros', values: [1_709_210_096_123_456n, 0n, null] },
        { path: ['extra'], type: 'bytes', converted: 'json', values: ['{"a":1}', '[]', null] },
        { path: ['raw'], type: 'bytes', values: [Buffer.from([0, 255]), Buffer.alloc(0), null] },
        { path: ['huge'], type: 'int64', converted: 'uint64', values: [18_446_744_073_709_551_615n, 1n, 2n] },
      ],
      { geo: geoOf({ encoding: 'WKB', crs: { id: { authority: 'EPSG', code: 28992 } } }), codec, groupRows: 2 },
    )
    const { scanned, rows } = await read(file)
    assert.equal(scanned.srid, 28992)
    assert.deepEqual(scanned.extent, [-3.5, 2, 1, 4.25])
    assert.deepEqual([...scanned.geometryTypes], ['Point'])
    assert.deepEqual(
      rows.map(({ geometry }) => geometry?.coordinates ?? null),
      [[1, 2], null, [-3.5, 4.25]],
    )
    assert.deepEqual(rows[0]?.properties, {
      id: 9007199254740993n,
      small: 1,
      name: '東京 🗼',
      share: 0.1,
      open: true,
      day: '2024-02-29',
      moment: '2024-02-29T12:34:56.123Z',
      extra: { a: 1 },
      raw: '00ff',
      huge: '18446744073709551615',
    })
    assert.deepEqual(Object.values(rows[2]?.properties ?? {}), [
      null,
      3,
      null,
      -1e300,
      null,
      null,
      null,
      null,
      null,
      '2',
    ])
  })
}

test('native points and a column of boxes are understood', async () => {
  const file = join(directory, 'native.parquet')
  const group = (name: string, member: string, values: unknown[]) => ({
    path: [name, member],
    type: 'double' as const,
    values,
  })
  await writeParquet(
    file,
    [
      group('geometry', 'x', [1, null, 3]),
      group('geometry', 'y', [4, null, 6]),
      group('bbox', 'xmin', [1, 2, 3]),
      { path: ['id'], type: 'int32', values: [1, 2, 3] },
    ],
    { geo: geoOf({ encoding: 'point', covering: { bbox: { xmin: ['bbox', 'xmin'] } } }) },
  )
  const { scanned, rows } = await read(file)
  assert.equal(scanned.srid, 4326)
  assert.deepEqual(
    scanned.fields.map(({ name }) => name),
    ['id'],
  )
  assert.deepEqual(
    rows.map(({ geometry }) => geometry?.coordinates ?? null),
    [[1, 4], null, [3, 6]],
  )
})

test('a file without geometry is a plain table', async () => {
  const file = join(directory, 'plain.parquet')
  await writeParquet(file, [{ path: ['id'], type: 'int32', values: [1, 2] }])
  const { scanned, rows } = await read(file)
  assert.equal(scanned.geometryTypes.size, 0)
  assert.deepEqual(
    rows.map(({ properties }) => properties.id),
    [1, 2],
  )
})

test('damaged files give faults and nothing else', async () => {
  const source = join(directory, 'source.parquet')
  const values = Array.from({ length: 50 }, (_, index) => wkbPoint(index, index))
  const names = values.map((_, index) => `name ${index}`)
  await writeParquet(
    source,
    [
      { path: ['geometry'], type: 'bytes', values },
      { path: ['name'], type: 'bytes', converted: 'text', values: names },
    ],
    { geo: geoOf({ encoding: 'WKB' }), codec: 'gzip', groupRows: 20 },
  )
  const bytes = await readFile(source)
  const file = join(directory, 'mutated.parquet')
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return seed % below
  }
  for (let round = 0; round < 400; round++) {
    const mutated = Buffer.from(round % 4 === 0 ? bytes.subarray(0, random(bytes.length)) : bytes)
    for (let change = 0; change <= round % 3 && mutated.length; change++) mutated[random(mutated.length)] = random(256)
    await writeFile(file, mutated)
    await read(file).catch((error) => assert.ok(error instanceof ReadFault, `round ${round}: ${error?.stack}`))
  }
})
