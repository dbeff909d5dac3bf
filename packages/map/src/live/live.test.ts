import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from 'playwright-core'
import { screenshot } from '../../testing/browser.ts'
import { setBuoys } from '../../testing/buoys.ts'
import { setStage } from '../../testing/stage.ts'

// Two pages: one writes by the client, the map of the other follows. Nothing waits for a time, only for what is seen.

const stage = setStage()
const buoys = setBuoys(stage)
const { move, follow } = buoys

type Options = Record<string, unknown>

/** A base map for the pictures of docs/live.md, which are live-before and live-after; tests need not load it. */
const pictured = () => (process.env.SCREENSHOTS ? { style: stage.world.light } : {})

/** Opens a map of the buoys, and waits until the server follows the table for it. */
async function showLive(options: Options = {}): Promise<void> {
  const { url, key } = stage.world
  const isFollowed = stage.page.waitForResponse((response) => response.url().includes('/changes'))
  await stage.page.evaluate(
    async ([map, source]) => {
      const svcMap = tools.open(map as never)
      await svcMap.ready()
      tools.kept.source = new tools.DataSource({ id: 'places', live: true, svcMap, ...source } as never)
      await tools.settled()
    },
    [
      { url, key, zoom: 3, ...pictured() },
      { src: buoys.dataset, ...options },
    ] as const,
  )
  assert.equal((await isFollowed).status(), 200)
}

const noErrors = async () =>
  assert.deepEqual([await stage.page.evaluate(() => tools.errors), stage.page.faults], [[], []])

/** The tiles that are asked for from now on. */
function watchTiles(): Set<string> {
  const asked = new Set<string>()
  stage.page.on('request', (request) => {
    const [, id, tile] = /tiles\/([^/]+)\/(\d+\/\d+\/\d+)\.mvt/.exec(request.url()) ?? []
    if (tile && id === buoys.dataset) asked.add(tile)
  })
  return asked
}

test('the map of one page follows the point that another page moves, and asks only for the tiles of both places', async () => {
  await showLive()
  await follow(3, 20, -15)
  await stage.page.evaluate(() => tools.watchFrames('places', [1, 2, 3]))
  // Where nothing was before, and the TileJSON said so: the tiles there have not been asked for yet.
  await move(3, 20, 15)
  await follow(3, 20, 15)
  const asked = watchTiles()
  await move(3, 5, -14)
  await follow(3, 5, -14)
  assert.deepEqual([...asked].sort(), ['3/4/3', '3/4/4'])
  asked.clear()
  await screenshot(stage.page, 'live-before')
  await move(3, 8, -5)
  await follow(3, 8, -5)
  // The other one may still be loading from the move before, and is then asked for again.
  assert.ok(asked.has('3/4/4') && asked.isSubsetOf(new Set(['3/4/3', '3/4/4'])), [...asked].join(' '))
  await screenshot(stage.page, 'live-after')
  assert.deepEqual(await stage.page.evaluate(() => tools.missedInFrames()), [], 'points that flickered')
  await noErrors()
})

const isTile = (url: URL, tile: string) => url.pathname.endsWith(`/${buoys.dataset}/${tile}.mvt`)

/** Answers the requests of one tile later than the others. */
async function delay(tile: string): Promise<() => Promise<void>> {
  const isMeant = (url: URL) => isTile(url, tile)
  await stage.page.route(isMeant, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 200))
    await route.continue()
  })
  return () => stage.page.unroute(isMeant)
}

const places: [number, number][] = [
  [5, 14],
  [-7, -14],
  [5, -14],
]

/** Shows the third point at the last of the places, and looks at them in every frame from then on. */
async function watchPoint(type: string): Promise<void> {
  await showLive({ type })
  await move(3, 5, -14)
  await follow(3, 5, -14)
  await stage.page.evaluate((at) => tools.watchPlaces(at), places)
}

async function assertOneInEachFrame(): Promise<void> {
  const frames = await stage.page.evaluate(() => tools.drawnPlaces)
  assert.ok(frames.length > places.length, `${frames.length} frames`)
  assert.deepEqual([...new Set(frames)], [1], frames.join(' '))
}

for (const [type, lateTiles] of Object.entries({ vector: ['3/4/4', '3/4/3', '3/3/4'], geojson: ['none'] }))
  test(`a point that moves to and fro between tiles is at exactly one place in every frame (${type})`, async () => {
    await watchPoint(type)
    for (const late of lateTiles) {
      const undelay = await delay(late)
      for (const [longitude, latitude] of places) {
        await move(3, longitude, latitude)
        await follow(3, longitude, latitude)
      }
      await undelay()
    }
    await assertOneInEachFrame()
    await noErrors()
  })

