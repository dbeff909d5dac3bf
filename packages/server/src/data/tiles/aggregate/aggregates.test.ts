import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { latLngToCell } from 'h3-js'
import { later } from '../../../../testing/processes/clock.ts'
import { featuresOf, type TileApp, tileApp } from '../../../../testing/tiles.ts'
import { createRandom } from '../../../../testing/uploads/random.ts'

type Row = { id: number; lon: number; lat: number; pop: number | null; kind: string }

const random = createRandom(Number(process.env.TEST_SEED ?? 1))
/** Everywhere that a map shows, half of them in a few towns, some on the antimeridian. */
const rows: Row[] = Array.from({ length: 3_000 }, (_, id) => {
  const isTown = id % 2 === 0
  const lon = isTown ? 8.5 + (id % 7) + random() * 0.3 : id % 11 === 0 ? 179.9 + random() * 0.2 : random() * 360 - 180
  const lat = isTown ? 47.3 + (id % 5) / 3 + random() * 0.2 : random() * 168 - 84
  return {
    id,
    lon: Number((lon > 180 ? lon - 360 : lon).toFixed(6)),
    lat: Number(lat.toFixed(6)),
    pop: id % 13 === 0 ? null : Math.floor(random() * 1_000_000) - 1_000,
    kind: id % 3 === 0 ? 'a' : 'b',
  }
})

let maps: TileApp
let id: string
before(async () => {
  maps = await tileApp()
  const values = rows.map(
    ({ id, lon, lat, pop, kind }) => `(${id},${pop},'${kind}',${id % 2},ST_Point(${lon},${lat},4326))`,
  )
  await maps.script(`
    CREATE TABLE places (id int PRIMARY KEY, pop int8, kind text, count int, geom geometry(Point, 4326), at date);
    INSERT INTO places (id, pop, kind, count, geom) VALUES ${values.join(',')};
    UPDATE places SET at = date '2024-01-01' + id % 366;
    INSERT INTO places (id, pop, kind) VALUES (90000, 5, 'a');
    CREATE INDEX ON places USING gist (geom); ANALYZE places`)
  id = await maps.dataset({ source: 'places' })
})
after(() => maps.close())

type Cell = Record<string, number | string | boolean | null>
type Figures = { count: number; values: number[] }

