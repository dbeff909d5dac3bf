import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { answerFormats } from '../../query/formats/answer-formats.ts'

// One database is enough: exports.test.ts holds exports equal on both, and readers of uploads know no database.

let app: UploadApp
before(async () => {
  app = await uploadApp()
})
after(() => app.close())

const towns = {
  type: 'FeatureCollection',
  features: [
    { name: 'Bern', n: 1, at: '2026-01-31T10:20:30Z', x: 7.44 },
    { name: 'Thun “Süd”', n: 9_007_199_254_740_991, at: '2026-02-28T00:00:00Z', x: 7.63 },
  ].map(({ x, ...properties }) => ({
    type: 'Feature',
    properties,
    geometry: { type: 'Point', coordinates: [x, 46.5] },
  })),
}

test('what is exported can be uploaded again, in every format', async () => {
  const first = await app.upload({ name: 'towns.geojson', bytes: JSON.stringify(towns) })
  const query = (id: string, text: string) =>
    fetch(`${app.address}/api/v1/datasets/${id}/query?${text}`, { headers: { 'x-api-key': app.tenant.developer } })
  const columns = 'attributes=name,n,geom&sort=name'
  const expected = await (await query(first.datasetId, columns)).json()
  for (const format of ['fgb', 'gpkg', 'parquet', 'shp', 'kml', 'ndjson', 'xlsx'] as const) {
    const file = await query(first.datasetId, `format=${format}&attributes=name,n,at,geom`)
    const name = `again.${answerFormats[format].extension}`
    const { status, datasetId, error } = await app.upload({ name, bytes: new Uint8Array(await file.arrayBuffer()) })
    assert.equal(status, 'completed', `${format}: ${JSON.stringify(error)}`)
    const rows = (await (await query(datasetId, 'sort=name')).json()) as Record<string, unknown>[]
    const found = rows.map(({ name: town, n, geom, geometry }) => ({
      name: town,
      n: Number(n),
      geom: geom ?? geometry,
    }))
    assert.deepEqual(found, expected, format)
  }
})