test('a point that moves back while its tiles are read is at exactly one place in every frame', async () => {
  await watchPoint('vector')
  const reads: string[] = []
  stage.page.on('response', (response) => isTile(new URL(response.url()), '3/4/4') && reads.push(response.url()))
  const isLeft = stage.page.waitForResponse((response) => isTile(new URL(response.url()), '3/4/4'))
  // One tile is read when the point has left it, the other when the point has left that too.
  const moveBack = async (route: Route) => {
    await isLeft
    await move(3, 5, -14)
    await route.continue()
  }
  await stage.page.route((url) => isTile(url, '3/4/3'), moveBack, { times: 1 })
  await move(3, 5, 14)
  while (reads.length < 2) await stage.page.waitForResponse((response) => isTile(new URL(response.url()), '3/4/4'))
  await follow(3, 5, -14)
  await assertOneInEachFrame()
  await noErrors()
})

test('a change that is committed while the one before is looked at is shown too', async () => {
  await showLive()
  await follow(3, 20, -15)
  const isOfChange = (url: URL) => /^\d+\.\d+$/.test(url.searchParams.get('tile-version') ?? '')
  // The version that the first change leads to is then that of the second, of which the map has not heard yet.
  const moveAnother = async (route: Route) => {
    await move(1, -20, 10)
    await route.continue()
  }
  await stage.page.route(
    (url) => url.pathname.endsWith(`/${buoys.dataset}/index.json`) && isOfChange(url),
    moveAnother,
    {
      times: 1,
    },
  )
  await move(3, 20, -10)
  await follow(3, 20, -10)
  await follow(1, -20, 10)
  await noErrors()
})

test('what changed out of view is new when it comes into view again', async () => {
  await showLive()
  await follow(3, 20, -15)
  const jump = (longitude: number) =>
    stage.page.evaluate(
      (center) => {
        tools.kept.map.gl.jumpTo({ center })
        return tools.settled()
      },
      [longitude, 0] as [number, number],
    )
  await jump(150)
  await move(3, 20, -10)
  // The map has heard of it when it shows what was written after it.
  await move(1, 150, -10)
  await follow(1, 150, -10)
  await jump(0)
  await follow(3, 20, -10)
  await noErrors()
})

test('a live GeoJSON source follows, also what is written in the database, and keeps what is selected', async () => {
  await showLive({ type: 'geojson', selectionMode: 'single' })
  await stage.page.evaluate(() => tools.kept.source.select(3))
  const { app, schema } = stage.world
  await app.db.script(`UPDATE ${schema}.buoys SET name = 'Moved', geom = public.ST_Point(20, 10, 4326) WHERE id = 3`)
  await follow(3, 20, 10)
  assert.deepEqual(
    await stage.page.evaluate(() => tools.kept.source.selectedFeatures.map(({ properties }) => properties?.name)),
    ['Moved'],
  )
  await noErrors()
})

test('while no layer is visible nothing is asked for, and then what has changed since', async () => {
  await showLive()
  await follow(3, 20, -15)
  const setVisibility = (value: 'none' | 'visible') =>
    stage.page.evaluate((visibility) => {
      const { map, source } = tools.kept
      for (const id of source.layerIds) map.gl.setLayoutProperty(id, 'visibility', visibility)
      return tools.settled()
    }, value)
  await setVisibility('none')
  const asked: string[] = []
  stage.page.on('request', (request) => asked.push(request.url()))
  const isHeard = stage.page.evaluate(
    ([dataset]) =>
      new Promise<void>((resolve) => {
        const leave = tools.kept.map.client.datasets.changeStream(dataset, {}).listen(({ type }) => {
          if (type !== 'change') return
          leave()
          resolve()
        })
      }),
    [buoys.dataset] as const,
  )
  await move(3, 20, -10)
  await Promise.race([isHeard, move(2, 0, -12).then(() => isHeard)])
  assert.deepEqual(
    asked.filter((url) => url.includes('/tiles/')),
    [],
  )
  await setVisibility('visible')
  await follow(3, 20, -10)
  await noErrors()
})

test('a removed map ends its stream, and a dataset that cannot be followed says why', async () => {
  await showLive()
  const isEnded = stage.page.waitForEvent('requestfailed', (request) => request.url().includes('/changes'))
  await stage.page.evaluate(() => tools.clear())
  await isEnded
  const { app, tenant } = stage.world
  const body = { type: 'sql', name: 'some', source: 'SELECT * FROM buoys' }
  const query = (await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })).body.id
  await stage.page.evaluate(
    async ([map, src]) => {
      const svcMap = tools.open(map as never)
      await svcMap.ready()
      new tools.DataSource({ id: 'places', live: true, svcMap, src })
      await tools.until(() => tools.errors.length > 0)
      await tools.settled()
    },
    [{ url: stage.world.url, key: stage.world.key }, query] as const,
  )
  const [message, ...others] = await stage.page.evaluate(() => tools.errors)
  assert.match(message ?? '', /^Data source "places": .*type `?"?table/)
  assert.deepEqual([others, await stage.page.evaluate(() => tools.ended)], [[], ['places']])
  assert.ok((await stage.page.evaluate(() => tools.shown('places'))).length > 0)
})
