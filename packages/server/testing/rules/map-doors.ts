// The ways to the rows of a dataset by tiles, features and files, each compared with the oracle.
import assert from 'node:assert/strict'
import { featuresOf } from '../tiles.ts'
import type { SearchedReply, Sight } from './matrix-world.ts'
import type { PlainRow } from './plain-table.ts'
import type { Door } from './reading-doors.ts'

const has = ({ view }: Sight, name: string): boolean => view.columns.includes(name)
const hasGeometry = (sight: Sight): boolean => has(sight, sight.table.geometry)
const located = ({ view, table }: Sight) => view.rows.filter(({ cells }) => (cells[table.geometry] ?? null) !== null)

const marksOf = (rows: readonly { readonly cells: PlainRow }[]): string[] =>
  rows.flatMap(({ cells }) => (cells.mark_qz == null ? [] : [String(cells.mark_qz)])).sort()

type Feature = { readonly properties: Readonly<Record<string, unknown>> }

/** The features of a tile are the rows that are seen, with what is seen of them. */
function checkTile(sight: Sight, { status, body, text }: SearchedReply, what: string): void {
  const rows = located(sight)
  const say = `${sight.label}: ${what}: ${text.slice(0, 300)}`
  if (rows.length === 0) {
    assert.ok(status === 204 || body?.features.length === 0, say)
    return
  }
  assert.equal(status, 200, say)
  const features = body.features as Feature[]
  assert.equal(features.length, rows.length, say)
  const marks = features.flatMap(({ properties }) => (properties.mark_qz == null ? [] : [String(properties.mark_qz)]))
  assert.deepEqual(marks.sort(), marksOf(rows), say)
}

async function tiles(sight: Sight): Promise<void> {
  const path = `/tiles/${sight.id}`
  if (!hasGeometry(sight)) {
    const { status } = await sight.ask('GET', `${path}/0/0/0.geojson`)
    return assert.ok(status >= 400, `${sight.label}: a tile without geometry`)
  }
  checkTile(sight, await sight.ask('GET', `${path}/0/0/0.geojson`), 'tile 0')
  // All places are between 7 and 10 degrees east, 46 and 48 north.
  checkTile(sight, await sight.ask('GET', `${path}/4/8/5.geojson`), 'tile 4')
  await sight.ask('GET', `${path}/9/266/180.geojson`)
  const vector = await sight.ask('GET', `${path}/0/0/0.mvt`)
  const features = vector.status === 204 ? [] : featuresOf(vector.raw)
  assert.equal(features.length, located(sight).length, `${sight.label}: vector tile`)
  if (has(sight, 'mark_qz')) {
    const marks = features.flatMap(({ properties }) => (properties.mark_qz == null ? [] : [String(properties.mark_qz)]))
    assert.deepEqual(marks.sort(), marksOf(located(sight)), `${sight.label}: vector tile`)
  }
}

async function tileParameters(sight: Sight): Promise<void> {
  if (!hasGeometry(sight)) return
  const tile = (rest: string) => sight.ask('GET', `/tiles/${sight.id}/0/0/0.geojson?${rest}`)
  if (has(sight, 'level_qz')) {
    const { body, status, text } = await tile('filter[level_qz][$gte]=2&attributes=level_qz')
    const expected = located(sight).filter(({ cells }) => Number(cells.level_qz ?? -1) >= 2).length
    assert.equal(status === 204 ? 0 : body?.features.length, expected, `${sight.label}: filtered tile ${text}`)
  } else assert.equal((await sight.askNaming('GET', `/tiles/${sight.id}/0/0/0.geojson?filter[level_qz]=2`)).status, 400)
  const cells = await tile('aggregate=h3:1')
  const features = (cells.body?.features ?? []) as Feature[]
  const total = features.reduce((sum, { properties }) => sum + Number(properties.count), 0)
  // A cell that crosses the edge of the world is there twice.
  assert.equal(total, located(sight).length, `${sight.label}: tile of cells`)
  await tile('limit=2')
  const days = ['day_qz', 'at_qz'].filter((name) => has(sight, name))
  const timed = await tile('time=2011')
  assert.equal(timed.status < 400, days.length === 1, `${sight.label}: tile with time ${timed.text}`)
  const explained = await sight.ask('GET', `/tiles/${sight.id}/0/0/0.mvt?explain=true`)
  if (sight.view.isBound)
    assert.deepEqual(
      [explained.body.sql, explained.body.plan],
      [undefined, undefined],
      `${sight.label}: plan of a tile`,
    )
}

