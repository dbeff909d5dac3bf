import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { VectorTile, type VectorTileFeature } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { PMTiles } from 'pmtiles'
import { inParallel } from '../../../../testing/in-parallel.ts'

type Place = { z: number; x: number; y: number; bytes: Uint8Array }

const maxZoom = 6
const tiles: Place[] = []
let file: FileHandle
let directory = ''

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'basemap-'))
  file = await open(new URL('../../../../../assets/basemap.pmtiles', import.meta.url))
  const archive = new PMTiles({
    getKey: () => 'basemap',
    async getBytes(offset, length) {
      const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, offset)
      return { data: buffer.buffer.slice(0, bytesRead) as ArrayBuffer }
    },
  })
  for (let z = 0; z <= maxZoom; z++) {
    for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) {
        const tile = await archive.getZxy(z, x, y)
        if (tile) tiles.push({ z, x, y, bytes: new Uint8Array(tile.data) })
      }
    }
  }
})
after(async () => {
  await file.close()
  await rm(directory, { recursive: true, force: true })
})

test('every geometry of the base map is one that MVT 2.1 allows', () => {
  const faults: Record<string, number> = {}
  for (const { bytes } of tiles) {
    for (const layer of Object.values(new VectorTile(new PbfReader(bytes)).layers)) {
      for (let index = 0; index < layer.length; index++) {
        for (const fault of faultsOf(layer.feature(index))) faults[fault] = (faults[fault] ?? 0) + 1
      }
    }
  }
  assert.ok(tiles.length > 3000)
  assert.deepEqual(faults, {})
})

/** One of so many tiles is shown to GDAL, in a process of its own; the test above looks at them all. */
const sampleStep = process.env.TEST_RANDOM ? 16 : 64

test('GDAL reads every feature of every layer of a sample of the tiles without a complaint', async () => {
  const low = tiles.filter(({ z }) => z < 3)
  const high = tiles.filter(({ z }, index) => z >= 3 && index % sampleStep === 0)
  await inParallel([...low, ...high], readByGdal, 2)
})

function faultsOf(feature: VectorTileFeature): string[] {
  const parts = feature.loadGeometry()
  if (parts.length === 0) return ['no geometry']
  if (feature.type === 2)
    return parts.flatMap((line) => (new Set(line.map(({ x, y }) => `${x} ${y}`)).size < 2 ? 'no length' : []))
  if (feature.type !== 3) return []
  const areas = parts.map((ring) => signedArea(ring))
  return [
    ...parts.flatMap((ring) => (ring.length < 4 ? 'too few points' : [])),
    ...areas.flatMap((area) => (area === 0 ? 'no area' : [])),
    ...((areas[0] as number) < 0 ? ['begins with a hole'] : []),
  ]
}

const signedArea = (ring: { x: number; y: number }[]): number =>
  ring.reduce((sum, { x, y }, index) => {
    const next = ring[(index + 1) % ring.length] as { x: number; y: number }
    return sum + x * next.y - next.x * y
  }, 0)

async function readByGdal({ z, x, y, bytes }: Place): Promise<void> {
  const path = join(directory, `${z}-${x}-${y}.pbf`)
  await writeFile(path, bytes)
  const place = Object.entries({ CLIP: 'NO', Z: z, X: x, Y: y }).flatMap(([name, value]) => ['-oo', `${name}=${value}`])
  const options = ['-q', '-al', '-geom=SUMMARY', ...place, path]
  const { stdout, stderr } = await promisify(execFile)('ogrinfo', options, { maxBuffer: 2 ** 28 })
  assert.equal(stderr, '', `${z}/${x}/${y}`)
  const layers = Object.values(new VectorTile(new PbfReader(bytes)).layers)
  const expected = layers.reduce((sum, { length }) => sum + length, 0)
  assert.equal(stdout.match(/^OGRFeature/gm)?.length, expected, `${z}/${x}/${y}`)
  await rm(path)
}
