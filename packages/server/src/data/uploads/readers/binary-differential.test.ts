import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { assertSameRows, readByGdal } from '../../../../testing/uploads/expected.ts'
import { type ReadLayer, readLayer } from '../../../../testing/uploads/read-back.ts'
import {
  formats,
  layersFor,
  type SourceFormat,
  writeApart,
  writeLayers,
} from '../../../../testing/uploads/source-layers.ts'
import { openReader } from './open-reader.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'differential-'))
})
after(() => rm(directory, { recursive: true }))

async function read(file: string, fileName: string): Promise<ReadLayer[]> {
  const own = await mkdtemp(join(directory, 'own-'))
  try {
    const signal = new AbortController().signal
    const reader = await openReader(file, { fileName, directory: own, signal, allowNativeGdal: false })
    const layers: ReadLayer[] = []
    for (const layer of await reader.layers()) layers.push(await readLayer(reader, layer))
    await reader.close()
    return layers
  } finally {
    await rm(own, { recursive: true })
  }
}

const srids: Partial<Record<SourceFormat, boolean>> = { geopackage: true, flatgeobuf: true }

for (const format of ['shapefile', 'geopackage', 'flatgeobuf'] as const) {
  describe(`${format}: rows are what GDAL reads from the same file`, () => {
    const layers = layersFor(format)
    let files: string[] = []
    before(async () => {
      files = await writeApart(layers, format, join(directory, format))
    })
    for (const [index, layer] of layers.entries()) {
      test(layer.name, async () => {
        const file = files[index] ?? ''
        const [found, ...others] = await read(file, `${layer.name}.${formats[format].extension}`)
        assert.ok(found)
        assert.equal(others.length, 0)
        assert.equal(found.scanned.name, layer.name)
        assert.equal(found.rows.length, layer.features.length)
        assert.equal(found.scanned.featureCount, layer.features.length)
        if (layer.name !== 'plain_table') {
          if (srids[format]) assert.equal(found.scanned.srid, layer.srid)
          else assert.match(found.scanned.wkt ?? '', /^(GEOG|PROJ)CS\[/)
        }
        assertSameRows(found, await readByGdal(format === 'shapefile' ? `/vsizip/${file}` : file))
      })
    }
  })
}

for (const format of ['shapefile', 'geopackage'] as const) {
  test(`${format}: several layers in one file are several layers`, async () => {
    const layers = layersFor(format).filter(({ name }) => ['points', 'holes', 'british', 'plain_table'].includes(name))
    const file = await writeLayers(layers, format, directory, `several-${format}`)
    const found = await read(file, 'several')
    const counts = Object.fromEntries(found.map(({ scanned, rows }) => [scanned.name, rows.length]))
    assert.deepEqual(counts, Object.fromEntries(layers.map(({ name, features }) => [name, features.length])))
  })
}