async function tileDocuments(sight: Sight): Promise<void> {
  const { body, status } = await sight.ask('GET', `/tiles/${sight.id}/index.json`)
  await sight.ask('GET', `/tiles/${sight.id}/style.json`)
  if (!hasGeometry(sight)) return assert.ok(status >= 400, sight.label)
  const fields = Object.keys(body.vector_layers[0].fields)
  assert.ok(
    fields.every((name) => has(sight, name)),
    `${sight.label}: TileJSON`,
  )
  if (sight.view.isBound) assert.ok(body.bounds[2] - body.bounds[0] > 300, `${sight.label}: bounds`)
}

type Source = { readonly id: string; readonly extentLngLat: readonly [number, number, number, number] }

/** A tile source of the dataset, which somebody else has made: its record, its list, its tiles. */
async function tileSource(sight: Sight): Promise<void> {
  const { tileSourceId: id, label, view } = sight
  const { body, status } = await sight.ask('GET', `/api/v1/tilesources/${id}`)
  // Keys of users reach no tile sources.
  if (status === 404) return
  const listed = await sight.ask('GET', '/api/v1/tilesources?limit=100')
  const inList = (listed.body as Source[]).find((one) => one.id === id)
  for (const one of [body as Source, inList])
    if (view.isBound && one)
      assert.ok(one.extentLngLat[2] - one.extentLngLat[0] > 300, `${label}: extent of a tile source`)
  const tile = await sight.ask('GET', `/tiles/${id}/0/0/0.geojson`)
  if (hasGeometry(sight)) checkTile(sight, tile, 'tile of a source')
  else assert.ok(tile.status >= 400, `${label}: tile of a source without geometry`)
  await sight.ask('GET', `/tiles/${id}/index.json`)
  await sight.ask('GET', `/tiles/${id}/0/0/0.mvt?explain=true`)
}

const ogc = ({ id }: Sight, rest = ''): string => `/ogc/collections/${id}${rest}`

async function ogcDocuments(sight: Sight): Promise<void> {
  for (const rest of ['', '/tiles', '/tiles/WebMercatorQuad', '/tiles/WebMercatorQuad?f=tilejson', '?f=html'])
    await sight.ask('GET', ogc(sight, rest))
  const { body } = await sight.ask('GET', ogc(sight))
  const box = body.extent?.spatial?.bbox[0]
  if (sight.view.isBound && box) assert.ok(box[2] - box[0] > 300, `${sight.label}: extent`)
  for (const kind of ['schema', 'queryables', 'sortables']) {
    const schema = await sight.ask('GET', ogc(sight, `/${kind}`))
    const names = Object.keys(schema.body.properties)
    assert.ok(
      names.every((name) => has(sight, name)),
      `${sight.label}: ${kind}`,
    )
  }
  await sight.askNaming('GET', '/ogc/collections?limit=1000')
}

async function ogcItems(sight: Sight): Promise<void> {
  const { body, status, text } = await sight.ask('GET', ogc(sight, '/items?limit=500'))
  assert.equal(status, 200, text)
  assert.deepEqual(
    [body.numberReturned, body.numberMatched],
    [sight.view.rows.length, sight.view.rows.length],
    `${sight.label}: items`,
  )
  const marks = (body.features as Feature[]).flatMap(({ properties: { mark_qz } }) =>
    mark_qz == null ? [] : [String(mark_qz)],
  )
  if (has(sight, 'mark_qz')) assert.deepEqual(marks.sort(), marksOf(sight.view.rows), `${sight.label}: items`)
  const hits = await sight.ask('GET', ogc(sight, '/items?resultType=hits'))
  assert.equal(hits.body.numberMatched, sight.view.rows.length, `${sight.label}: hits`)
  await sight.ask('GET', ogc(sight, '/items?bbox=6,45,8.2,48&limit=3'))
  if (has(sight, 'team_qz'))
    await sight.ask('GET', ogc(sight, `/items?filter=${encodeURIComponent("team_qz='t1'")}&limit=3`))
  await sight.ask('GET', ogc(sight, '/items?f=html&limit=4'))
  if (hasGeometry(sight)) await sight.ask('GET', ogc(sight, '/tiles/WebMercatorQuad/0/0/0'))
}

