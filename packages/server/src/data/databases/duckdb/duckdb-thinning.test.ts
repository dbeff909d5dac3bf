import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { testFolder } from '../../../../../driver-duckdb/testing/folder.ts'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { poll } from '../../../kernel/concurrency/retry.ts'
import { sql } from '../../../kernel/db/sql.ts'

// One database is enough: rows are read by DuckDB; where its record is stored does not matter.

const count = 1_000_000
const longitudes = new Float64Array(count)
const latitudes = new Float64Array(count)
const across = new Float64Array(count)
const down = new Float64Array(count)

/** mulberry32: the same points each time. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Clusters of different widths around the corner of four tiles, and some points anywhere. */
function makePoints(): void {
  const random = generator(7)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const clusters = [
    [0, 41, 4],
    [11.25, 48.9, 1.5],
    [-6, 37, 0.4],
    [22.5, 40.98, 6],
  ] as const
  for (let id = 0; id < count; id++) {
    const [x, y, width] = clusters[id % clusters.length] ?? clusters[0]
    const isAnywhere = id % 100 === 0
    longitudes[id] = isAnywhere ? random() * 360 - 180 : x + width * normal()
    latitudes[id] = isAnywhere ? random() * 150 - 75 : y + width * normal()
    across[id] = ((longitudes[id] ?? 0) + 180) / 360
    const sine = Math.sin(((latitudes[id] ?? 0) * Math.PI) / 180)
    down[id] = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
  }
}

let app: TestApp
let tenant: Tenant
let directory: string
let dataset: string
/** A tile source of the dataset that does without overviews. */
let live: string

before(async () => {
  makePoints()
  directory = await mkdtemp(join(tmpdir(), 'graticule-duckdb-thinning-'))
  app = await testApp({ DATA_DIR: directory })
  tenant = await app.tenant('files')
  const data = join(directory, 'files', tenant.id, 'data')
  await mkdir(data, { recursive: true })
  const lines = Array.from(longitudes, (x, id) => `${id},${id % 3},${x},${latitudes[id]}`)
  await writeFile(join(directory, 'points.csv'), `id,kind,x,y\n${lines.join('\n')}\n`)
  const point = `('POINT(' || x || ' ' || y || ')')::GEOMETRY('OGC:CRS84') AS geom`
  await testFolder({ after: () => {} }).run(
    `COPY (SELECT id, kind, ${point} FROM '${join(directory, 'points.csv')}') TO '${join(data, 'points.parquet')}'
     (FORMAT parquet, GEOPARQUET_VERSION 'BOTH')`,
  )
  const database = await app.call('POST', '/api/v1/databases', {
    key: tenant.developer,
    body: { type: 'duckdb', name: 'Files', db: 'data' },
  })
  const body = { type: 'table', name: 'points', source: 'points', databaseId: database.body.id }
  const made = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
  assert.equal(made.status, 201, made.text)
  dataset = made.body.id
  const source = { type: 'dataset', name: 'live', source: dataset, metadata: { tiles: { overviews: false } } }
  const tileSource = await app.call('POST', '/api/v1/tilesources', { key: tenant.developer, body: source })
  assert.equal(tileSource.status, 201, tileSource.text)
  live = tileSource.body.id
})
after(async () => {
  await app.close()
  await rm(directory, { recursive: true, force: true })
})

/** In tile widths of zoom 0. */
const acrossOf = (id: number): number => across[id] ?? 0
const downOf = (id: number): number => down[id] ?? 0

/** By id, what each feature stands for. */
type Shown = ReadonlyMap<number, number>

const tiles = new Map<string, Promise<Shown>>()

async function load(of: string, z: number, x: number, y: number, filter: string): Promise<Shown> {
  const url = `/tiles/${of}/${z}/${x}/${y}.geojson?attributes=id${filter}`
  const reply = await app.call('GET', url, { key: tenant.developer })
  assert.equal(reply.status, 200, reply.text.slice(0, 500))
  const features = reply.body.features as { properties: { id: number; svc_count?: number } }[]
  return new Map(features.map(({ properties: { id, svc_count = 1 } }) => [id, svc_count]))
}

