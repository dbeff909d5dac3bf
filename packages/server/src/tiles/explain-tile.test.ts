import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type TileApp, tileApp } from '../testing/tiles.ts'

let maps: TileApp
before(async () => {
  maps = await tileApp()
})
after(() => maps.close())

async function hintsOf(dataset: Record<string, unknown>): Promise<string[]> {
  const id = await maps.dataset(dataset)
  const reply = await maps.get(`/tiles/${id}/8/135/77.mvt?explain=true`)
  assert.equal(reply.statusCode, 200, reply.body)
  return (reply.json().hints as string[]).filter((hint) => hint.includes('spatial index'))
}

const table = (name: string, rows: number): string => `
  CREATE TABLE ${name} (id int PRIMARY KEY, geom geometry(Point, 4326));
  INSERT INTO ${name} SELECT i, ST_Point(10 + i % 100 / 10.0, 40 + i % 90 / 10.0, 4326) FROM generate_series(1, ${rows}) AS i;`

describe('explain says that a spatial index is missing', () => {
  for (const rows of [10, 20_000]) {
    test(`of a table of ${rows} rows, analysed or not, until there is one`, async () => {
      const name = `bare_${rows}`
      await maps.script(table(name, rows))
      const missing = [
        `${maps.schema}.${name} has no spatial index on "geom", so each tile reads all of it. Add one: CREATE INDEX ON ${maps.schema}.${name} USING gist ("geom").`,
      ]
      assert.deepEqual(await hintsOf({ source: name }), missing)
      await maps.script(`ANALYZE ${name}`)
      assert.deepEqual(await hintsOf({ source: name }), missing)
      await maps.script(`CREATE INDEX ON ${name} USING gist (geom)`)
      assert.deepEqual(await hintsOf({ source: name }), [])
      await maps.script(`ANALYZE ${name}`)
      assert.deepEqual(await hintsOf({ source: name }), [])
    })
  }

  test('of the table behind a view or a query, whatever they call its column', async () => {
    await maps.script(`${table('behind', 10)} CREATE VIEW shown AS SELECT id, geom AS place FROM behind`)
    const [hint, ...others] = await hintsOf({ source: 'shown' })
    assert.match(String(hint), /behind has no spatial index on "geom"/)
    assert.deepEqual(others, [])
    const [again] = await hintsOf({ type: 'sql', source: 'SELECT id, geom AS place FROM behind' })
    assert.equal(again, hint)
  })

  test('not of one that has an index of another kind that serves', async () => {
    await maps.script(`${table('flat', 10)} CREATE INDEX ON flat USING brin (geom)`)
    assert.deepEqual(await hintsOf({ source: 'flat' }), [])
  })
})
