import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { assertSameRows, readByGdal } from '../../../../../testing/uploads/expected.ts'
import { sourceLayers } from '../../../../../testing/uploads/layer-data.ts'
import { type ReadLayer, readLayer } from '../../../../../testing/uploads/read-back.ts'
import { type SourceFormat, writeLayer } from '../../../../../testing/uploads/source-layers.ts'
import { type Reader, type ReaderOptions, ReadFault } from '../reader.ts'
import { openZip } from '../zip/open.ts'
import { type GdalFormat, openByGdal } from './gdal.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gdal-'))
})
after(() => rm(directory, { recursive: true }))

type Open = (file: string, options: ReaderOptions) => Promise<Reader>

/** Reads the first layer; then nothing may be left of what GDAL made. */
async function read(file: string, open: Open, allowNativeGdal: boolean, signal?: AbortSignal): Promise<ReadLayer> {
  const own = await mkdtemp(join(directory, 'own-'))
  const options = { fileName: 'a', directory: own, signal: signal ?? new AbortController().signal, allowNativeGdal }
  try {
    const reader = await open(file, options)
    try {
      return await readLayer(reader, (await reader.layers())[0] ?? '')
    } finally {
      await reader.close()
    }
  } finally {
    const left = await readdir(own)
    assert.deepEqual(
      left.filter((name) => name.startsWith('gdal')),
      [],
    )
    await rm(own, { recursive: true })
  }
}

const by =
  (format: GdalFormat): Open =>
  (file, options) =>
    openByGdal(file, format, options)
const zipped: Open = (file, options) => openZip(file, options, () => assert.fail('nothing else is in the archive'))

const cases: [SourceFormat, string, Open][] = [
  ['gml', 'holes', by('gml')],
  ['dxf', 'lines_3d', by('dxf')],
  ['filegdb', 'british', zipped],
  ['tab', 'non_ascii', zipped],
  ['mif', 'points', zipped],
]

/** Each is written once and read by both. */
const written = new Map<string, Promise<string>>()

function fileOf(format: SourceFormat, name: string): Promise<string> {
  const layer = sourceLayers.find((known) => known.name === name)
  assert.ok(layer)
  const file = written.get(format) ?? writeLayer(layer, format, join(directory, `made-${format}`))
  written.set(format, file)
  return file
}

for (const isNative of [false, true]) {
  describe(`${isNative ? 'native GDAL' : 'GDAL in WebAssembly'} reads what ogr2ogr reads`, () => {
    for (const [format, name, open] of cases) {
      test(`${name} in ${format}`, async () => {
        const file = await fileOf(format, name)
        const found = await read(file, open, isNative)
        const inside = { filegdb: `/${name}.gdb`, tab: `/${name}.tab`, mif: `/${name}.mif` }[format as string]
        assertSameRows(found, await readByGdal(inside ? `/vsizip/${file}${inside}` : file))
      })
    }
  })

  test(`a virtual dataset reaches nothing outside (${isNative ? 'native' : 'WebAssembly'})`, async () => {
    const secret = join(directory, 'secret.csv')
    await writeFile(secret, 'secret\n42\n')
    const file = join(directory, 'evil')
    await writeFile(
      file,
      `<OGRVRTDataSource><OGRVRTLayer name="secret"><SrcDataSource>${secret}</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>`,
    )
    for (const format of ['gml', 'dxf', 'mapinfo'] as const) {
      await assert.rejects(read(file, by(format), isNative), (error) => {
        assert.ok(error instanceof ReadFault, String(error))
        assert.ok(!error.message.includes(directory), error.message)
        return true
      })
    }
  })
}

test('a conversion that is cancelled ends at once', async () => {
  const file = join(directory, 'slow.gml')
  await writeFile(file, '<?xml version="1.0"?><FeatureCollection xmlns="http://www.opengis.net/gml"/>')
  const started = performance.now()
  // Whoever waits for the child process rejects with an error of Node's own.
  await assert.rejects(read(file, by('gml'), false, AbortSignal.timeout(50)), { name: /^(Timeout|Abort)Error$/ })
  assert.ok(performance.now() - started < 60_000)
})
