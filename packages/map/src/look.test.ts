import assert from 'node:assert/strict'
import { test } from 'node:test'
import { screenshot } from '../testing/browser.ts'
import { setStage } from '../testing/stage.ts'

// Looks by values, legend, filters, events of the pointer and names, in Chromium against the real server.

const stage = setStage()

type Options = Record<string, unknown>

async function show(options: Options, mapOptions: Options = {}): Promise<void> {
  const { url, key } = stage.world
  await stage.page.evaluate(
    async ([map, one]) => {
      const svcMap = tools.open(map as never)
      await svcMap.ready()
      tools.kept.source = new tools.DataSource({ id: 'places', ...one, map: svcMap } as never)
      await tools.until(() => svcMap.gl.getSource('places') || tools.errors.length > 0)
      await tools.settled()
    },
    [{ url, key, ...mapOptions }, options] as const,
  )
}

const settled = () => stage.page.evaluate(() => tools.settled())
const shown = () => stage.page.evaluate(() => tools.shown('places'))
const errors = () => stage.page.evaluate(() => tools.errors)
const noErrors = async () => assert.deepEqual([await errors(), stage.page.faults], [[], []])
const layers = () =>
  stage.page.evaluate(() =>
    tools.kept.map.gl
      .getStyle()
      .layers.flatMap(({ id, type, paint, layout }) => (id.startsWith('places') ? [{ id, type, paint, layout }] : [])),
  )
const drawn = async () => {
  await stage.page.evaluate(() => tools.until(() => tools.kept.source.layerIds.length > 0 || tools.errors.length > 0))
  await settled()
}
const at = (longitude: number, latitude: number) =>
  stage.page.evaluate((place) => tools.kept.map.gl.project(place), [longitude, latitude] as [number, number])

async function colourAt(longitude: number, latitude: number): Promise<string> {
  const { x, y } = await at(longitude, latitude)
  const picture = await stage.page.screenshot({ clip: { x: Math.round(x), y: Math.round(y), width: 1, height: 1 } })
  return await stage.page.evaluate((data) => tools.colourOf(data), picture.toString('base64'))
}

const point = (id: number, properties: object) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [(id - 3) * 20, 0] },
  properties,
})
const collection = (...features: object[]) => ({ type: 'FeatureCollection', features })

test('colorBy colours a dataset by classes, and the legend says which colour is what', async () => {
  const colorBy = { attribute: 'id', kind: 'classes', breaks: [2, 3], palette: 'Blues' }
  await show({ src: stage.world.others, colorBy, title: 'Numbers' })
  await drawn()
  const colours = [await colourAt(-20, -15), await colourAt(0, -15), await colourAt(20, -15)]
  assert.equal(new Set(colours).size, 3, String(colours))
  await stage.page.evaluate(() => tools.kept.map.legend({ locale: 'en' }))
  const legend = stage.page.getByRole('region', { name: 'Legend' })
  assert.deepEqual(await legend.locator('strong, li').allTextContents(), ['Numbers', '1 – 2', '2 – 3', '≥ 3'])
  await screenshot(stage.page, 'look-classes')
  await stage.page.evaluate(() => tools.kept.source.setVisible(false))
  assert.equal(await legend.locator('li').count(), 0)
  await noErrors()
})

test('colorBy, sizeBy and heat need one line, also for features of the page', async () => {
  const src = collection(
    point(1, { kind: 'a', people: 1 }),
    point(2, { kind: 'b', people: 50 }),
    point(3, { kind: 'a', people: 100 }),
  )
  await show({ src, colorBy: 'kind', sizeBy: { attribute: 'people', range: [4, 20] } })
  await drawn()
  const [first, second, third] = [await colourAt(-40, 0), await colourAt(-20, 0), await colourAt(0, 0)]
  assert.equal(first, third)
  assert.notEqual(first, second)
  assert.equal(await colourAt(0, 2.5), third, 'the largest reaches farther')
  await stage.page.evaluate(() => tools.kept.map.legend({ locale: 'en' }))
  assert.deepEqual(await stage.page.locator('.graticule-legend li').allTextContents(), ['a', 'b', '1', '30', '100'])
  await noErrors()
  await stage.page.evaluate(() => tools.clear())
  await show({ src, heat: { weight: 'people' } })
  await drawn()
  assert.deepEqual(
    (await layers()).map(({ type }) => type),
    ['heatmap'],
  )
  await screenshot(stage.page, 'look-heat')
  await noErrors()
})

test('an attribute that does not exist is an error of the source that names the nearest', async () => {
  await show({ src: stage.world.others, colorBy: 'nmae' })
  await stage.page.evaluate(() => tools.until(() => tools.errors.length > 0))
  assert.match(String(await errors()), /Data source "places": .*nmae.*name/)
  stage.page.faults.length = 0
})

test('a filter in either language shows its rows as tiles and as GeoJSON, and setFilter changes it', async () => {
  for (const type of ['vector', 'geojson'])
    for (const filter of [{ id: { $lte: 2 } }, 'id <= 2', { op: '<=', args: [{ property: 'id' }, 2] }]) {
      await show({ src: stage.world.others, type, filter })
      await stage.page.evaluate(() => tools.until(() => tools.shown('places').length > 0))
      assert.deepEqual(await shown(), [1, 2], `${type} ${JSON.stringify(filter)}`)
      await stage.page.evaluate(() => tools.kept.source.setFilter({ id: 3 }))
      await stage.page.evaluate(() => tools.until(() => String(tools.shown('places')) === '3'))
      await stage.page.evaluate(() => tools.kept.source.setFilter(null))
      await stage.page.evaluate(() => tools.until(() => tools.shown('places').length === 3))
      await noErrors()
      await stage.page.evaluate(() => tools.clear())
    }
})

