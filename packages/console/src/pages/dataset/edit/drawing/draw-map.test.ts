import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, type ConsolePage, screenshots, setStage } from '../../../../../testing/stage.ts'

const stage = setStage()
const ask = (method: string, path: string, body?: object) =>
  stage.app.call(method, `/api/v1/${path}`, { key: stage.tenant.developer, ...(body && { body }) })

async function makeTable(source: string, geometryType: string): Promise<string> {
  const columns = [
    { name: 'name', type: 'string' },
    { name: 'geom', type: 'geometry', geometryType },
  ]
  const { body } = await ask('POST', 'datasets', { type: 'table', name: source, source, columns })
  return body.id
}

/** A map that is ready to be drawn on, and its box on the screen. */
async function mapOf(page: ConsolePage) {
  const map = page.getByRole('dialog').getByRole('region', { name: 'Map for geom' })
  await map.scrollIntoViewIfNeeded()
  await page
    .locator('[aria-busy="false"]')
    .filter({ has: page.getByRole('region', { name: 'Map for geom' }) })
    .waitFor()
  const box = await map.boundingBox()
  assert.ok(box)
  const at = (x: number, y: number) => [box.x + box.width * x, box.y + box.height * y] as const
  return {
    click: async (x: number, y: number) => {
      await page.mouse.move(...at(x, y), { steps: 3 })
      await page.mouse.click(...at(x, y))
    },
    async drag(from: readonly [number, number], to: readonly [number, number]) {
      await page.mouse.move(...at(...from), { steps: 3 })
      await page.mouse.down()
      await page.mouse.move(...at(...to), { steps: 6 })
      await page.mouse.up()
    },
  }
}

const corners = [[0.3, 0.3], [0.7, 0.3], [0.7, 0.7]] as const // biome-ignore format: one line

test('an area is drawn on the map, a corner is moved, and what is stored is what was drawn', async () => {
  const id = await makeTable('areas', 'Polygon')
  const page = await stage.open(`/data/${id}/table`)
  await page.getByRole('button', { name: 'Add row' }).first().click()
  const sheet = page.getByRole('dialog')
  const text = sheet.getByRole('textbox', { name: 'GeoJSON of geom' })
  const map = await mapOf(page)
  for (const [x, y] of corners) await map.click(x, y)
  await page.keyboard.press('Enter')
  const drawn = JSON.parse(await text.inputValue())
  assert.deepEqual([drawn.type, drawn.coordinates[0].length], ['Polygon', 4])
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('radio', { name: 'Move' }).check({ force: true })
  const moving = await mapOf(page)
  await moving.click(0.6, 0.4)
  await moving.drag([0.7, 0.7], [0.8, 0.8])
  const moved = JSON.parse(await text.inputValue())
  assert.notDeepEqual(moved, drawn)
  assert.equal(moved.coordinates[0].length, 4)
  await screenshots(page, 'draw-area')
  await sheet.getByRole('textbox', { name: 'name', exact: true }).fill('Field')
  await sheet.getByRole('button', { name: 'Add row' }).click()
  await page.getByText('Row 1 is added').first().waitFor()
  assert.deepEqual((await ask('GET', `datasets/${id}/rows/1`)).body, { id: 1, name: 'Field', geom: moved })
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('a line is drawn on the map beside the table, and its row is asked for the rest', async () => {
  const id = await makeTable('paths', 'LineString')
  const page = await stage.open(`/data/${id}/table`)
  await page.getByRole('button', { name: 'Draw a row' }).click()
  const panel = page.getByRole('region', { name: 'Draw a row' })
  await page.locator('section[aria-label="Draw a row"][aria-busy="false"]').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  const map = page.getByRole('region', { name: 'Map of paths' })
  const box = await map.boundingBox()
  assert.ok(box)
  const sheet = page.getByRole('dialog')
  const text = sheet.getByRole('textbox', { name: 'GeoJSON of geom' })
  for (const x of [0.5, 0.7]) {
    await page.mouse.move(box.x + box.width * x, box.y + box.height * 0.6, { steps: 3 })
    await page.mouse.click(box.x + box.width * x, box.y + box.height * 0.6)
  }
  await page.keyboard.press('Enter')
  await text.waitFor()
  const drawn = JSON.parse(await text.inputValue())
  assert.deepEqual([drawn.type, drawn.coordinates.length], ['LineString', 2])
  await sheet.getByRole('textbox', { name: 'name', exact: true }).fill('Path')
  await sheet.getByRole('button', { name: 'Add row' }).click()
  await page.getByText('Row 1 is added').first().waitFor()
  assert.deepEqual((await ask('GET', `datasets/${id}/rows/1`)).body, { id: 1, name: 'Path', geom: drawn })
  await panel.waitFor({ state: 'detached' })
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('parts are added to a line of several and removed, and typed GeoJSON is shown to be drawn on', async () => {
  const id = await makeTable('lines', 'MultiLineString')
  const line = { type: 'MultiLineString', coordinates: [[[20, 60], [25, 65]]] } // biome-ignore format: one line
  await ask('POST', `datasets/${id}/rows`, { name: 'Path', geom: line })
  const page = await stage.open(`/data/${id}/table?sel=[1]`)
  await page.getByRole('button', { name: 'edit', exact: true }).click()
  const text = page.getByRole('dialog').getByRole('textbox', { name: 'GeoJSON of geom' })
  await text.waitFor()
  assert.deepEqual(JSON.parse(await text.inputValue()), line)
  await page.getByRole('radio', { name: 'Line' }).check({ force: true })
  const map = await mapOf(page)
  await map.click(0.2, 0.8)
  await map.click(0.3, 0.6)
  await page.keyboard.press('Enter')
  const two = JSON.parse(await text.inputValue())
  assert.equal(two.coordinates.length, 2)
  assert.deepEqual(two.coordinates[0], line.coordinates[0])
  await page.getByRole('radio', { name: 'Move' }).check({ force: true })
  await (await mapOf(page)).click(0.25, 0.7)
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  assert.deepEqual(JSON.parse(await text.inputValue()), line)
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})
