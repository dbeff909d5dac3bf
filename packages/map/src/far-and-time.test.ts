import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { fromGeojsonVt } from '@maplibre/vt-pbf'
import { screenshot } from '../testing/browser.ts'
import { setStage } from '../testing/stage.ts'
import { periodOf } from './controls/time-of-sources.ts'
import { breaksOf } from './recipe/cells-look.ts'

// What is shown far out in place of the features, and time, in Chromium against the real server. The cells of these tests are made here:
// what the server makes is its own tests' matter, the addresses and the drawing are the map's.

const stage = setStage()

type Options = Record<string, unknown>

async function show(options: Options, view: Options = {}): Promise<void> {
  const { url, key } = stage.world
  await stage.page.evaluate(
    async ([map, one]) => {
      const svcMap = tools.open(map as never)
      await svcMap.ready()
      tools.kept.source = new tools.DataSource({ id: 'rows', ...one, map: svcMap } as never)
      await svcMap.legend()
      await tools.until(() => tools.kept.source.layerIds.length > 0 || tools.errors.length > 0)
      await tools.settled()
    },
    [{ url, key, ...view }, options] as const,
  )
}
const zoomTo = (zoom: number) =>
  stage.page.evaluate((to) => {
    tools.kept.map.gl.jumpTo({ zoom: to })
    return tools.settled()
  }, zoom)
const legend = async () => String(await stage.page.locator('.graticule-legend').textContent())
const errors = () => stage.page.evaluate(() => tools.errors)
const seen = () =>
  stage.page.evaluate(() => {
    const { map, source } = tools.kept
    const layers = source.layerIds.filter((id) => map.gl.getLayer(id))
    return [...new Set(map.gl.queryRenderedFeatures({ layers: [...layers] }).map(({ source: of }) => of))].sort()
  })

/** Each tile of cells is one square whose count is the number of its column. */
async function makeCells(asked: string[]): Promise<void> {
  await stage.page.route(/\/tiles\/[^?]*\?.*aggregate=(h3|grid)/, async (route) => {
    const url = new URL(route.request().url())
    asked.push(
      `${url.pathname.split('/').at(-1)}?${[...url.searchParams].filter(([name]) => ['aggregate', 'value', 'filter', 'time'].includes(name)).join('&')}`,
    )
    if (url.pathname.endsWith('index.json')) {
      const tiles = [url.href.replace('index.json', '{z}/{x}/{y}.mvt')]
      return await route.fulfill({ json: { tilejson: '3.0.0', tiles, minzoom: 0, maxzoom: 14 } })
    }
    const column = Number(url.pathname.split('/').at(-2))
    const square = [
      [200, 200],
      [3900, 200],
      [3900, 3900],
      [200, 3900],
      [200, 200],
    ]
    const feature = { type: 3, geometry: [square], tags: { count: column + 1, avg_id: column * 10 }, id: column }
    const layer = { features: [feature] } as never
    await route.fulfill({
      body: Buffer.from(fromGeojsonVt({ geometry: layer }, { version: 2, extent: 4096 })),
      contentType: 'application/x-protobuf',
    })
  })
}

describe('far out', () => {
  test('hexagons are shown in place of the rows, which are shown close in, and the legend says which', async () => {
    const asked: string[] = []
    await makeCells(asked)
    await show({
      src: stage.world.others,
      title: 'Others',
      hexagons: { below: 5, value: 'avg(id)' },
      filter: { id: { $gt: 0 } },
    })
    await stage.page.locator('.graticule-legend li').nth(1).waitFor()
    assert.match(await legend(), /^Others: avg\(id\) by hexagon<\s*\d.*≥ \d/)
    assert.deepEqual(await seen(), ['rows-cells'])
    assert.ok(
      asked.every(
        (address) => address.includes('aggregate,h3:auto&value,avg(id)') || address.includes('value,avg(id)'),
      ),
      asked.join(' '),
    )
    assert.ok(
      asked.every((address) => address.includes('filter,{"id":{"$gt":0}}')),
      asked.join(' '),
    )
    await screenshot(stage.page, 'hexagons')
    await zoomTo(5)
    assert.match(await legend(), /^Others$/)
    assert.deepEqual(
      (await seen()).filter((source) => source !== 'rows'),
      [],
    )
    await zoomTo(2)
    assert.deepEqual(await seen(), ['rows-cells'])
    assert.deepEqual([await errors(), stage.page.faults], [[], []])
  })

  test('hexagons and clusters are those that the server makes', async () => {
    await show({ src: stage.world.sightings, hexagons: { value: 'max(id)' }, title: 'Sightings' }, { zoom: 3 })
    await stage.page.locator('.graticule-legend li').nth(1).waitFor()
    assert.deepEqual(await seen(), ['rows-cells'])
    await stage.page.evaluate(() => tools.clear())
    await show({ src: stage.world.sightings, type: 'vector', cluster: true }, { zoom: 0 })
    const counts = await stage.page.evaluate(() => tools.clusters('rows'))
    assert.ok(
      counts.some((count) => Number(count) > 1),
      String(counts),
    )
    assert.deepEqual([await errors(), stage.page.faults], [[], []])
  })

  test('another filter and another time ask for other cells, and the source takes its cells along when it goes', async () => {
    const asked: string[] = []
    await makeCells(asked)
    await show({ src: stage.world.sightings, grid: true })
    asked.length = 0
    await stage.page.evaluate(() => {
      tools.kept.source.setTime('2024-02')
      return tools.settled()
    })
    await stage.page.evaluate(() => tools.until(() => tools.kept.map.gl.isSourceLoaded('rows-cells')))
    assert.ok(asked.length > 0 && asked.every((address) => address.includes('time,2024-02')), asked.join(' '))
    assert.ok(
      asked.every((address) => address.includes('aggregate,grid:auto')),
      asked.join(' '),
    )
    const sources = await stage.page.evaluate(() => {
      tools.kept.source.remove()
      return Object.keys(tools.kept.map.gl.getStyle().sources)
    })
    assert.deepEqual(sources, [])
    assert.deepEqual([await errors(), stage.page.faults], [[], []])
  })

  test('heat gives way to coloured points', async () => {
    await show({
      src: stage.world.others,
      heat: { below: 4 },
      colorBy: { attribute: 'id', kind: 'classes', breaks: [2, 3] },
      title: 'Others',
    })
    assert.match(await legend(), /^OthersLowMediumHigh$/)
    assert.deepEqual(await seen(), ['rows'])
    await zoomTo(4)
    assert.match(await legend(), /1 – 2.*≥ 3/)
  })

  for (const [options, problem] of [
    [{ hexagons: true, heat: true }, /cannot be used with heat/],
    [{ hexagons: true, grid: true }, /cannot be used with hexagons/],
    [{ hexagons: { value: 'median(id)' } }, /sum, avg, min or max/],
    [{ hexagons: { belo: 4 } }, /hexagons must be/],
    [{ hexagons: true, src: { type: 'FeatureCollection', features: [] } }, /id of a dataset/],
  ] as const)
    test(`${JSON.stringify(options).slice(0, 60)} is refused`, async () => {
      await assert.rejects(show({ src: stage.world.others, ...options }), problem)
      stage.page.faults.length = 0
    })

  test('classes of cells are quantiles of what occurs', () => {
    assert.deepEqual(breaksOf([1, 2, 3, 4, 100], 5), [2, 3, 4, 100])
    assert.deepEqual(breaksOf([7, 7, 7], 5), [])
    assert.deepEqual(breaksOf([1, 1234, 5678, 91011], 2), [5700])
  })
})