function tile(of: string, z: number, x: number, y: number, filter = ''): Promise<Shown> {
  const key = `${of}/${z}/${x}/${y}${filter}`
  const known = tiles.get(key) ?? load(of, z, x, y, filter)
  tiles.set(key, known)
  return known
}

const isIn = (id: number, z: number, x: number, y: number): boolean =>
  Math.floor(acrossOf(id) * 2 ** z) === x && Math.floor(downOf(id) * 2 ** z) === y

/** Around the corner of four tiles at 0° east and 41° north. */
const around = (z: number): [number, number][] => {
  const [x, y] = [2 ** (z - 1), Math.floor(2 ** z * 0.375)]
  return [-1, 0].flatMap((dx) => [-1, 0].map((dy): [number, number] => [x + dx, y + dy]))
}

/** Strips of equal width on both sides of a border: the same share of their rows is shown, but for chance. */
type Strip = { rows: number; shown: number }
const stripWidth = 1 / 64

async function stripsAt(
  of: string,
  z: number,
  filter: string,
  isMeant: (id: number) => boolean,
): Promise<[Strip, Strip][]> {
  const [left = [0, 0]] = around(z)
  const borders: [Strip, Strip][] = []
  for (const row of [0, 1]) {
    const pair: [Strip, Strip] = [
      { rows: 0, shown: 0 },
      { rows: 0, shown: 0 },
    ]
    const [x, y] = [left[0], left[1] + row]
    const shown = [await tile(of, z, x, y, filter), await tile(of, z, x + 1, y, filter)]
    for (let id = 0; id < count; id++) {
      const beyond = acrossOf(id) * 2 ** z - (x + 1)
      if (Math.abs(beyond) >= stripWidth || Math.floor(downOf(id) * 2 ** z) !== y || !isMeant(id)) continue
      const side = beyond < 0 ? 0 : 1
      pair[side].rows++
      if (shown[side]?.has(id)) pair[side].shown++
    }
    borders.push(pair)
  }
  return borders
}

/** Of the two proportions of each border; one degree of freedom each. */
function chiSquared(borders: readonly [Strip, Strip][]): number {
  return borders.reduce((sum, [a, b]) => {
    const share = (a.shown + b.shown) / (a.rows + b.rows)
    const variance = share * (1 - share) * (1 / a.rows + 1 / b.rows)
    return variance > 0 ? sum + (a.shown / a.rows - b.shown / b.rows) ** 2 / variance : sum
  }, 0)
}

/** Of two degrees of freedom, at p = 1e-4. */
const mostChi = 18.4

type Meant = (id: number) => boolean

async function assertNoSeam(of: string, zooms: readonly number[], filter = '', isMeant: Meant = () => true) {
  for (const z of zooms) {
    const borders = await stripsAt(of, z, filter, isMeant)
    for (const { rows } of borders.flat()) assert.ok(rows > 50, `${rows} rows beside a border of zoom ${z}`)
    const chi = chiSquared(borders)
    assert.ok(chi < mostChi, `zoom ${z}: ${chi} ${JSON.stringify(borders)}`)
  }
}

async function assertNothingLost(of: string, z: number, filter = ''): Promise<void> {
  const [x, y] = around(z).at(-1) ?? [0, 0]
  const above = [...(await tile(of, z, x, y, filter)).keys()].filter((id) => isIn(id, z, x, y))
  assert.ok(above.length > 20, String(above.length))
  for (const part of [0, 1, 2, 3]) {
    const [childX, childY] = [2 * x + (part % 2), 2 * y + (part >> 1)]
    const below = await tile(of, z + 1, childX, childY, filter)
    const lost = above.filter((id) => isIn(id, z + 1, childX, childY) && !below.has(id))
    assert.deepEqual(lost, [], `of zoom ${z} in ${childX}/${childY}`)
  }
}

