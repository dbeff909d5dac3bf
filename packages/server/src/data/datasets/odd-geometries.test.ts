import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Reply, type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'

/** Shapes that GeoJSON and most formats do not have, near 8° E, 47° N. */
const shapes = {
  arc: 'CIRCULARSTRING(8 47, 8.5 47.5, 9 47)',
  compound: 'COMPOUNDCURVE(CIRCULARSTRING(8 47, 8.5 47.5, 9 47), (9 47, 9.5 47.2))',
  disc: 'CURVEPOLYGON(CIRCULARSTRING(8 47, 8.5 47.5, 9 47, 8.5 46.5, 8 47))',
  ring: 'CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(8 47, 8.5 47.5, 9 47), (9 47, 8.5 46.5, 8 47)), (8.4 47, 8.5 47.1, 8.6 47, 8.4 47))',
  curves: 'MULTICURVE((8 47, 9 47.5), CIRCULARSTRING(8 47, 8.5 47.5, 9 47))',
  surfaces:
    'MULTISURFACE(CURVEPOLYGON(CIRCULARSTRING(8 47, 8.5 47.5, 9 47, 8.5 46.5, 8 47)), ((9 47, 9.5 47, 9.5 47.4, 9 47)))',
  tin: 'TIN Z (((8 47 1, 8 47.5 2, 8.5 47.5 3, 8 47 1)), ((8 47 1, 8.5 47.5 3, 8.5 47 2, 8 47 1)))',
  hull: 'POLYHEDRALSURFACE Z (((8 47 0, 8 47.5 0, 8.5 47.5 0, 8.5 47 0, 8 47 0)), ((8 47 0, 8.5 47 0, 8.5 47 9, 8 47 9, 8 47 0)))',
  triangle: 'TRIANGLE((8 47, 9 47, 8.5 47.5, 8 47))',
  mixture: 'GEOMETRYCOLLECTION(POINT(8 47), CIRCULARSTRING(8 47, 8.5 47.5, 9 47))',
  emptyPoint: 'POINT EMPTY',
  emptyArea: 'POLYGON EMPTY',
  emptyAll: 'GEOMETRYCOLLECTION EMPTY',
  emptyCurve: 'CIRCULARSTRING EMPTY',
  emptySurface: 'CURVEPOLYGON EMPTY',
  emptyTin: 'TIN EMPTY',
  emptyPart: 'MULTIPOINT((8 47), EMPTY)',
  high: 'POINT Z (8 47 500)',
  measured: 'POINT M (8 47 3)',
  both: 'LINESTRING ZM (8 47 1 2, 9 47.5 3 4)',
  highArc: 'CIRCULARSTRING Z (8 47 1, 8.5 47.5 2, 9 47 3)',
  measuredDisc: 'CURVEPOLYGON M (CIRCULARSTRING M (8 47 1, 8.5 47.5 2, 9 47 3, 8.5 46.5 4, 8 47 1))',
}
const names = Object.keys(shapes)
const values = (srid: number) =>
  Object.entries(shapes)
    .map(([name, text], index) => `(${index + 1}, '${name}', ST_Transform(ST_GeomFromText('${text}', 4326), ${srid}))`)
    .join(', ')

