import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherServer, screenshot } from '../testing/browser.ts'
import { setStage } from '../testing/stage.ts'
import { markup } from '../testing/world.ts'

// Every option of a data source, driven by the mouse in Chromium against the real server.

const stage = setStage()

type Options = Record<string, unknown>

/** Opens a map with one source, or two of which the second is called `other`, and waits until all is drawn. */
async function show(options: Options, other?: Options | null, mapOptions: Options = {}): Promise<void> {
  const { url, key } = stage.world
  await stage.page.evaluate(
    async ([map, one, two]) => {
      const svcMap = tools.open(map as never)
      await svcMap.ready()
      tools.kept.source = new tools.DataSource({ id: 'places', ...one, svcMap } as never)
      if (two) tools.kept.other = new tools.DataSource({ id: 'other', ...two, svcMap } as never)
      await tools.settled()
    },
    [{ url, key, ...mapOptions }, options, other] as const,
  )
}

/** Presses the mouse on a place. A double click is none: the first click is waited for. */
async function click(longitude: number, latitude: number): Promise<void> {
  const { x, y } = await project(longitude, latitude)
  await stage.page.mouse.click(x, y)
  await settled()
}

const project = (longitude: number, latitude: number) =>
  stage.page.evaluate((at) => tools.kept.map.gl.project(at), [longitude, latitude] as [number, number])
const settled = () => stage.page.evaluate(() => tools.settled())
const shown = (id = 'places') => stage.page.evaluate((source) => tools.shown(source), id)
const selected = (id = 'places') => stage.page.evaluate((source) => tools.selected(source), id)
const stateAt = (path: string) => stage.page.evaluate((at) => tools.kept.state.get(at), path)
const setState = (path: string, value: unknown) =>
  stage.page.evaluate(
    ([at, next]) => {
      tools.kept.state.set(at, next)
      return tools.settled()
    },
    [path, value] as const,
  )
const jumpTo = (center: [number, number], zoom: number) =>
  stage.page.evaluate(
    (camera) => {
      tools.kept.map.gl.jumpTo(camera)
      return tools.settled()
    },
    { center, zoom },
  )
const errors = () => stage.page.evaluate(() => tools.errors)
const noErrors = async () => assert.deepEqual([await errors(), stage.page.faults], [[], []])

/** The colour that the screen has at a place. */
async function colourAt(longitude: number, latitude: number): Promise<string> {
  const { x, y } = await project(longitude, latitude)
  const picture = await stage.page.screenshot({ clip: { x: Math.round(x), y: Math.round(y), width: 1, height: 1 } })
  return await stage.page.evaluate((data) => tools.colourOf(data), picture.toString('base64'))
}

const blue = '#1c6dd0'
const orange = '#e8590c'
const everything = [1, 2, 3, 4, 5, 6, 7]
const nowhere = [-50, 25] as const
const placeOf = (id: number) => [(id - 3) * 20, 0] as const
const point = (id: number, longitude: number, latitude: number, name = `Inline ${id}`) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [longitude, latitude] },
  properties: { name, code: `i${id}` },
})
const collection = (...features: object[]) => ({ type: 'FeatureCollection', features })

test('a dataset is shown as vector tiles by points, lines and areas, without layers being named', async () => {
  await show({ src: stage.world.places })
  assert.deepEqual(await shown(), everything)
  assert.equal(await stage.page.evaluate(() => tools.kept.map.gl.getSource('places')?.type), 'vector')
  assert.equal(await colourAt(...placeOf(1)), blue)
  await screenshot(stage.page, 'vector')
  await noErrors()
})

test('a dataset is shown as GeoJSON, no more features of it than the limit says', async () => {
  await show({ src: stage.world.places, type: 'geojson' }, { src: stage.world.places, type: 'geojson', limit: 3 })
  assert.deepEqual(await shown(), everything)
  assert.equal((await shown('other')).length, 3)
  assert.equal(await stage.page.evaluate(() => tools.kept.map.gl.getSource('places')?.type), 'geojson')
  await screenshot(stage.page, 'geojson')
  await noErrors()
})

test('the limit holds for tiles too', async () => {
  await show({ src: stage.world.others, limit: 1 }, null, { zoom: 0 })
  assert.equal((await shown()).length, 1)
  await noErrors()
})