/** One row by its key, of those that are seen, and of those that are not. */
async function rowsByKey(sight: Sight): Promise<void> {
  const { key, rows } = sight.table
  if (!key) return
  const seen = new Map(sight.view.rows.map(({ row, cells }) => [row, cells]))
  const absent = await sight.ask('GET', `/api/v1/datasets/${sight.id}/rows/9999`)
  const isShown = rows.filter((row) => (seen.get(row)?.[key] ?? null) !== null).slice(0, 2)
  const isNotShown = rows.filter((row) => (seen.get(row)?.[key] ?? null) === null).slice(0, 2)
  for (const row of isShown) {
    const path: string = `/api/v1/datasets/${sight.id}/rows/${row[key]}`
    const { status, body, headers, text } = await sight.ask('GET', path)
    assert.equal(status, 200, `${sight.label}: ${path}: ${text}`)
    assert.deepEqual(Object.keys(body), [...sight.view.columns], `${sight.label}: ${path}`)
    assert.equal(body.mark_qz ?? null, seen.get(row)?.mark_qz ?? null)
    const again = await sight.ask('GET', path, { headers: { 'if-none-match': String(headers.etag) } })
    assert.equal(again.status, 304)
    assert.equal((await sight.ask('GET', ogc(sight, `/items/${row[key]}`))).status, 200, `${sight.label}: item`)
  }
  for (const row of isNotShown) {
    const hidden = await sight.askNaming('GET', `/api/v1/datasets/${sight.id}/rows/${row[key]}`)
    assert.deepEqual(
      [hidden.status, hidden.body?.detail],
      [absent.status, absent.body?.detail],
      `${sight.label}: hidden row`,
    )
    assert.ok([404, 409].includes(hidden.status), hidden.text)
    assert.equal(
      (await sight.askNaming('GET', ogc(sight, `/items/${row[key]}`))).status,
      404,
      `${sight.label}: hidden item`,
    )
  }
}

async function record(sight: Sight): Promise<void> {
  const path = `/api/v1/datasets/${sight.id}`
  const { body, status } = await sight.ask('GET', path)
  assert.equal(status, 200)
  const { attributes } = body as { attributes: { name: string }[] }
  const names = attributes.map(({ name }) => name)
  assert.deepEqual(names, [...sight.view.columns], `${sight.label}: record`)
  const listed = await sight.askNaming('GET', '/api/v1/datasets?limit=100')
  const own = (listed.body as { id: string; attributes: { name: string }[] }[]).find(({ id }) => id === sight.id)
  assert.deepEqual(
    own?.attributes.map(({ name }) => name),
    names,
    `${sight.label}: list`,
  )
  if (!sight.view.isBound) return
  assert.deepEqual([body.rules, body.rowEstimate, body.bytes], [null, null, null], sight.label)
  for (const filter of ['filter[rowEstimate][$gte]=0', 'filter[bytes][$gte]=0']) {
    const found = await sight.askNaming('GET', `/api/v1/datasets?${filter}&limit=100`)
    const ids = ((found.body ?? []) as { id: string }[]).map(({ id }) => id)
    assert.ok(!ids.includes(sight.id), `${sight.label}: ${filter}`)
  }
  const hidden = Object.keys(sight.table.kinds).find((name) => !has(sight, name))
  if (!hidden) return
  const found = await sight.askNaming(
    'GET',
    `/api/v1/datasets?filter=${encodeURIComponent(JSON.stringify({ attributes: { $contains: [{ name: hidden }] } }))}`,
  )
  const ids = (found.status === 200 ? (found.body as { id: string }[]) : []).map(({ id }) => id)
  assert.ok(!ids.includes(sight.id), `${sight.label}: attributes in a filter`)
}

export const mapDoors: readonly Door[] = [
  ...[tiles, tileParameters, tileDocuments, tileSource, ogcDocuments, ogcItems, rowsByKey, record],
]
