import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { type Tenant, type TestApp, testApp } from '../testing/harness.ts'

let app: TestApp
let tenant: Tenant
let places: string
before(async () => {
  app = await testApp()
  tenant = await app.tenant('maps')
  const schema = `app_${tenant.id.replaceAll('-', '')}`
  await app.db.script(`
    CREATE TABLE ${schema}.places (
      id int8 PRIMARY KEY, name text, pop int8, area numeric, open bool, at timestamptz, day date, tags text[],
      info jsonb, code uuid, bytes bytea, ratio float8, geom geometry(Point, 4326));
    INSERT INTO ${schema}.places VALUES
      (1, 'Aachen', 9007199254740993, 160.85, true, '2026-01-31 10:00:00.5+00', '2026-01-31', '{a,"b c"}',
       '{"x": [1, null]}', '00000000-0000-4000-8000-000000000001', '\\x00ff', 'NaN', ST_Point(6.08, 50.77, 4326)),
      (2, 'Berlin', 3700000, 891.12, false, 'infinity', '2000-01-01', '{}', '{}', NULL, NULL, 0.1,
       ST_Point(13.4, 52.52, 4326)),
      (3, 'nowhere', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      (4, 'Suva', 93970, 2048, true, '2026-06-01T00:00:00Z', '2026-06-01', '{x}', '[]', NULL, NULL, 1e20,
       ST_Point(178.44, -18.14, 4326));
    CREATE INDEX ON ${schema}.places USING gist (geom);
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema};`)
  const body = { type: 'table', name: 'places', source: 'places' }
  places = (await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })).body.id
})
after(() => app.close())

const get = async (path: string, headers: Record<string, string> = {}, key = tenant.developer) => {
  const reply = await app.http.inject({ method: 'GET', url: path, headers: { 'x-api-key': key, ...headers } })
  return reply
}
const features = (bytes: Buffer) => {
  const { geometry: layer } = new VectorTile(new PbfReader(bytes)).layers
  return Array.from({ length: layer?.length ?? 0 }, (_, index) => layer?.feature(index))
}

describe('a dataset is a map', () => {
  test('its tile has the features that lie in it, with their attributes', async () => {
    const reply = await get(`/tiles/${places}/0/0/0.mvt`)
    assert.equal(reply.statusCode, 200, reply.body)
    assert.equal(reply.headers['content-type'], 'application/vnd.mapbox-vector-tile')
    assert.equal(reply.headers['x-tile-features'], '3/3')
    const [aachen, berlin] = features(reply.rawPayload)
    assert.equal(aachen?.id, 1)
    assert.deepEqual(
      { ...aachen?.properties },
      {
        id: 1,
        name: 'Aachen',
        pop: '9007199254740993',
        area: 160.85,
        open: true,
        at: '2026-01-31T10:00:00.5Z',
        day: '2026-01-31',
        tags: '["a","b c"]',
        info: '{"x": [1, null]}',
        code: '00000000-0000-4000-8000-000000000001',
        ratio: 'NaN',
      },
    )
    assert.equal(berlin?.properties.open, false)
  })
})
