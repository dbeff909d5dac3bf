import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type TileApp, tileApp, valuesOf } from '../../../testing/tiles.ts'

let maps: TileApp
const ids: Record<string, string> = {}
before(async () => {
  maps = await tileApp()
  await maps.script(`
    CREATE TABLE events (id int PRIMARY KEY, at timestamptz, day date, until date, geom geometry(Point, 4326));
    INSERT INTO events SELECT g, timestamptz '2024-01-15 12:00Z' + (g - 1) * interval '1 month',
      date '2024-01-15' + (g - 1) * 31, date '2024-01-15' + (g - 1) * 31 + 40, ST_Point(g, 10, 4326) FROM generate_series(1, 12) g;
    INSERT INTO events VALUES (13, NULL, NULL, NULL, ST_Point(13, 10, 4326));
    CREATE VIEW instants AS SELECT id, at, geom FROM events;
    CREATE VIEW timeless AS SELECT id, geom FROM events`)
  ids.at = await maps.dataset({ source: 'events', metadata: { time: 'at' } })
  ids.span = await maps.dataset({ source: 'events', metadata: { time: { start: 'day', end: 'until' } } })
  ids.several = await maps.dataset({ source: 'events' })
  ids.only = await maps.dataset({ source: 'instants' })
  ids.timeless = await maps.dataset({ source: 'timeless' })
})
after(() => maps.close())

const tile = (id: string | undefined, query: string) => maps.get(`/tiles/${id}/0/0/0.mvt?${query}`)
const rowsOf = (text: string) => JSON.parse(text).map(({ id }: { id: number }) => id)

describe('the rows of a period', () => {
  const asked: [string, number[]][] = [
    ['2024-01/2024-03', [1, 2, 3]],
    ['2024-12', [12]],
    ['../2024-02-15T12:00:00Z', [1, 2]],
    ['../2024-02-15T13:59:59%2B02:00', [1]],
    ['2024-11/..', [11, 12]],
    ['2023', []],
  ]
  test('are the same in tiles, in queries, in statistics and in OGC items, where those without a time are added', async () => {
    for (const [time, expected] of asked) {
      for (const id of [ids.at, ids.only]) {
        const drawn = await tile(id, `time=${time}`)
        assert.deepEqual(valuesOf(drawn), expected, time)
        const path = `/api/v1/datasets/${id}/query`
        assert.deepEqual(rowsOf((await maps.get(`${path}?time=${time}&attributes=id&sort=id`)).body), expected)
        const body = { time: decodeURIComponent(time), attributes: ['id'], order: ['id'] }
        const { body: posted } = await maps.app.call('POST', path, { key: maps.tenant.developer, body })
        assert.deepEqual(
          posted.map((row: { id: number }) => row.id),
          expected,
        )
        const statistics = await maps.get(`/api/v1/datasets/${id}/attributes/id/statistics?time=${time}`)
        assert.equal(statistics.json().rows.count, expected.length)
        const items = await maps.get(`/ogc/collections/${id}/items?limit=100&sortby=id&datetime=${time}`)
        assert.deepEqual(
          items.json().features.map((feature: { properties: { id: number } }) => feature.properties.id),
          [...expected, 13],
        )
      }
    }
  })

  test('of a beginning and an end are those with a part in it', async () => {
    assert.deepEqual(valuesOf(await tile(ids.span, 'time=2024-03')), [2, 3])
    const { body } = await maps.get(`/api/v1/datasets/${ids.span}/query?time=2024-01-15&attributes=id`)
    assert.deepEqual(rowsOf(body), [1])
  })

  test('and of a filter are those of both', async () => {
    assert.deepEqual(valuesOf(await tile(ids.at, 'time=2024-01/2024-03&filter[id][$gt]=1')), [2, 3])
    const geojson = await maps.get(`/tiles/${ids.at}/0/0/0.geojson?time=2024-02`)
    assert.equal(geojson.json().features.length, 1)
  })

  test('are cached, and asked for by their TileJSON', async () => {
    const { tiles } = (await maps.get(`/tiles/${ids.at}/index.json?time=2024-01/2024-03`)).json()
    assert.match(tiles[0], /[?&]time=2024-01\/2024-03/)
    const first = await tile(ids.at, 'time=2024-01/2024-03')
    const again = await tile(ids.at, 'time=2024-01%2F2024-03&explain=true')
    assert.equal(again.json().cache, 'hit')
    const unchanged = await maps.get(`/tiles/${ids.at}/0/0/0.mvt?time=2024-01/2024-03`, {
      'if-none-match': String(first.headers.etag),
    })
    assert.equal(unchanged.statusCode, 304)
  })
})

describe('a time that cannot be used is refused with what can be', () => {
  const places = (id: string | undefined, time: string) => [
    `/tiles/${id}/0/0/0.mvt?time=${time}`,
    // Where there is nothing to draw, too.
    `/tiles/${id}/9/0/0.mvt?time=${time}`,
    `/tiles/${id}/index.json?time=${time}`,
    `/api/v1/datasets/${id}/query?time=${time}`,
    `/api/v1/datasets/${id}/attributes/id/statistics?time=${time}`,
  ]
  test('in every place', async () => {
    const faults: [string | undefined, string, RegExp][] = [
      [ids.at, 'yesterday', /query\/time: must be a year, month, day, hour or instant.* such as 2024, 2024-03/],
      [ids.at, '2025/2024', /query\/time: must begin before it ends/],
      [ids.several, '2024', /query\/time: needs metadata.time of the dataset.*: one of at, day, until/],
      [ids.timeless, '2024', /query\/time: must not be given: the dataset has no attribute of type date or datetime/],
    ]
    for (const [id, time, message] of faults) {
      for (const place of places(id, time)) {
        const reply = await maps.get(place)
        assert.equal(reply.statusCode, 400, place)
        assert.match(reply.json().detail, message, place)
      }
    }
    const path = `/api/v1/datasets/${ids.at}/query`
    const { status, text } = await maps.app.call('POST', path, { key: maps.tenant.developer, body: { time: 'x' } })
    assert.equal(status, 400)
    assert.match(text, /body\/time: must be/)
  })

  test('in metadata.time, when it is set', async () => {
    for (const [time, message] of [
      [
        'id',
        /body\/metadata\/time: must name attributes of type date or datetime, and \\"id\\" is none. Allowed: at, day, until/,
      ],
      [{ start: 'day', end: 'nothing' }, /"nothing\\" is none/],
      [7, /must be the name of an attribute, or/],
    ] as const) {
      const body = { type: 'table', name: 'a', source: 'events', metadata: { time } }
      const reply = await maps.app.call('POST', '/api/v1/datasets', { key: maps.tenant.developer, body })
      assert.equal(reply.status, 400)
      assert.match(reply.text, message)
    }
  })

  test('but a parameter of the dataset that is called time is its own', async () => {
    const source = 'SELECT id, geom FROM events WHERE id < :time'
    const parameters = [{ name: 'time', type: 'integer' }]
    const id = await maps.dataset({ type: 'sql', source, metadata: { parameters } })
    assert.deepEqual(valuesOf(await tile(id, 'time=3')), [1, 2])
    assert.equal((await maps.get(`/tiles/${id}/index.json?time=3`)).statusCode, 200)
    assert.deepEqual(rowsOf((await maps.get(`/api/v1/datasets/${id}/query?time=3&attributes=id`)).body), [1, 2])
  })
})