for (const [name, filter, isMeant] of [
  ['', '', () => true],
  [', filtered too', '&filter[kind]=1', (id: number) => id % 3 === 1],
] as const) {
  test(`the borders of thinned tiles are not seen${name}`, () => assertNoSeam(live, [4], filter, isMeant))

  test(`zooming in loses no row${name}`, () => assertNothingLost(live, 4, filter))

  test(`features stand for about the rows of their tile${name}`, async () => {
    for (const place of around(4)) {
      const [told, rows] = await countsOf(live, 4, place, filter, isMeant)
      assert.ok(Math.abs(told / rows - 1) < 0.1, `4/${place.join('/')}: ${told} of ${rows}`)
    }
  })
}

test('a lone point is shown at every zoom', async () => {
  const shown = await tile(live, 4, 1, 9)
  assert.ok([...shown.keys()].some((id) => isIn(id, 4, 1, 9)))
})

describe('an overview of a file', () => {
  before(async () => {
    await load(dataset, 4, 7, 5, '')
    await poll(
      async () => {
        const { body } = await app.call('GET', `/api/v1/datasets/${dataset}`, { key: tenant.developer })
        assert.notEqual(body.overviews?.status, 'failed')
        return body.overviews?.status === 'built' || undefined
      },
      { withinMs: 600_000, pauseMs: () => 500, signal: new AbortController().signal },
    )
    // A tile source is cached for a second.
    await poll(async () => (await filesOf('overviews')).length > 0 || undefined, {
      withinMs: 60_000,
      pauseMs: () => 1_100,
      signal: new AbortController().signal,
    })
    await load(dataset, 0, 0, 0, '')
  })

  test('has no seams, and loses nothing when one zooms in', async () => {
    await assertNoSeam(dataset, [3, 4, 5])
    for (const z of [1, 3, 4]) await assertNothingLost(dataset, z)
  })

  test('tells exactly how many rows its features stand for', async () => {
    for (const z of [3, 5]) {
      for (const place of around(z)) {
        const [told, rows] = await countsOf(dataset, z, place)
        assert.equal(told, rows, `${z}/${place.join('/')}`)
      }
    }
  })

  test('shows what is shown without it', async () => {
    const [x, y] = around(4)[0] ?? [0, 0]
    const [mine, others] = [await tile(dataset, 4, x, y), await tile(live, 4, x, y)]
    const missing = [...others.keys()].filter((id) => isIn(id, 4, x, y) && !mine.has(id))
    assert.deepEqual(missing, [])
  })

  test('is counted, and goes with its dataset', async () => {
    const [row] = await app.db.query<{ bytes: number }>(
      sql`SELECT bytes::float8 AS bytes FROM svc.overviews WHERE dataset_id = ${dataset}::uuid`,
    )
    assert.ok((row?.bytes ?? 0) > 100_000)
    const gone = await app.call('DELETE', `/api/v1/datasets/${dataset}`, { key: tenant.developer })
    assert.equal(gone.status, 200, gone.text)
    assert.deepEqual(await filesOf('overviews'), [])
  })
})

const filesOf = (folder: string): Promise<string[]> =>
  readdir(join(directory, folder), { recursive: true }).then(
    (names) => names.filter((name) => name.endsWith('.parquet')),
    () => [],
  )

/** What the features of a tile without its buffer stand for, and its rows. */
async function countsOf(
  of: string,
  z: number,
  [x, y]: [number, number],
  filter = '',
  isMeant: Meant = () => true,
): Promise<[told: number, rows: number]> {
  let [rows, told] = [0, 0]
  for (const [id, stands] of await tile(of, z, x, y, filter)) if (isIn(id, z, x, y)) told += stands
  for (let id = 0; id < count; id++) if (isMeant(id) && isIn(id, z, x, y)) rows++
  return [told, rows]
}