test('the pointer tells which feature it is on, and shows a tooltip', async () => {
  await show({
    src: stage.world.others,
    tooltip: { title: '{name}!', fields: [{ name: 'id', label: 'Number', unit: 'km' }] },
  })
  await stage.page.evaluate(() => {
    const told: string[] = []
    Object.assign(window, { told })
    for (const type of ['enter', 'leave', 'click'] as const)
      tools.kept.source.addEventListener(type, ({ detail }) => told.push(`${type} ${detail.feature.id}`))
  })
  const [one, two] = [await at(-20, -15), await at(0, -15)]
  await stage.page.mouse.move(one.x, one.y)
  await stage.page.locator('.graticule-tooltip').getByText('Other 1!').waitFor()
  assert.match(String(await stage.page.locator('.graticule-tooltip tr').allTextContents()), /Number1 km/)
  await screenshot(stage.page, 'tooltip')
  await stage.page.mouse.move(two.x, two.y)
  await stage.page.locator('.graticule-tooltip').getByText('Other 2!').waitFor()
  await stage.page.mouse.click(two.x, two.y)
  await stage.page.mouse.move(two.x, two.y + 60)
  assert.equal(await stage.page.locator('.graticule-tooltip').count(), 0)
  const told = await stage.page.evaluate(() => (window as unknown as { told: string[] }).told)
  assert.deepEqual(told, ['enter 1', 'leave 1', 'enter 2', 'click 2', 'leave 2'])
  await noErrors()
})

test('a popup shows chosen fields in their formats, and no markup of the data', async () => {
  const src = collection(
    point(3, {
      name: '<b>Ulm</b>',
      people: 1234567.891,
      founded: '1850-03-05',
      web: 'https://example.org/',
      bad: 'javascript:alert(1)',
    }),
  )
  const fields = ['people', 'founded', 'web', 'bad', { name: 'people', label: 'Rounded', digits: 0 }]
  await show({ src, popup: { title: 'name', fields, locale: 'en-GB' } })
  const { x, y } = await at(0, 0)
  await stage.page.mouse.click(x, y)
  const popup = stage.page.locator('.maplibregl-popup-content')
  await popup.waitFor()
  assert.equal(await popup.locator('strong').textContent(), '<b>Ulm</b>')
  assert.deepEqual(await popup.locator('td').allTextContents(), [
    '1,234,567.891',
    '5 Mar 1850',
    'https://example.org/',
    'javascript:alert(1)',
    '1,234,568',
  ])
  assert.deepEqual(await popup.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href'))), [
    'https://example.org/',
  ])
  await noErrors()
})

test('datasets and styles are found by name and by slug; a name of none or two is refused', async () => {
  const { url, key } = stage.world
  await show({ src: 'others' }, { style: 'light' })
  await stage.page.evaluate(() => tools.until(() => tools.shown('places').length === 3))
  await noErrors()
  await stage.page.evaluate(() => tools.clear())
  await show({ src: 'no-such-dataset' })
  await stage.page.evaluate(() => tools.until(() => tools.errors.length > 0))
  assert.match(String(await errors()), /Dataset "no-such-dataset" does not exist/)
  await stage.page.evaluate(() => tools.clear())
  const refused = await stage.page.evaluate(
    (options) =>
      tools
        .open({ ...options, style: 'no such style' })
        .ready()
        .then(String, ({ message }: Error) => message),
    { url, key },
  )
  assert.match(refused, /Style "no such style" does not exist/)
  stage.page.faults.length = 0
})

test('fit shows all features, visible and opacity change all layers, beforeId puts them below', async () => {
  const layer = { id: 'top', type: 'background', paint: { 'background-opacity': 0 } }
  const style = { version: 8, sources: {}, layers: [{ id: 'background', type: 'background' }, layer] }
  await show({ src: stage.world.places, beforeId: 'top', opacity: 0.5 }, { style, center: [100, 60], zoom: 6 })
  assert.equal(await stage.page.evaluate(() => tools.kept.source.fit({ animate: false })), true)
  await settled()
  assert.deepEqual(await shown(), [1, 2, 3, 4, 5, 6, 7])
  const order = await stage.page.evaluate(() => tools.kept.map.gl.getLayersOrder())
  assert.deepEqual([order[0], order.at(-1)], ['background', 'top'])
  const opacities = (await layers()).map(({ paint }) =>
    Object.entries(paint ?? {}).filter(([name]) => name.endsWith('opacity')),
  )
  assert.ok(
    opacities.every((found) => found.length > 0 && found.every(([, value]) => JSON.stringify(value).includes('0.5'))),
    JSON.stringify(opacities),
  )
  await stage.page.evaluate(() => tools.kept.source.setVisible(false))
  await settled()
  assert.deepEqual(await shown(), [])
  await stage.page.evaluate(() => {
    tools.kept.source.setVisible(true)
    tools.kept.source.setOpacity(1)
    return tools.settled()
  })
  assert.equal((await shown()).length, 7)
  await noErrors()
})
