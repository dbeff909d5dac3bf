import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileSql, raw } from '../../../kernel/db/sql.ts'
import type { TileData, TileDatasets, TileSourceContext } from './tile-source-type.ts'
import { datasetType } from './types/dataset.ts'

/** A table of which the planner thinks that reading it costs so much; notes what is asked of its server. */
function tableOf(
  planned: { rows: number; cost: number },
  estimate: Awaited<ReturnType<NonNullable<TileDatasets['estimate']>>>,
) {
  const asked: string[] = []
  const plan = JSON.stringify([{ Plan: { 'Plan Rows': planned.rows, 'Total Cost': planned.cost } }])
  const answer = async (...cells: string[]) => ({ columns: [], batches: [[cells]] })
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
      },
      relation: { from: raw('t'), key: [], isTable: false },
      isTrusted: true,
    },
  }
  const dto = { name: 'geom', type: 'geometry', geometryType: 'Point', dbType: 'geometry(Point,4326)', srid: 4326 }
  const data = {
    find: async () => ({ attributes: [dto], metadata: {} }),
    open: async () => opened,
    estimate: async () => {
      asked.push('statistics')
      return estimate
    },
  } as unknown as TileDatasets
  return { asked, detected: () => datasetType.detect({ data } as TileSourceContext, 'app', 'id') }
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
