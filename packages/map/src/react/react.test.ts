import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { screenshot } from '../../testing/browser.ts'
import { setStage } from '../../testing/stage.ts'
import { createState } from '../state.ts'
import { AppState, GraticuleMap, useAppState } from './react.ts'

const stage = setStage()

/** The application in StrictMode, which mounts everything twice. */
async function showApp(): Promise<void> {
  const { url, key, others, light, dark } = stage.world
  await stage.page.evaluate(
    async ({ url, key, ...props }) => {
      document.getElementById('map')?.remove()
      tools.renderApp(url, key, props)
      await tools.until(() => tools.kept.map)
      await tools.settled()
    },
    { url, key, dataset: others, light, dark },
  )
}

const button = (name: string) => stage.page.getByRole('button', { name }).click()
const settled = () => stage.page.evaluate(() => tools.settled())
const selected = () => stage.page.evaluate(() => tools.selected('places'))
const output = () => stage.page.locator('output').textContent()

test('components show a map and its data, and clicks and buttons select the same features', async () => {
  await showApp()
  assert.deepEqual(await stage.page.evaluate(() => tools.shown('places')), [1, 2, 3])
  assert.equal(await stage.page.locator('canvas').count(), 1)
  await button('Choose 3')
  await settled()
  assert.deepEqual([await selected(), await output()], [[3], '3 Other 3'])
  await clickOn(0, -15)
  assert.deepEqual([await selected(), await output()], [[2], '2 Other 2'])
  await stage.page.locator('.maplibregl-popup-content').getByText('Popup of Other 2 in light').waitFor()
  await screenshot(stage.page, 'react')
  assert.deepEqual([await stage.page.evaluate(() => tools.errors), stage.page.faults], [[], []])
})

test('another style and a map that comes back keep what is selected; without the map nothing is followed', async () => {
  const isFollowed = stage.page.waitForResponse((response) => response.url().includes('/changes') && response.ok())
  await showApp()
  await isFollowed
  await button('Choose 1')
  await stage.page.evaluate(() => {
    ;[...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Dark')?.click()
    return tools.restyled()
  })
  assert.deepEqual(await selected(), [1])
  await clickOn(0, -15)
  await stage.page.getByText('Popup of Other 2 in dark').waitFor()
  const isLeft = stage.page.waitForEvent('requestfailed', (request) => request.url().includes('/changes'))
  await button('Toggle')
  assert.equal(await stage.page.locator('canvas').count(), 0)
  await isLeft
  await stage.page.evaluate(async () => {
    const { map } = tools.kept
    ;[...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Toggle')?.click()
    await tools.until(() => tools.kept.map !== map)
    await tools.settled()
  })
  assert.deepEqual([await selected(), await output()], [[2], '2 Other 2'])
  assert.deepEqual([await stage.page.evaluate(() => tools.errors), stage.page.faults], [[], []])
})

const City = () => createElement('b', null, useAppState<string>('ui.city')[0])

test('a server renders the place of the map, and the state as it begins', () => {
  const state = createState({ ui: { city: 'Paris' } })
  const client = { url: 'https://maps.example.org' } as never
  const map = createElement(GraticuleMap, { client, style: 'light', className: 'map' })
  const html = renderToString(createElement(AppState, { state }, createElement(City), map))
  assert.match(html, /^<b>Paris<\/b><div class="map"/)
})

test('a hook outside of what it needs says so', () => {
  assert.throws(
    () => renderToString(createElement(City)),
    /useAppState must be inside of an AppState or a GraticuleMap/,
  )
})

async function clickOn(longitude: number, latitude: number): Promise<void> {
  const { x, y } = await stage.page.evaluate(
    (at) => {
      const { gl } = tools.kept.map
      const { left, top } = gl.getContainer().getBoundingClientRect()
      const { x, y } = gl.project(at)
      return { x: x + left, y: y + top }
    },
    [longitude, latitude] as [number, number],
  )
  await stage.page.mouse.click(x, y)
  await settled()
}
