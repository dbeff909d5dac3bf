import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { compileSql, raw } from '../db/sql.ts'
import type { Attribute } from '../query/attribute.ts'
import { type TileApp, tileApp } from '../testing/tiles.ts'
import { createDetect } from './detect.ts'
import type { TileArchives, TileData, TileDatasets } from './known-sources.ts'

const geometry: Attribute = { name: 'geom', type: 'geometry', srid: 4326 }
const noArchives: TileArchives = { info: () => Promise.reject(new Error('There are none')) }

/** A table of which the planner thinks that reading it costs so much; notes what is asked of its server. */
function tableOf(
  planned: { rows: number; cost: number },
  estimate: Awaited<ReturnType<NonNullable<TileDatasets['estimate']>>>,
) {
  const asked: string[] = []
  const plan = JSON.stringify([{ Plan: { 'Plan Rows': planned.rows, 'Total Cost': planned.cost } }])
  const answer = (...cells: string[]) => Promise.resolve({ batches: [[cells]] as unknown as AsyncIterable<string[][]> })
  const opened: TileData = {
    rows: () => {
      asked.push('all rows')
      return answer('[1,2,3,4]', '7')
    },
    inSql: {
      connection: {
        schema: 'public',
        select: (statement) => {
          asked.push(compileSql(statement).text.split(' ', 1)[0] ?? '')
          return answer(plan) as never
        },
        load: () => Promise.reject(new Error('read-only')),
      },
      relation: { from: raw('t'), key: [], isTable: false },
      isOurs: true,
    },
  }
  const dto = { name: 'geom', type: 'geometry', geometryType: 'Point', dbType: 'geometry' }
  const data = {
    find: async () => ({ dtos: [dto], attributes: new Map([['geom', geometry]]), metadata: {} }),
    open: async () => opened,
    estimate: async () => {
      asked.push('statistics')
      return estimate
    },
  } as unknown as TileDatasets
  return { asked, detected: () => createDetect(data, noArchives)('app', 'dataset', 'id') }
}

describe('what a dataset covers', () => {
  test('is read from its rows where the planner expects few', async () => {
    const { asked, detected } = tableOf({ rows: 7, cost: 20 }, undefined)
    const { extentLngLat, isEstimate } = await detected()
    assert.deepEqual(extentLngLat.map(Math.round), [1, 2, 3, 4])
    assert.equal(isEstimate, undefined)
    assert.deepEqual(asked, ['EXPLAIN', 'all rows'])
  })

  for (const planned of [
    { rows: 3e6, cost: 100 },
    { rows: 100, cost: 3e6 },
  ]) {
    test(`is estimated without reading a row of ${planned.rows} that cost ${planned.cost}`, async () => {
      const { asked, detected } = tableOf(planned, { rows: 3e6, extent: [10, 20, 30, 40] })
      const { extentLngLat, isEstimate, maxZoom } = await detected()
      assert.deepEqual(extentLngLat.map(Math.round), [10, 20, 30, 40])
      assert.ok(isEstimate && maxZoom >= 14)
      assert.deepEqual(asked, ['EXPLAIN', 'statistics'])
    })
  }

  test('is everywhere where nothing is known of a large table', async () => {
    const { asked, detected } = tableOf({ rows: 3e6, cost: 3e6 }, undefined)
    const { extentLngLat, isEstimate } = await detected()
    assert.deepEqual(extentLngLat.map(Math.round), [-180, -85, 180, 85])
    assert.ok(isEstimate)
    assert.deepEqual(asked, ['EXPLAIN', 'statistics'])
  })
})

describe('a large table', () => {
  let maps: TileApp
  before(async () => {
    maps = await tileApp()
    await maps.script(`
      CREATE TABLE large (id int PRIMARY KEY, geom geometry(Point, 4326));
      INSERT INTO large SELECT i, ST_Point(10 + i % 100 / 10.0, 40 + i % 90 / 10.0, 4326) FROM generate_series(1, 60000) AS i;
      ANALYZE large`)
  })
  after(() => maps.close())

  test('has about its extent in TileJSON, and tiles of all its rows', async () => {
    const id = await maps.dataset({ source: 'large' })
    const [west, south, east, north] = (await maps.get(`/tiles/${id}/index.json`)).json().bounds
    assert.ok(
      Math.abs(west - 10) < 1 && Math.abs(south - 40) < 1 && Math.abs(east - 20) < 1 && Math.abs(north - 49) < 1,
    )
    // Statistics do not know of it.
    await maps.script('INSERT INTO large VALUES (0, ST_Point(-100, -40, 4326))')
    const reply = await maps.get(`/tiles/${id}/4/3/9.mvt`)
    assert.equal(reply.statusCode, 200, reply.body)
    assert.equal(reply.headers['x-tile-features'], '1/1')
  })
})