test('a collection, an address of GeoJSON, a TileJSON and a template of tiles are shown alike', async () => {
  const { url, others } = stage.world
  await show(
    { src: collection(point(1, 0, 10), point(2, 10, 10)) },
    { src: `${url}/api/v1/datasets/${others}/query?format=geojson` },
  )
  assert.deepEqual(
    [await shown(), await shown('other')],
    [
      [1, 2],
      [1, 2, 3],
    ],
  )
  await stage.page.evaluate(
    async ([url, others]) => {
      const svcMap = tools.kept.map
      tools.kept.source.remove()
      tools.kept.other.remove()
      new tools.DataSource({ id: 'places', src: `${url}/tiles/${others}/index.json`, svcMap })
      new tools.DataSource({ id: 'other', src: `${url}/tiles/${others}/{z}/{x}/{y}.mvt`, svcMap })
      await tools.settled()
    },
    [url, others] as const,
  )
  assert.deepEqual(
    [await shown(), await shown('other')],
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
  )
  await noErrors()
})

test('sourceLayer chooses a layer of the tiles; a layer that is not there leaves the map alive', async () => {
  const src = `${stage.world.url}/tiles/basemap/index.json`
  await show({ src, sourceLayer: 'earth' }, { src, sourceLayer: 'boundaries' })
  const layersOf = (id: string) => stage.page.evaluate((source) => tools.sourceLayers(source), id)
  assert.deepEqual([await layersOf('places'), await layersOf('other')], [['earth'], ['boundaries']])
  await screenshot(stage.page, 'source-layer')
  await noErrors()
  await stage.page.evaluate(async (src) => {
    const svcMap = tools.kept.map
    new tools.DataSource({ id: 'absent', svcMap, src, sourceLayer: 'absent' })
    await tools.settled()
  }, src)
  assert.match(String(await errors()), /Data source "absent": .*"absent"/)
  assert.deepEqual([await layersOf('absent'), await layersOf('places')], [[], ['earth']])
})

test('clusters break up on zoom, by clicks too, and radius and highest zoom are what was said', async () => {
  const src = collection(point(1, 0, 0), point(2, 2, 0), point(3, 4, 0), point(4, 60, 0))
  await show({ src, cluster: true, clusterRadius: 40, clusterMaxZoom: 4, selectionMode: 'single' })
  const clusters = () => stage.page.evaluate(() => tools.clusters('places'))
  assert.deepEqual(await clusters(), [3])
  await screenshot(stage.page, 'cluster')
  await click(2, 0)
  assert.deepEqual(await selected(), [])
  // The map asks a worker how far it has to go, and begins to move when that has answered.
  await stage.page.waitForFunction(() => tools.kept.map.gl.getZoom() > 2)
  await stage.page.evaluate(() => tools.settled())
  const zoom = await stage.page.evaluate(() => tools.kept.map.gl.getZoom())
  assert.ok(zoom <= 5, `zoom ${zoom}`)
  await jumpTo([2, 0], 5)
  assert.deepEqual([await clusters(), await shown()], [[], [1, 2, 3]])
  await click(4, 0)
  assert.deepEqual(await selected(), [3])
  await stage.page.evaluate(async (src) => {
    tools.kept.source.remove()
    const svcMap = tools.kept.map
    svcMap.gl.jumpTo({ center: [0, 0], zoom: 2 })
    new tools.DataSource({ id: 'places', svcMap, src: src as never, cluster: true, clusterRadius: 5 })
    await tools.settled()
  }, src)
  assert.deepEqual([await clusters(), await shown()], [[], [1, 2, 3, 4]])
  await noErrors()
})

test('a dataset is clustered, and what is selected within a cluster has its properties', async () => {
  const options = { src: stage.world.others, cluster: true, clusterRadius: 400, selectionMode: 'single' }
  await show(options, null, { style: stage.world.dark, zoom: 1 })
  await screenshot(stage.page, 'cluster-dataset')
  assert.deepEqual(await stage.page.evaluate(() => tools.clusters('places')), [3])
  await stage.page.evaluate(() => tools.kept.source.select(2))
  assert.deepEqual(await stage.page.evaluate(() => tools.kept.source.selectedFeatures), [
    { id: 2, properties: { id: 2, name: 'Other 2' } },
  ])
  await noErrors()
})