describe('time', () => {
  let months: number
  before(() => {
    months = 6
  })
  const rows = () => stage.page.evaluate(() => tools.shown('rows'))

  for (const type of ['vector', 'geojson'])
    test(`shows the rows of a period only (${type})`, async () => {
      await show({ src: stage.world.sightings, type, time: '2024-02/2024-03' }, { zoom: 1 })
      assert.deepEqual(await rows(), [1, 2])
      await stage.page.evaluate(() => {
        tools.kept.source.setTime('2024-05/..')
        return tools.settled()
      })
      await stage.page.evaluate(() => tools.until(() => tools.shown('rows').length === 2))
      assert.deepEqual(await rows(), [4, 5])
      await stage.page.evaluate(() => tools.kept.source.setTime(null))
      await stage.page.evaluate(() => tools.until(() => tools.shown('rows').length === 6))
      assert.deepEqual([await errors(), stage.page.faults], [[], []])
    })

  test('is moved by a slider with the months of the rows, by the keyboard, and plays', async () => {
    await show({ src: stage.world.sightings }, { zoom: 1 })
    await stage.page.evaluate(() => tools.kept.map.time({ source: 'rows', steps: 8, stepMs: 50, locale: 'en' }))
    const slider = stage.page.getByRole('slider', { name: 'Time' })
    await stage.page.locator('.graticule-time output').getByText('All times').waitFor()
    assert.equal(await slider.getAttribute('max'), String(months))
    await slider.press('ArrowRight')
    assert.match(String(await slider.getAttribute('aria-valuetext')), /Jan 1 – 31, 2024/)
    await stage.page.evaluate(() => tools.until(() => String(tools.shown('rows')) === '0'))
    await slider.press('ArrowRight')
    await stage.page.evaluate(() => tools.until(() => String(tools.shown('rows')) === '1'))
    await screenshot(stage.page, 'time')
    // At once: on a busy machine it may have played to its end before a look from outside.
    const label = await stage.page.getByRole('button', { name: 'Play' }).evaluate((button: HTMLElement) => {
      button.click()
      return button.getAttribute('aria-label')
    })
    assert.equal(label, 'Pause')
    await stage.page.evaluate(() => tools.until(() => String(tools.shown('rows')) === '5'))
    await stage.page.getByRole('button', { name: 'Play' }).waitFor()
    await slider.press('Home')
    await stage.page.evaluate(() => tools.until(() => tools.shown('rows').length === 6))
    assert.deepEqual([await errors(), stage.page.faults], [[], []])
  })

  test('of a dataset without any says so', async () => {
    await show({ src: stage.world.others })
    await stage.page.evaluate(() => tools.kept.map.time({ source: 'rows' }))
    await stage.page.evaluate(() => tools.until(() => tools.errors.length > 0))
    assert.match(String(await errors()), /has no date or datetime/)
    stage.page.faults.length = 0
  })

  test('ends of periods include their last moment and nothing of the next', () => {
    assert.equal(periodOf('2024-01-01', '2024-02-01', 'date'), '2024-01-01/2024-01-31')
    assert.equal(
      periodOf('2024-01-01T00:00:00Z', '2024-02-01T00:00:00Z', 'datetime'),
      '2024-01-01T00:00:00.000Z/2024-01-31T23:59:59.999999Z',
    )
    assert.equal(periodOf('..', '2024-02-01', 'date'), '../2024-01-31')
  })
})
