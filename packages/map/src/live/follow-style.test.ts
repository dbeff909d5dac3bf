import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setBuoys } from '../../testing/buoys.ts'
import { setStage } from '../../testing/stage.ts'

// Sources of a style and explicit tile sources, which know their dataset from the TileJSON only.

const stage = setStage()
const buoys = setBuoys(stage)
const { move, follow } = buoys

let tileSource: string
/** Streams of changes: those that were asked for, and how many of them have ended. */
const streams = { asked: [] as string[], ended: 0 }

const call = async (method: 'POST' | 'DELETE', path: string, body?: object) => {
  const { app, tenant } = stage.world
  return (await app.call(method, `/api/v1/${path}`, { key: tenant.developer, ...(body && { body }) })).body
}

beforeEach(async () => {
  tileSource = (await call('POST', 'tilesources', { type: 'dataset', source: buoys.dataset, name: 'Buoys' })).id
  Object.assign(streams, { asked: [], ended: 0 })
  stage.page.on('request', (request) => {
    const [, id] = /datasets\/([^/]+)\/changes/.exec(request.url()) ?? []
    if (id) streams.asked.push(id)
  })
  stage.page.on('requestfailed', (request) => {
    if (request.url().includes('/changes')) streams.ended++
  })
})
afterEach(async () => {
  stage.page.removeAllListeners('requestfailed')
  await call('DELETE', `tilesources/${tileSource}`)
})

const vector = (id: string) => ({ type: 'vector', url: `${stage.world.url}/tiles/${id}/index.json` })

/** A style with a layer of points of each source. */
function styleOf(sources: Record<string, object>) {
  const layers = Object.keys(sources).map((source) => ({
    id: source,
    type: 'circle',
    source,
    'source-layer': source === 'world' ? 'places' : 'geometry',
    paint: { 'circle-radius': 6, 'circle-color': '#1864ab' },
  }))
  return { version: 8, sources, layers }
}

/** Opens a live map, and waits until the server follows the dataset for it. */
async function showStyle(style: object): Promise<void> {
  const { url, key } = stage.world
  const isFollowed = stage.page.waitForResponse((response) => response.url().includes(`${buoys.dataset}/changes`))
  await stage.page.evaluate(
    async (options) => {
      await tools.open(options as never).ready()
      await tools.settled()
    },
    { url, key, zoom: 3, live: true, style },
  )
  assert.equal((await isFollowed).status(), 200)
}

const until = (holds: string) => stage.page.waitForFunction(holds)
const errors = () => stage.page.evaluate(() => tools.errors)
/** Resolves when as many streams have ended. */
async function streamsEnded(count: number): Promise<void> {
  while (streams.ended < count) await stage.page.waitForEvent('requestfailed')
}

test('a live map follows the sources of its style, those of one dataset by one stream, and leaves others as they are', async () => {
  const query = (await call('POST', 'datasets', { type: 'sql', name: 'some', source: 'SELECT * FROM buoys' })).id
  const foreign = { type: 'vector', tiles: ['http://127.0.0.1:9/tiles/{z}/{x}/{y}.pbf'], minzoom: 20 }
  const world = vector('basemap')
  await showStyle(
    styleOf({ explicit: vector(tileSource), own: vector(buoys.dataset), query: vector(query), foreign, world }),
  )
  await until('tools.ended.length > 0')
  await move(3, 5, -14)
  await follow(3, 5, -14, 'explicit')
  await follow(3, 5, -14, 'own')
  assert.deepEqual(await stage.page.evaluate(() => tools.ended), ['query'])
  assert.deepEqual(streams.asked.sort(), [buoys.dataset, query].sort())
  assert.deepEqual(await errors(), [])
  await call('DELETE', `datasets/${query}`)
})

test('a stream ends with the last source that needs it, and another style begins its own', async () => {
  const style = styleOf({ explicit: vector(tileSource), own: vector(buoys.dataset) })
  await showStyle(style)
  const remove = (id: string) =>
    stage.page.evaluate((id) => {
      tools.kept.map.gl.removeLayer(id)
      tools.kept.map.gl.removeSource(id)
    }, id)
  await remove('own')
  await move(3, 5, -14)
  await follow(3, 5, -14, 'explicit')
  assert.equal(streams.ended, 0)
  await remove('explicit')
  await streamsEnded(1)
  await stage.page.evaluate((style) => tools.kept.map.setStyle(style as never), style)
  await follow(3, 5, -14, 'own')
  await move(3, 5, 14)
  await follow(3, 5, 14, 'own')
  await stage.page.evaluate(() => tools.kept.map.setLive(false))
  await streamsEnded(2)
  assert.deepEqual([streams.asked.length, await errors()], [2, []])
})

test('a dataset that is deleted ends its stream with an event, and is not asked for again', async () => {
  await showStyle(styleOf({ own: vector(buoys.dataset) }))
  await call('DELETE', `tilesources/${tileSource}`)
  await call('DELETE', `datasets/${buoys.dataset}`)
  await until('tools.ended.length > 0')
  assert.deepEqual(await stage.page.evaluate(() => [tools.ended, tools.errors]), [['own'], []])
  assert.deepEqual(streams.asked, [buoys.dataset])
})

for (const [name, src] of [
  ['the id of a tile source', () => tileSource],
  ['the address of a TileJSON', () => vector(tileSource).url],
  ['an address of tiles', () => `${stage.world.url}/tiles/${tileSource}/{z}/{x}/{y}.mvt?filter[id]=3`],
] as const)
  test(`a data source follows ${name}`, async () => {
    await stage.page.evaluate(
      async ([map, src]) => {
        const svcMap = tools.open(map as never)
        await svcMap.ready()
        new tools.DataSource({ id: 'places', live: true, svcMap, src })
        await tools.settled()
      },
      [{ url: stage.world.url, key: stage.world.key, zoom: 3 }, src()] as const,
    )
    await follow(3, 20, -15)
    await move(3, 5, 14)
    await follow(3, 5, 14)
    assert.deepEqual([streams.asked, await errors(), stage.page.faults], [[buoys.dataset], [], []])
  })

test('a hidden page has no connection, and catches up when it is shown again', async () => {
  const setHidden = (isHidden: boolean) =>
    stage.page.evaluate((isHidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden })
      document.dispatchEvent(new Event('visibilitychange'))
    }, isHidden)
  await showStyle(styleOf({ own: vector(buoys.dataset) }))
  await move(3, 5, -14)
  await follow(3, 5, -14, 'own')
  await setHidden(true)
  await streamsEnded(1)
  await move(3, 5, 14)
  const again = stage.page.waitForRequest((request) => request.url().includes('/changes'))
  await setHidden(false)
  // It goes on behind the last event, so that not everything is loaded again.
  assert.match((await again).url(), /lastEventId=/)
  await follow(3, 5, 14, 'own')
  assert.deepEqual(await errors(), [])
})