for (const type of ['vector', 'geojson'])
  test(`single mode selects one feature, and an empty area clears it (${type})`, async () => {
    await show({ src: stage.world.places, type, selectionMode: 'single' })
    await click(...placeOf(2))
    assert.deepEqual([await selected(), await colourAt(...placeOf(2))], [[2], orange])
    await screenshot(stage.page, `single-${type}`)
    await click(...placeOf(4))
    assert.deepEqual([await selected(), await colourAt(...placeOf(2))], [[4], blue])
    await click(...placeOf(4))
    assert.deepEqual(await selected(), [4])
    await click(0, 28)
    assert.deepEqual(await selected(), [6])
    await click(...nowhere)
    assert.deepEqual(await selected(), [])
    await noErrors()
  })

test('multi mode adds features and drops them again; none selects nothing', async () => {
  await show({ src: stage.world.places, selectionMode: 'multi' }, { src: stage.world.others })
  await click(...placeOf(1))
  await click(...placeOf(5))
  await click(0, -30)
  assert.deepEqual(await selected(), [1, 5, 7])
  await screenshot(stage.page, 'multi')
  await click(...placeOf(5))
  assert.deepEqual(await selected(), [1, 7])
  await click(0, -15)
  assert.deepEqual([await selected(), await selected('other')], [[1, 7], []])
  await noErrors()
})

test('selectionClear clears on a click on another source; otherwise only an empty area does', async () => {
  await show(
    { src: stage.world.places, selectionMode: 'single', selectionClear: true },
    { src: stage.world.others, selectionMode: 'single' },
  )
  await click(...placeOf(3))
  await click(20, -15)
  assert.deepEqual([await selected(), await selected('other')], [[], [3]])
  await click(...placeOf(3))
  assert.deepEqual([await selected(), await selected('other')], [[3], [3]])
  await click(...nowhere)
  assert.deepEqual([await selected(), await selected('other')], [[], []])
})

test('featureId names the property that identifies features', async () => {
  await show({ src: stage.world.places, selectionMode: 'multi', featureId: 'code', selectionState: 'ui.codes' })
  await click(...placeOf(2))
  await click(...placeOf(3))
  assert.deepEqual(
    [await selected(), await stateAt('ui.codes')],
    [
      ['p2', 'p3'],
      ['p2', 'p3'],
    ],
  )
  await setState('ui.codes', ['p6'])
  assert.deepEqual(await selected(), ['p6'])
  await noErrors()
})

test('selectionState follows clicks, and the selection follows the state', async () => {
  await show(
    {
      src: stage.world.places,
      selectionMode: 'single',
      selectionState: 'ui.place',
      selectionFeatureState: 'ui.properties',
    },
    {
      src: stage.world.others,
      selectionMode: 'multi',
      selectionState: 'ui.others',
      selectionFeatureState: 'ui.otherProperties',
    },
  )
  await click(...placeOf(2))
  assert.equal(await stateAt('ui.place'), 2)
  assert.deepEqual(await stateAt('ui.properties'), { id: 2, code: 'p2', name: 'Place 2' })
  await setState('ui.place', 4)
  assert.deepEqual(await selected(), [4])
  assert.deepEqual(await stateAt('ui.properties'), { id: 4, code: 'p4', name: 'Place 4' })
  await setState('ui.others', [1, 3])
  assert.deepEqual(await selected('other'), [1, 3])
  await screenshot(stage.page, 'state')
  await click(20, -15)
  assert.deepEqual(await stateAt('ui.others'), [1])
  assert.deepEqual(await stateAt('ui.otherProperties'), { 1: { id: 1, name: 'Other 1' } })
  await setState('ui.otherProperties', { 2: {} })
  assert.deepEqual([await selected('other'), await stateAt('ui.others')], [[1], [1]])
  await setState('ui.place', null)
  assert.deepEqual([await selected(), await stateAt('ui.properties')], [[], null])
  await click(...nowhere)
  assert.deepEqual([await stateAt('ui.others'), await stateAt('ui.otherProperties')], [[], {}])
  await noErrors()
  await stage.page.evaluate(() => tools.kept.state.set('ui.others', 7))
  assert.match(
    String(await errors()),
    /Data source "other": selectionState: "ui.others" must be an array of ids or null/,
  )
})