const tables = `
  CREATE TABLE {s}.anything (id int4 PRIMARY KEY, name text, geom geometry);
  INSERT INTO {s}.anything VALUES ${values(4326)};
  CREATE TABLE {s}.degrees (id int4 PRIMARY KEY, name text, geom geometry(Geometry, 4326));
  INSERT INTO {s}.degrees SELECT id, name, ST_Force2D(geom) FROM {s}.anything;
  CREATE TABLE {s}.metric (id int4 PRIMARY KEY, name text, geom geometry(Geometry, 2056));
  INSERT INTO {s}.metric SELECT id, name, ST_Transform(geom, 2056) FROM {s}.degrees;
  CREATE TABLE {s}.discs (id int4 PRIMARY KEY, name text, geom geometry(CurvePolygon, 4326));
  INSERT INTO {s}.discs SELECT id, name, geom FROM {s}.degrees WHERE GeometryType(geom) = 'CURVEPOLYGON';
  CREATE TABLE {s}.tins (id int4 PRIMARY KEY, name text, geom geometry(TinZ, 4326));
  INSERT INTO {s}.tins SELECT id, name, geom FROM {s}.anything WHERE name = 'tin';
  CREATE TABLE {s}.arcs (id int4 PRIMARY KEY, name text, geom geometry(MultiCurve, 2056));
  INSERT INTO {s}.arcs SELECT id, name, geom FROM {s}.metric WHERE name = 'curves';
  CREATE TABLE {s}.zero_metric (id int4 PRIMARY KEY, geom geometry(Point));
  INSERT INTO {s}.zero_metric SELECT g, ST_Point(2600000 + g, 1200000) FROM generate_series(1, 5) g;
  CREATE TABLE {s}.zero_degrees (id int4 PRIMARY KEY, geom geometry);
  INSERT INTO {s}.zero_degrees SELECT g, ST_Point(8, 47) FROM generate_series(1, 3) g;
  INSERT INTO {s}.zero_degrees VALUES (4, ST_Point(2600000, 1200000)), (5, ST_Transform(ST_Point(8, 47, 4326), 2056)), (6, NULL);
  CREATE TABLE {s}.one_odd (id int4 PRIMARY KEY, geom geometry);
  INSERT INTO {s}.one_odd SELECT g, ST_Transform(ST_Point(8, 47, 4326), 2056) FROM generate_series(2, 4) g;
  INSERT INTO {s}.one_odd VALUES (1, ST_Point(8, 47)), (5, ST_Point(2600000, 1200000)), (6, ST_Point(1, 1, 999998)),
    (7, ST_Point(1e9, 1e9, 32632)), (8, ST_Point(8, 47, 4326));
  CREATE TABLE {s}.each_other (id int4 PRIMARY KEY, geom geometry);
  INSERT INTO {s}.each_other VALUES (1, ST_Point(8, 47)), (2, ST_Point(8, 47, 4326)), (3, ST_Transform(ST_Point(8, 47, 4326), 2056)),
    (4, ST_Transform(ST_Point(8, 47, 4326), 3857)), (5, ST_Point(1, 1, 999998));
  CREATE TABLE {s}.beyond (id int4 PRIMARY KEY, geom geometry(Point, 32632));
  INSERT INTO {s}.beyond VALUES (1, ST_Transform(ST_Point(8, 47, 4326), 32632)), (2, ST_Point(1e9, 1e9, 32632));`
const sources = ['anything', 'degrees', 'metric', 'discs', 'tins', 'arcs'] as const

let app: TestApp
let tenant: Tenant
let schema: string
const ids: Record<string, string> = {}
before(async () => {
  app = await testApp()
  tenant = await app.tenant('odd')
  schema = `app_${tenant.id.replaceAll('-', '')}`
  await app.db.script(
    `${tables.replaceAll('{s}', schema)} GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`,
  )
  for (const source of sources) {
    const reply = await call('POST', '/api/v1/datasets', { body: { type: 'table', name: source, source } })
    assert.equal(reply.status, 201, reply.text)
    ids[source] = reply.body.id
    const tiles = await call('POST', '/api/v1/tilesources', {
      body: { type: 'dataset', name: source, source: reply.body.id },
    })
    assert.equal(tiles.status, 201, tiles.text)
    ids[`${source} tiles`] = tiles.body.id
  }
})
after(() => app.close())
const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

const ask = async (source: string, query: string): Promise<Reply> => {
  const reply = await call('GET', `/api/v1/datasets/${ids[source]}/query?${query}`)
  assert.equal(reply.status, 200, `${source} ${query}: ${reply.text.slice(0, 300)}`)
  return reply
}
const query = async (source: string, body: object) => {
  const reply = await call('POST', `/api/v1/datasets/${ids[source]}/query`, { body })
  assert.equal(reply.status, 200, `${source} ${JSON.stringify(body)}: ${reply.text.slice(0, 300)}`)
  return reply.body
}
const countOf: Record<string, number> = {
  anything: names.length,
  degrees: names.length,
  metric: names.length,
  discs: 4,
  tins: 1,
  arcs: 1,
}

