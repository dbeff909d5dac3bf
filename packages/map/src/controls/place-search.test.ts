import assert from 'node:assert/strict'
import { test } from 'node:test'
import { screenshot } from '../../testing/browser.ts'
import { setStage } from '../../testing/stage.ts'

// The search for places and the fit of points, in Chromium against the real server.

const stage = setStage()

/** A map with the bundled world. */
async function open(theme: 'light' | 'dark' = 'light'): Promise<void> {
  const { url, key, [theme]: style } = stage.world
  await stage.page.evaluate(
    async (options) => {
      const map = tools.open(options)
      await map.ready()
      await tools.settled()
    },
    { url, key, style },
  )
}

const zoom = () => stage.page.evaluate(() => Math.round(tools.kept.map.gl.getZoom()))
const centre = () =>
  stage.page.evaluate(() => {
    const { lng, lat } = tools.kept.map.gl.getCenter()
    return [lng, lat].map((degrees) => Math.round(degrees * 10) / 10)
  })
const arrived = () => stage.page.evaluate(() => tools.until(() => !tools.kept.map.gl.isMoving()))

test('a place is found, chosen by the keyboard alone, shown and marked, and told to screen readers', async () => {
  await open()
  await stage.page.evaluate(() => tools.kept.map.search())
  const box = stage.page.getByRole('combobox', { name: 'Search for a place' })
  await box.fill('zuri')
  const option = stage.page.getByRole('option', { name: 'Zürich' })
  await option.waitFor()
  assert.equal(await box.getAttribute('aria-expanded'), 'true')
  assert.match(String(await stage.page.getByRole('status').textContent()), /found/)
  await box.press('ArrowDown')
  assert.equal(await option.getAttribute('aria-selected'), 'true')
  assert.equal(await box.getAttribute('aria-activedescendant'), await option.getAttribute('id'))
  await screenshot(stage.page, 'place-search-light')
  await box.press('Enter')
  await arrived()
  assert.deepEqual([await centre(), await zoom()], [[8.5, 47.4], 9])
  assert.equal(await stage.page.locator('.maplibregl-marker').count(), 1)
  assert.equal(await box.getAttribute('aria-expanded'), 'false')
  await box.press('Escape')
  assert.equal(await stage.page.locator('.maplibregl-marker').count(), 0)
  assert.deepEqual([await stage.page.evaluate(() => tools.errors), stage.page.faults], [[], []])
})

test('a country is shown as a whole, found by its name in another language and chosen by the pointer', async () => {
  await open('dark')
  await stage.page.evaluate(() => tools.kept.map.search())
  await stage.page.getByRole('combobox').fill('österr')
  await stage.page.getByRole('option', { name: 'Österreich (Austria)' }).click()
  await arrived()
  assert.equal(await zoom(), 4)
  assert.equal(await stage.page.locator('.maplibregl-marker').count(), 0)
  await screenshot(stage.page, 'place-search-dark')
})

test('a text that is no place says so, and a search that fails too', async () => {
  await open()
  await stage.page.evaluate(() => tools.kept.map.search())
  const box = stage.page.getByRole('combobox')
  await box.fill('qqqqq')
  await stage.page.getByRole('status').getByText('No place has this name.').waitFor({ state: 'attached' })
  await stage.page.route('**/api/v1/places*', (route) => route.abort())
  await box.fill('bern')
  await stage.page.getByRole('status').getByText('The search failed.').waitFor({ state: 'attached' })
  stage.page.faults.length = 0
})

test('the fit of a point stops where the base map has something to show; without one it goes on', async () => {
  await open()
  const fitted = (box: number[]) =>
    stage.page.evaluate(async (bounds) => {
      tools.kept.map.fit(bounds as [number, number, number, number], { animate: false })
      return tools.kept.map.gl.getZoom()
    }, box)
  assert.equal(await fitted([7.45, 46.95, 7.45, 46.95]), 9)
  assert.equal(await fitted([7.45, 46.95, 7.451, 46.951]), 9)
  assert.ok((await fitted([7.4, 46.9, 7.5, 47])) > 10)
  const { url, key } = stage.world
  await stage.page.evaluate(
    (options) =>
      tools
        .open(options)
        .ready()
        .then(() => undefined),
    { url, key },
  )
  assert.equal(await fitted([7.45, 46.95, 7.45, 46.95]), 14)
})