test('properties of features that are not loaded are asked for once, by the ids that the state begins with', async () => {
  const queries: string[] = []
  stage.page.on('request', (request) => request.url().includes('/query') && queries.push(request.postData() ?? ''))
  await stage.page.evaluate(() => {
    tools.kept.initial = { ui: { places: [1, 5] } }
  })
  const bound = { selectionMode: 'multi', selectionState: 'ui.places', selectionFeatureState: 'ui.properties' }
  await show({ src: stage.world.places, ...bound }, null, { center: [120, 60], zoom: 12 })
  await stage.page.evaluate(() =>
    tools.until(() => (tools.kept.state.get('ui.properties') as Record<string, unknown> | undefined)?.[5]),
  )
  const properties = (id: number) => ({ id, code: `p${id}`, name: `Place ${id}` })
  assert.deepEqual(await stateAt('ui.properties'), { 1: properties(1), 5: properties(5) })
  assert.deepEqual(
    queries.map((query) => JSON.parse(query).where),
    [{ id: { $in: [1, 5] } }],
  )
  await jumpTo([0, 0], 2)
  assert.deepEqual(await selected(), [1, 5])
  await noErrors()
})

test('the first query of a GeoJSON source is enough for the properties of what the state selects', async () => {
  const queries: string[] = []
  stage.page.on('request', (request) => request.url().includes('/query') && queries.push(request.postData() ?? ''))
  await stage.page.evaluate(() => {
    tools.kept.initial = { ui: { place: 2 } }
  })
  const bound = { selectionMode: 'single', selectionState: 'ui.place', selectionFeatureState: 'ui.properties' }
  await show({ src: stage.world.places, type: 'geojson', ...bound })
  await stage.page.evaluate(() => tools.until(() => tools.kept.state.get('ui.properties')))
  assert.deepEqual([await selected(), await stateAt('ui.properties')], [[2], { id: 2, code: 'p2', name: 'Place 2' }])
  assert.equal(queries.filter((query) => query !== '').length, 1)
  await noErrors()
})

test('the mouse shows what can be clicked, and a feature without an id says what is missing', async () => {
  const { id: _, ...anonymous } = point(1, 0, 10)
  await show({ src: collection(anonymous), selectionMode: 'single' }, { src: stage.world.others })
  const cursorAt = async (longitude: number, latitude: number) => {
    const { x, y } = await project(longitude, latitude)
    await stage.page.mouse.move(x, y)
    await settled()
    return await stage.page.evaluate(() => tools.kept.map.gl.getCanvas().style.cursor)
  }
  assert.deepEqual([await cursorAt(0, 10), await cursorAt(0, -15), await cursorAt(0, 0)], ['pointer', '', ''])
  await click(0, 10)
  assert.match(
    String(await errors()),
    /Data source "places": featureId: the clicked feature has no id\. Name the property/,
  )
})

test('a registered popup opens on the clicked feature, text of the data stays text, and another click closes it', async () => {
  await show({ src: stage.world.places, selectionMode: 'single', selectionPopup: 'place' })
  await stage.page.evaluate(() => {
    tools.kept.map.registerPopup('place', ({ feature, source, lngLat }) => ({
      text: `${feature.id} ${feature.properties.name} of ${source.id} at ${Math.round(lngLat.lat)}`,
      className: 'mine',
    }))
  })
  const popup = stage.page.locator('.maplibregl-popup.mine')
  const text = () =>
    stage.page.evaluate(() => document.querySelector('.mine .maplibregl-popup-content')?.firstChild?.textContent)
  await click(0, -30)
  assert.equal(await text(), `7 ${markup} of places at -30`)
  await screenshot(stage.page, 'popup')
  await click(...placeOf(1))
  assert.match((await text()) ?? '', /^1 Place 1/)
  assert.equal(await popup.count(), 1)
  await click(...nowhere)
  assert.equal(await popup.count(), 0)
  assert.notEqual(await stage.page.title(), 'hacked')
  await noErrors()
})