const plainTypes = /^(Multi)?(Point|LineString|Polygon)$|^GeometryCollection$/

type Shape = { type: string; coordinates?: unknown; geometries?: Shape[] }
const isPlain = ({ type, geometries = [] }: Shape): boolean => plainTypes.test(type) && geometries.every(isPlain)

describe('curves, surfaces and empty shapes', () => {
  for (const source of sources) {
    test(`of the table ${source} are GeoJSON with straight edges`, async () => {
      const { body } = await ask(source, 'format=geojson')
      assert.equal(body.features.length, countOf[source])
      for (const { geometry, properties } of body.features) assert.ok(isPlain(geometry), properties.name)
      const rows = (await ask(source, 'format=json')).body
      assert.deepEqual(
        rows.map((row: { geom: Shape }) => row.geom),
        body.features.map((one: { geometry: Shape }) => one.geometry),
      )
      const items = await call('GET', `/ogc/collections/${ids[source]}/items?limit=100`)
      assert.equal(items.body.features?.length, countOf[source], items.text.slice(0, 300))
    })

    test(`of the table ${source} are exported in every format`, async () => {
      for (const format of ['csv', 'parquet', 'fgb', 'gpkg', 'shp', 'kml', 'xlsx']) {
        const reply = await app.http.inject({
          url: `/api/v1/datasets/${ids[source]}/query?format=${format}`,
          headers: { 'x-api-key': tenant.developer },
        })
        assert.equal(reply.statusCode, 200, `${format}: ${reply.body.slice(0, 300)}`)
      }
    })

    test(`of the table ${source} are found by place`, async () => {
      const box = await query(source, { attributes: ['name'], where: { geom: { $bbox: [7, 46, 10, 48] } } })
      const filled = (await ask(source, 'format=geojson')).body.features.filter(({ geometry }: { geometry: Shape }) =>
        JSON.stringify(geometry).match(/\d/),
      )
      assert.equal(box.length, filled.length)
      for (const filter of [
        'S_WITHIN(geom, POLYGON((7 46, 10 46, 10 48, 7 48, 7 46)))',
        'S_INTERSECTS(geom, POLYGON((8.2 46.9, 8.6 46.9, 8.6 47.2, 8.2 47.2, 8.2 46.9)))',
        'S_CROSSES(geom, LINESTRING(8.2 46.9, 8.6 48))',
      ])
        await ask(source, `filter-lang=cql2-text&filter=${encodeURIComponent(filter)}`)
      const point = { type: 'Point', coordinates: [8.5, 47.5] }
      await query(source, { where: { geom: { $dwithin: { geometry: point, distance: 10 } } } })
      const near = await query(source, { attributes: ['name'], nearest: { point: [8.5, 47.5] }, limit: 30 })
      assert.equal(near.length, countOf[source])
      const items = await call('GET', `/ogc/collections/${ids[source]}/items?limit=100&bbox=7,46,10,48`)
      assert.equal(items.status, 200, items.text)
    })

    test(`of the table ${source} are measured`, async () => {
      const [found] = await query(source, { attributes: ['extent(geom) as e', 'area(geom) as a', 'length(geom) as l'] })
      assert.ok(found.e[0] > 7.9 && found.e[2] < 9.6, JSON.stringify(found))
      const reply = await call('GET', `/api/v1/datasets/${ids[source]}/attributes/geom/statistics`)
      assert.equal(reply.body.count, countOf[source], reply.text)
    })

    test(`of the table ${source} are drawn`, async () => {
      for (const tile of ['0/0/0', '6/33/22', '9/267/180']) {
        const reply = await app.http.inject({
          url: `/tiles/${ids[`${source} tiles`]}/${tile}.geojson`,
          headers: { 'x-api-key': tenant.developer },
        })
        assert.equal(reply.statusCode, 200, `${tile}: ${reply.body.slice(0, 300)}`)
        const shown = JSON.parse(reply.body).features.length
        assert.ok(shown > 0, tile)
      }
    })
  }

  test('have the size of their arcs', async () => {
    const [disc] = await query('degrees', { attributes: ['area(geom) as a'], where: { name: 'disc' } })
    const [triangle] = await query('degrees', { attributes: ['area(geom) as a'], where: { name: 'triangle' } })
    // A disc of radius r has π times the area of a triangle with the base 2r and the height r.
    assert.ok(disc.a / triangle.a > 3 && disc.a / triangle.a < 3.3, `${disc.a / triangle.a}`)
    const { features } = (await ask('degrees', 'format=geojson&filter[name]=arc')).body
    assert.ok(features[0].geometry.coordinates.length > 30)
  })

  test('keep their types as WKT', async () => {
    const { text } = await ask('degrees', 'format=csv&filter[name]=arc')
    assert.match(text, /CIRCULARSTRING\(8 47,8\.5 47\.5,9 47\)/)
    assert.match((await ask('degrees', 'format=csv&srid=3857&filter[name]=arc')).text, /LINESTRING\(/)
  })
})

describe('geometries of unknown reference systems', () => {
  test('are drawn wherever others of several systems are', async () => {
    const id = await made({ source: 'each_other' })
    for (const path of ['0/0/0', '6/33/22', '12/2139/1440']) {
      const tile = await tileOf(id, path)
      const shown = JSON.parse(tile.body).features.map((one: { id: number }) => one.id)
      assert.deepEqual([shown.sort(), tile.headers['x-tile-features']], [[1, 2, 3, 4], '4/4'], path)
    }
  })

  async function create(body: object): Promise<Reply> {
    return call('POST', '/api/v1/datasets', { body: { type: 'table', name: 'unknown', ...body } })
  }
  async function made(body: object): Promise<string> {
    const reply = await create(body)
    assert.equal(reply.status, 201, reply.text)
    ids[reply.body.id] = reply.body.id
    return reply.body.id
  }
  async function tileOf(dataset: string, path: string) {
    const reply = await call('POST', '/api/v1/tilesources', {
      body: { type: 'dataset', name: 'unknown', source: dataset },
    })
    assert.equal(reply.status, 201, reply.text)
    const headers = { 'x-api-key': tenant.developer }
    return app.http.inject({ url: `/tiles/${reply.body.id}/${path}.geojson`, headers })
  }
  const longitudes = async (id: string, rest = ''): Promise<(number | null)[]> => {
    const { body } = await ask(id, `format=geojson&sort=id${rest}`)
    return body.features.map(({ geometry }: { geometry: { coordinates: number[] } | null }) =>
      geometry ? Math.round((geometry.coordinates[0] ?? 0) * 1000) / 1000 : null,
    )
  }

  test('are refused where a place would be wrong, with the setting that mends it', async () => {
    for (const source of ['zero_metric', 'SELECT id, geom FROM zero_metric']) {
      const type = source.startsWith('SELECT') ? 'sql' : 'table'
      const id = await made({ type, source })
      for (const query of [
        'format=geojson',
        'format=json',
        'format=parquet',
        'filter[geom][$bbox]=7,46,9,48&attributes=id',
      ]) {
        const reply = await call('GET', `/api/v1/datasets/${id}/query?${query}`)
        assert.deepEqual([reply.status, /metadata\.srid/.test(reply.body.detail)], [400, true], reply.text)
      }
      const items = await call('GET', `/ogc/collections/${id}/items`)
      assert.deepEqual([items.status, /metadata\.srid/.test(items.body.detail)], [400, true], items.text)
      const tile = await tileOf(id, '0/0/0')
      assert.deepEqual([tile.statusCode, /metadata\.srid/.test(tile.body)], [400, true], tile.body)
      assert.equal((await ask(id, 'attributes=id')).body.length, 5)
      assert.match((await ask(id, 'format=csv')).text, /POINT\(2600001 1200000\)/)
    }
  })

  test('are read in the system that the dataset states', async () => {
    const id = await made({ source: 'zero_metric', metadata: { srid: 2056 } })
    assert.deepEqual(await longitudes(id), [7.439, 7.439, 7.439, 7.439, 7.439])
    assert.equal((await ask(id, 'filter[geom][$bbox]=7,46,8,47&attributes=id')).body.length, 5)
    assert.equal((await ask(id, 'filter[geom][$bbox]=8,46,9,47&attributes=id')).body.length, 0)
    const tile = await tileOf(id, '6/33/22')
    assert.equal(tile.statusCode, 200, tile.body)
    assert.equal(JSON.parse(tile.body).features.length, 5)
    const near = await query(id, { attributes: ['id'], nearest: { point: [7.44, 46.95] }, limit: 2 })
    assert.equal(near.length, 2)
  })

  test('are not written to in degrees, unless the dataset states them', async () => {
    const body = [{ id: 9, geom: { type: 'Point', coordinates: [7.44, 46.95] } }]
    const unknown = await made({ source: 'zero_metric', metadata: { editable: true } })
    const refused = await call('POST', `/api/v1/datasets/${unknown}/rows`, { body })
    assert.deepEqual(
      [refused.status, /body\/0\/geom.*metadata\.srid/.test(refused.body.detail)],
      [400, true],
      refused.text,
    )
    const stated = await made({ source: 'zero_metric', metadata: { editable: true, srid: 2056 } })
    const written = await call('POST', `/api/v1/datasets/${stated}/rows`, { body })
    assert.equal(written.status, 201, written.text)
    assert.match((await ask(stated, 'format=csv&srid=2056&filter[id]=9')).text, /POINT\(2600104\.\d+ 1199879\.\d+\)/)
    await app.db.script(`DELETE FROM ${schema}.zero_metric WHERE id = 9`)
    const measured = await call('POST', `/api/v1/datasets/${stated}/rows`, {
      body: [{ id: 10, geom: 'POINT M(7 46 3)' }],
    })
    assert.deepEqual([measured.status, /measures/.test(measured.body.detail)], [400, true], measured.text)
  })

  test('can be stated only as a system that the database knows', async () => {
    for (const srid of [0, -1, 1.5, '2056', 999_998, 1_000_000, null, {}]) {
      const reply = await create({ source: 'zero_metric', metadata: { srid } })
      assert.deepEqual(
        [reply.status, reply.body.errors?.[0]?.path],
        [400, 'body/metadata/srid'],
        `${srid} ${reply.text}`,
      )
    }
  })

  test('never fail the rows beside them', async () => {
    const degrees = await made({ source: 'zero_degrees' })
    assert.deepEqual(await longitudes(degrees), [8, 8, 8, null, 8, null])
    assert.equal((await ask(degrees, 'filter[geom][$bbox]=7,46,9,48&attributes=id')).body.length >= 3, true)
    const odd = await made({ source: 'one_odd' })
    assert.deepEqual(await longitudes(odd), [8, 8, 8, 8, null, null, null, 8])
    for (const id of [degrees, odd]) {
      const tile = await tileOf(id, '6/33/22')
      assert.equal(tile.statusCode, 200, tile.body)
      assert.ok(JSON.parse(tile.body).features.length >= 3)
      const [found] = await query(id, { attributes: ['extent(geom) as e', 'area(geom) as a', 'length(geom) as l'] })
      assert.deepEqual(found.e.map(Math.round), [8, 47, 8, 47])
      assert.ok((await query(id, { nearest: { point: [8, 47] }, limit: 10 })).length > 4)
      const point = { type: 'Point', coordinates: [8, 47] }
      const near = await query(id, { where: { geom: { $dwithin: { geometry: point, distance: 10 } } } })
      assert.ok(near.length >= 3, JSON.stringify(near))
    }
    const found = await ask(odd, 'filter[geom][$bbox]=7,46,9,48&attributes=id&sort=id')
    assert.deepEqual(
      found.body.map(({ id }: { id: number }) => id),
      [1, 2, 3, 4, 8],
    )
    assert.deepEqual(await longitudes(await made({ source: 'beyond' })), [8, null])
    const stated = await made({ source: 'one_odd', metadata: { srid: 2056 } })
    assert.deepEqual((await longitudes(stated)).slice(1, 5), [8, 8, 8, 7.439])
  })
})