/** What plain code finds of the rows by a name of their cell. */
function expected(cellOf: (row: Row) => string, some: readonly Row[] = rows): Map<string, Figures> {
  const cells = new Map<string, Figures>()
  for (const row of some) {
    const name = cellOf(row)
    const cell = cells.get(name) ?? { count: 0, values: [] }
    cells.set(name, cell)
    cell.count++
    if (row.pop !== null) cell.values.push(row.pop)
  }
  return cells
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

function assertCells(found: readonly Cell[], cells: ReadonlyMap<string, Figures>, label: string): void {
  assert.equal(found.length, cells.size, label)
  for (const { cell, count, ...rest } of found) {
    const { values, ...known } = cells.get(String(cell)) ?? { count: -1, values: [] }
    assert.equal(count, known.count, `${label} ${cell}`)
    if (values.length === 0) {
      assert.deepEqual([rest.sum_pop ?? null, rest.avg_pop ?? null, rest.min_pop ?? null], [null, null, null])
      continue
    }
    const avg = total(values) / values.length
    assert.deepEqual(
      [rest.sum_pop, rest.min_pop, rest.max_pop],
      [total(values), Math.min(...values), Math.max(...values)],
    )
    assert.ok(Math.abs(Number(rest.avg_pop) - avg) <= Math.abs(avg) * 1e-12, `${label} ${cell}`)
  }
}

const square =
  (zoom: number) =>
  ({ lon, lat }: Row): string => {
    const n = 2 ** zoom
    const sine = Math.sin((lat * Math.PI) / 180)
    const x = Math.floor(((lon + 180) / 360) * n) % n
    return `${zoom}/${x}/${Math.floor((0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * n)}`
  }

const values = 'value=sum(pop),avg(pop),min(pop)&value=max(pop)'
const path = () => `/api/v1/datasets/${id}/query`

async function cellsIn(url: string): Promise<Cell[]> {
  const reply = await maps.get(url)
  assert.equal(reply.statusCode, 200, `${url} ${reply.body}`)
  return reply.json()
}

async function tileCells(tile: string, query: string, root = `/tiles/${id}`): Promise<Cell[]> {
  const reply = await maps.get(`${root}/${tile}?${query}`)
  assert.ok(reply.statusCode === 200 || reply.statusCode === 204, `${tile} ${reply.body}`)
  return featuresOf(reply.rawPayload).map(({ properties }) => ({ ...properties }))
}

/** All cells of a zoom, once each; a cell that two tiles draw has the same figures in both. */
async function zoomCells(zoom: number, query: string): Promise<Cell[]> {
  const cells = new Map<string, Cell>()
  for (let x = 0; x < 2 ** zoom; x++) {
    for (let y = 0; y < 2 ** zoom; y++) {
      for (const cell of await tileCells(`${zoom}/${x}/${y}.mvt`, query)) {
        const known = cells.get(String(cell.cell))
        if (known) assert.deepEqual(cell, known)
        cells.set(String(cell.cell), cell)
      }
    }
  }
  return [...cells.values()]
}

describe('rows counted by cell are as plain code counts them', () => {
  test('in queries, for hexagons and squares of every size', async () => {
    for (const resolution of [0, 1, 2, 4, 7, 11, 15]) {
      const found = await cellsIn(`${path()}?aggregate=h3:${resolution}&${values}`)
      assertCells(
        found,
        expected(({ lat, lon }) => latLngToCell(lat, lon, resolution)),
        `h3:${resolution}`,
      )
    }
    for (const zoom of [0, 1, 5, 9, 20, 26]) {
      assertCells(await cellsIn(`${path()}?aggregate=grid:${zoom}&${values}`), expected(square(zoom)), `grid:${zoom}`)
    }
  })

  test('in the tiles of a zoom, whose sums are those of the table', async () => {
    const resolutions = [0, 1, 1, 2]
    for (const zoom of [0, 1, 2, 3]) {
      const hexagons = await zoomCells(zoom, `aggregate=h3:auto&${values}`)
      const resolution = resolutions[zoom] ?? 0
      assertCells(
        hexagons,
        expected(({ lat, lon }) => latLngToCell(lat, lon, resolution)),
        `zoom ${zoom}`,
      )
      assertCells(await zoomCells(zoom, `aggregate=grid:auto&${values}`), expected(square(zoom + 4)), `zoom ${zoom}`)
    }
  })

  test('in tiles of high zooms, where only what is around them is read', async () => {
    for (const zoom of [6, 8, 11]) {
      for (const { lon, lat } of rows.slice(0, 4)) {
        const [, x, y] = square(zoom)({ lon, lat } as Row).split('/')
        const resolution = Math.round((zoom * Math.log(4)) / Math.log(7))
        for (const [query, cells] of [
          ['h3:auto', expected((row) => latLngToCell(row.lat, row.lon, resolution))],
          ['grid:auto', expected(square(zoom + 4))],
          // Cells that are larger than the tile, and such as only lie in some of it.
          ['h3:1', expected((row) => latLngToCell(row.lat, row.lon, 1))],
          [`grid:${zoom - 3}`, expected(square(zoom - 3))],
          [`h3:${resolution + 2}`, expected((row) => latLngToCell(row.lat, row.lon, resolution + 2))],
        ] as const) {
          const found = await tileCells(`${zoom}/${x}/${y}.mvt`, `aggregate=${query}&${values}`)
          assert.ok(found.length > 0, query)
          const some = new Map(found.map(({ cell }) => [String(cell), cells.get(String(cell)) as Figures]))
          assertCells(found, some, `${zoom}/${x}/${y} ${query}`)
        }
      }
    }
  })

  test('in clusters, each of which is drawn where its points are on average', async () => {
    const found = await cellsIn(`${path()}?aggregate=cluster&zoom=4&${values}`)
    assert.equal(total(found.map(({ count }) => Number(count))), rows.length)
    assert.equal(total(found.map(({ sum_pop }) => Number(sum_pop))), total(rows.map(({ pop }) => pop ?? 0)))
    for (const { cluster, cluster_id, point_count, cell, count, geometry } of found as Record<string, unknown>[]) {
      assert.deepEqual([cluster, point_count], Number(count) > 1 ? [true, count] : [null, null])
      if (cluster) assert.equal(String(cluster_id), cell)
      assert.equal((geometry as { type: string }).type, 'Point')
    }
    const drawn = new Set((await zoomCells(3, 'aggregate=cluster')).map(({ cell, count }) => `${cell} ${count}`))
    const asked = await cellsIn(`${path()}?aggregate=cluster&zoom=3`)
    assert.deepEqual([...drawn].sort(), asked.map(({ cell, count }) => `${cell} ${count}`).sort())
  })

  test('for a filter and a time', async () => {
    const some = rows.filter((row) => row.kind === 'a' && row.id % 366 < 31)
    const cells = expected(({ lat, lon }) => latLngToCell(lat, lon, 1), some)
    const query = `aggregate=h3:1&${values}&filter[kind]=a&time=2024-01`
    assertCells(await cellsIn(`${path()}?${query}`), cells, 'query')
    assertCells(await zoomCells(1, query), cells, 'tiles')
  })
})

describe('the same cells', () => {
  test('come by GET and POST, in JSON, GeoJSON and CSV, in tiles, their GeoJSON, and tiles of the OGC API', async () => {
    const query = `aggregate=h3:2&${values}`
    const byGet = await cellsIn(`${path()}?${query}`)
    const body = { aggregate: 'h3:2', value: ['sum(pop)', 'avg(pop)', 'min(pop)', 'max(pop)'] }
    const byPost = await maps.app.call('POST', path(), { key: maps.tenant.developer, body })
    assert.deepEqual(byPost.body, byGet)
    const geojson = (await maps.get(`${path()}?${query}&format=geojson`)).json()
    assert.deepEqual(
      geojson.features.map(({ geometry, properties }: { geometry: object; properties: object }) => ({
        ...properties,
        geometry,
      })),
      byGet,
    )
    const csv = (await maps.get(`${path()}?${query}&format=csv`)).body.trim().split('\r\n')
    assert.deepEqual([csv[0], csv.length], ['cell,count,sum_pop,avg_pop,min_pop,max_pop,geometry', byGet.length + 1])
    const known = new Map(byGet.map(({ geometry: _, ...cell }) => [cell.cell, cell]))
    const here = await tileCells('3/4/2.mvt', query)
    assert.ok(here.length > 5)
    for (const cell of here)
      assert.deepEqual(
        {
          ...Object.fromEntries(Object.keys(known.get(cell.cell as string) ?? {}).map((name) => [name, null])),
          ...cell,
        },
        known.get(cell.cell as string),
      )
    assert.deepEqual(await tileCells('3/2/4', query, `/ogc/collections/${id}/tiles/WebMercatorQuad`), here)
    const drawn = (await maps.get(`/tiles/${id}/3/4/2.geojson?${query}`)).json().features
    assert.deepEqual(
      drawn.map(({ properties }: { properties: object }) => properties),
      here,
    )
  })

  test('come in files', async () => {
    const reply = await maps.get(`${path()}?aggregate=h3:2&value=avg(pop)&format=parquet`)
    assert.equal(reply.statusCode, 200)
    assert.equal(reply.rawPayload.subarray(0, 4).toString(), 'PAR1')
  })

  test('come in pages by limit and offset', async () => {
    const all = await cellsIn(`${path()}?aggregate=grid:5`)
    assert.deepEqual(await cellsIn(`${path()}?aggregate=grid:5&limit=7&offset=3`), all.slice(3, 10))
  })
})

describe('a cell has its shape', () => {
  test('in longitudes from -180 to 180, on both sides of the antimeridian and around the poles', async () => {
    await maps.script(`
      CREATE TABLE ends (id int PRIMARY KEY, geom geometry(Point, 4326));
      INSERT INTO ends VALUES (1, ST_Point(179.99, 10, 4326)), (2, ST_Point(-179.99, 10, 4326)), (3, ST_Point(180, 10, 4326)),
        (4, ST_Point(40, 89.99, 4326)), (5, ST_Point(-70, -90, 4326)), (6, ST_Point(0, 90, 4326)), (7, 'SRID=4326;POINT EMPTY')`)
    const ends = await maps.dataset({ source: 'ends' })
    for (const query of ['h3:2', 'h3:0', 'grid:3', 'grid:0']) {
      const cells = await cellsIn(`/api/v1/datasets/${ends}/query?aggregate=${query}`)
      assert.equal(total(cells.map(({ count }) => Number(count))), 6, query)
      for (const { geometry } of cells as unknown as { geometry: { coordinates: unknown[] } }[]) {
        const numbers = (geometry.coordinates as number[]).flat(Number.POSITIVE_INFINITY as 1) as number[]
        assert.ok(
          numbers.every((number, index) => Math.abs(number) <= (index % 2 ? 90 : 180)),
          JSON.stringify(geometry),
        )
      }
    }
    const sides = async (tile: string) => (await maps.get(`/tiles/${ends}/${tile}.mvt?aggregate=h3:2`)).rawPayload
    const [west] = featuresOf(await sides('2/0/1'))
    const [east] = featuresOf(await sides('2/3/1'))
    assert.deepEqual([west?.properties.cell, west?.properties.count], [east?.properties.cell, 3])
    const polar = featuresOf((await maps.get(`/tiles/${ends}/1/1/0.mvt?aggregate=h3:0`)).rawPayload)
    assert.ok(polar.some(({ properties }) => properties.count === 2))
  })

  test('and lines and areas are in the cell of a point on them', async () => {
    await maps.script(`
      CREATE TABLE shapes (id int PRIMARY KEY, geom geometry(Geometry, 4326));
      INSERT INTO shapes VALUES (1, 'SRID=4326;POLYGON((0 0,10 0,10 10,9 10,9 1,0 1,0 0))'), (2, 'SRID=4326;LINESTRING(20 20,21 21,22 22)'),
        (3, 'SRID=4326;MULTIPOINT(5 5,6 6)'), (4, 'SRID=4326;POLYGON EMPTY'), (5, NULL)`)
    const shapes = await maps.dataset({ source: 'shapes' })
    const cells = await cellsIn(`/api/v1/datasets/${shapes}/query?aggregate=h3:9`)
    assert.deepEqual(
      cells.map(({ count }) => count),
      [1, 1, 1],
    )
  })
})

describe('a request for cells', () => {
  test('is refused with what is allowed', async () => {
    const tile = `/tiles/${id}/2/1/1.mvt`
    const faults: [string, RegExp][] = [
      [
        'aggregate=hexagons',
        /query\/aggregate: must be h3:auto, h3:0 … h3:15, grid:auto, grid:0 … grid:26 or cluster, not "hexagons"/,
      ],
      ['aggregate=h3:16', /query\/aggregate: must be/],
      ['aggregate=cluster:3', /query\/aggregate: must be/],
      [
        'aggregate=h3:1&value=sum(kind)',
        /query\/value: must be of a numeric attribute, and "kind" is of type string. Allowed: id, pop, count/,
      ],
      ['aggregate=h3:1&value=sum(pip)', /query\/value: .*"pip".*pop/],
      ['aggregate=h3:1&value=median(pop)', /query\/value: must be count or one of sum, avg, min, max/],
      ['value=sum(pop)', /query\/value: is only for aggregates/],
    ]
    for (const [query, message] of faults) {
      for (const url of [
        tile,
        `/tiles/${id}/index.json`,
        path(),
        `/ogc/collections/${id}/tiles/WebMercatorQuad/2/1/1`,
      ]) {
        const reply = await maps.get(`${url}?${query}`)
        assert.equal(reply.statusCode, 400, `${url} ${query}`)
        assert.match(reply.json().detail, message)
      }
    }
    for (const [url, message] of [
      [`${path()}?aggregate=h3:auto`, /query\/zoom: is required with aggregate=h3:auto/],
      [`${path()}?aggregate=cluster`, /query\/zoom: is required/],
      [`${path()}?aggregate=h3:1&sort=pop`, /query\/sort: must not be given with aggregate/],
      [`${path()}?aggregate=h3:1&attributes=pop`, /query\/attributes: must not be given with aggregate/],
      [`${path()}?zoom=3`, /query\/zoom: is only for aggregates/],
      [`${tile}?aggregate=h3:1&attributes=pop`, /query\/attributes: must not be given with aggregate/],
    ] as const) {
      const reply = await maps.get(url)
      assert.equal(reply.statusCode, 400, url)
      assert.match(reply.json().detail, message)
    }
  })

  test('for more cells than an answer holds is refused with a way out', async () => {
    const source =
      'SELECT n AS id, ST_Point(n / 1000.0, 10, 4326)::geometry(Point, 4326) AS geom FROM generate_series(1, 100001) AS n'
    const many = await maps.dataset({ type: 'sql', source })
    const reply = await maps.get(`/api/v1/datasets/${many}/query?aggregate=h3:13`)
    assert.equal(reply.statusCode, 400)
    const { detail, limit, limitName } = reply.json()
    assert.deepEqual({ limit, limitName }, { limit: 100_000, limitName: 'aggregateCells' })
    assert.match(detail, /query\/aggregate: gives more than 100000 cells: use a coarser resolution/)
    assert.equal((await maps.get(`/tiles/${many}/5/16/15.mvt?aggregate=h3:auto`)).statusCode, 200)
  })

  test('is explained, cached, and carried into the tiles of a TileJSON', async () => {
    const { tiles, vector_layers } = (await maps.get(`/tiles/${id}/index.json?aggregate=h3:auto&value=avg(pop)`)).json()
    assert.match(tiles[0], /[?&]aggregate=h3:auto&value=avg\(pop\)/)
    assert.deepEqual(vector_layers[0].fields, { cell: 'String', count: 'Number', avg_pop: 'Number' })
    const url = `/tiles/${id}/4/8/5.mvt?aggregate=h3:auto`
    const first = await maps.get(url)
    const explained = (await maps.get(`${url}&explain=true`)).json()
    assert.equal(explained.cache, 'hit')
    assert.match(explained.sql, /ST_X/)
    assert.equal((await maps.get(url, { 'if-none-match': String(first.headers.etag) })).statusCode, 304)
    assert.ok((await cellsIn(`${path()}?aggregate=h3:1&explain=true`)) instanceof Object)
  })

  test('sees rows that came since', async () => {
    const before = total((await zoomCells(0, 'aggregate=grid:0')).map(({ count }) => Number(count)))
    await maps.script(`INSERT INTO places (id, geom) VALUES (80000, ST_Point(1, 1, 4326))`)
    later(1_000)
    const after = total((await zoomCells(0, 'aggregate=grid:0')).map(({ count }) => Number(count)))
    assert.equal(after, before + 1)
    await maps.script('DELETE FROM places WHERE id = 80000')
  })

  test('is one for the dataset where it has parameters of these names', async () => {
    const source = 'SELECT id, pop, geom FROM places WHERE pop > :value::int AND kind = :aggregate'
    const own = await maps.dataset({ type: 'sql', source })
    const reply = await maps.get(`/api/v1/datasets/${own}/query?value=999000&aggregate=a&attributes=id`)
    const some = rows.filter(({ pop, kind }) => Number(pop) > 999_000 && kind === 'a')
    assert.equal(reply.json().length, some.length)
  })
})