test('a function makes the popup: an element, escaped markup, later, or none; the built-in one lists the properties', async () => {
  await show({ src: stage.world.places }, { src: stage.world.others, selectionPopup: 'properties' })
  await stage.page.evaluate((src) => {
    const svcMap = tools.kept.map
    tools.kept.source.remove()
    tools.kept.source = new tools.DataSource({
      id: 'places',
      src,
      svcMap,
      selectionPopup: async ({ feature, close }) => {
        if (feature.id === 1) return null
        if (feature.id === 7) return { html: tools.html`<b>${feature.properties.name}</b>` }
        const element = document.createElement('button')
        element.textContent = `Close ${feature.id}`
        element.addEventListener('click', close)
        return { element, closeButton: false }
      },
    })
    return tools.settled()
  }, stage.world.places)
  const popup = stage.page.locator('.maplibregl-popup')
  await click(0, 28)
  await stage.page.getByText('Close 6').click()
  assert.equal(await popup.count(), 0)
  await click(0, -30)
  assert.equal(await popup.locator('b').textContent(), markup)
  await click(...placeOf(1))
  assert.equal(await popup.count(), 0)
  await click(0, -15)
  assert.deepEqual(await popup.locator('th').allInnerTexts(), ['id', 'name'])
  assert.deepEqual(await popup.locator('td').allInnerTexts(), ['2', 'Other 2'])
  await screenshot(stage.page, 'popup-properties')
  assert.notEqual(await stage.page.title(), 'hacked')
  await noErrors()
})

test('a popup that is not registered is said by name, and the map goes on', async () => {
  await show({ src: stage.world.places, selectionMode: 'single', selectionPopup: 'propertys' })
  await click(...placeOf(1))
  assert.match(
    String(await errors()),
    /selectionPopup: no popup "propertys" is registered\. Did you mean "properties"\?/,
  )
  assert.deepEqual(await selected(), [1])
})

for (const type of ['vector', 'geojson'])
  test(`a source's own key takes the place of the client's, in requests of that source alone (${type})`, async () => {
    const { app, tenant, url, places, others } = stage.world
    const only = (id: string) => ({ datasets: { '*': [id] }, tiles: { '*': [id] } })
    const [mine, theirs] = [await app.key(tenant.id, only(others)), await app.key(tenant.id, only(places))]
    const keys = new Map<string, Set<unknown>>()
    stage.page.on('request', (request) => {
      const address = new URL(request.url())
      if (address.origin !== url || request.method() === 'OPTIONS') return
      const id = [places, others].find((dataset) => address.pathname.includes(dataset)) ?? 'else'
      const sent = [request.headers()['x-api-key'], address.searchParams.get('api-key')].filter(Boolean).join()
      keys.set(id, (keys.get(id) ?? new Set()).add(sent))
    })
    await show({ src: places, type, apiKey: theirs }, { src: others, type }, { key: mine })
    assert.deepEqual([await shown(), await shown('other')], [everything, [1, 2, 3]])
    assert.deepEqual(
      keys,
      new Map([
        [places, new Set([theirs])],
        [others, new Set([mine])],
      ]),
    )
    await noErrors()
  })

test('neither key is sent to another origin', async () => {
  const asked: { url: string; headers: Record<string, string> }[] = []
  const elsewhere = await otherServer(asked)
  await show(
    { src: `${elsewhere.url}/points.geojson`, apiKey: 'a-secret-key' },
    { src: `${elsewhere.url}/{z}/{x}/{y}.pbf`, apiKey: 'a-secret-key' },
  )
  assert.deepEqual(await shown(), [1])
  assert.ok(asked.length > 1)
  assert.doesNotMatch(JSON.stringify(asked), new RegExp(`a-secret-key|${stage.world.key}|x-api-key|authorization`))
  elsewhere.close()
})

test('a source that fails says so, and the map and its other sources live on', async () => {
  const absent = '00000000-0000-4000-8000-000000000000'
  await show({ src: absent, apiKey: stage.world.key }, { src: stage.world.others, selectionMode: 'single' })
  await stage.page.evaluate(async (src) => {
    const svcMap = tools.kept.map
    const failing = new tools.DataSource({ id: 'failing', svcMap, src, type: 'geojson' })
    failing.addEventListener('error', ({ detail }) => tools.errors.push(`own: ${detail.error.message}`))
    await tools.until(() => tools.errors.some((error) => error.startsWith('own')))
  }, absent)
  const said = (await errors()).join('\n')
  assert.match(said, /^Data source "places": .*404/)
  assert.match(said, /^own: Data source "failing": /m)
  assert.match(said, /^Data source "failing": /m)
  assert.doesNotMatch(said, new RegExp(stage.world.key))
  await click(0, -15)
  assert.deepEqual(await selected('other'), [2])
})

test('another style keeps the sources and the selection, and the default layers take its theme', async () => {
  await show({ src: stage.world.places, selectionMode: 'multi' }, null, { style: stage.world.light, zoom: 1 })
  await click(...placeOf(2))
  await click(0, 28)
  await screenshot(stage.page, 'light')
  assert.deepEqual([await selected(), await colourAt(...placeOf(1))], [[2, 6], blue])
  await stage.page.evaluate((style) => {
    tools.kept.map.setStyle(style)
    return tools.restyled()
  }, stage.world.dark)
  assert.deepEqual([await shown(), await selected(), await colourAt(...placeOf(1))], [everything, [2, 6], '#4dabf7'])
  await screenshot(stage.page, 'dark')
  // MapLibre's own way, and a style that has nothing in common with the last.
  await stage.page.evaluate(() => {
    tools.kept.map.gl.setStyle({ version: 8, sources: {}, layers: [] }, { diff: false })
    return tools.restyled()
  })
  assert.deepEqual([await shown(), await selected(), await colourAt(...placeOf(1))], [everything, [2, 6], blue])
  await noErrors()
})

for (const type of ['vector', 'geojson'])
  test(`refreshed data keep the selection (${type})`, async () => {
    await show({ src: stage.world.others, type, selectionMode: 'single', selectionFeatureState: 'ui.other' })
    await click(0, -15)
    await stage.world.app.db.script(`UPDATE ${stage.world.schema}.others SET name = 'Changed ${type}' WHERE id = 2;
      INSERT INTO ${stage.world.schema}.others VALUES (4, 'New', ST_SetSRID(ST_Point(40, -15), 4326))`)
    // The server trusts what it knows of a table's version for a second.
    await stage.page.evaluate(async () => {
      do {
        await tools.kept.source.refresh()
        await tools.settled()
      } while (tools.shown('places').length < 4)
    })
    assert.deepEqual(await selected(), [2])
    await stage.page.evaluate(
      (name) => tools.until(() => (tools.kept.state.get('ui.other') as { name?: string } | null)?.name === name),
      `Changed ${type}`,
    )
    await stage.world.app.db.script(
      `UPDATE ${stage.world.schema}.others SET name = 'Other 2' WHERE id = 2; DELETE FROM ${stage.world.schema}.others WHERE id = 4`,
    )
    await noErrors()
  })

test('layers take the place of the default ones, and setLayers that of both', async () => {
  const red = { type: 'circle', paint: { 'circle-color': '#ff0000', 'circle-radius': 6 } }
  await show({ src: stage.world.places, selectionMode: 'single', layers: [red] })
  assert.equal(await colourAt(...placeOf(1)), '#ff0000')
  await click(...placeOf(1))
  assert.deepEqual(await selected(), [1])
  await stage.page.evaluate(() => {
    tools.kept.source.setLayers((theme) => [
      { id: 'mine', type: 'circle', paint: { 'circle-color': theme === 'light' ? '#00ff00' : '#000000' } },
    ])
    return tools.settled()
  })
  assert.deepEqual([await colourAt(...placeOf(2)), await selected()], ['#00ff00', [1]])
  await stage.page.evaluate(() => {
    tools.kept.source.setLayers()
    return tools.settled()
  })
  assert.equal(await colourAt(...placeOf(2)), blue)
  await noErrors()
})

test('a removed source leaves nothing on the map, and its id can be used again', async () => {
  await show({ src: stage.world.places, selectionMode: 'single' })
  const { layers, sources } = await stage.page.evaluate(() => {
    tools.kept.source.remove()
    return tools.kept.map.gl.getStyle()
  })
  assert.deepEqual([layers.length, Object.keys(sources)], [1, []])
  await stage.page.evaluate((src) => {
    const svcMap = tools.kept.map
    tools.kept.source = new tools.DataSource({ id: 'places', svcMap, src })
    return tools.settled()
  }, stage.world.places)
  assert.deepEqual(await shown(), everything)
  await noErrors()
})

test('a style that cannot be loaded rejects ready, and another one brings the map to life', async () => {
  const { url, key, places } = stage.world
  const message = await stage.page.evaluate(
    async ([url, key, src]) => {
      const svcMap = tools.open({ url, key, style: '00000000-0000-4000-8000-000000000000' })
      tools.kept.source = new tools.DataSource({ id: 'places', svcMap, src })
      const message = await svcMap.ready().then(
        () => 'ready',
        (error: Error) => error.message,
      )
      svcMap.setStyle({ version: 8, sources: {}, layers: [] })
      await svcMap.ready()
      await tools.settled()
      return message
    },
    [url, key, places] as const,
  )
  assert.match(message, /404/)
  assert.deepEqual(await shown(), everything)
})
