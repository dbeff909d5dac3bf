import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LayerRecipe, Recipes } from '@graticule/map/recipe'
import { accessibilityFaults, screenshots, setStage, until } from '../../../../testing/stage.ts'

const stage = setStage()

const call = async (path: string) => (await stage.app.call('GET', path, { key: stage.tenant.developer })).body

test('a layer becomes hexagons far out, its popup has chosen fields in their formats, and both are saved', async () => {
  const [dataset] = await call('/api/v1/datasets?filter[name]=Cities of the world')
  const page = await stage.open(`/maps?dataset=${dataset.id}`)
  await page.getByLabel('Colour by').waitFor()
  await page.locator('summary', { hasText: /^Far out/ }).click()
  await page.getByLabel('Far out, show').selectOption('hexagons')
  // The classes are made of what is seen.
  const legend = page.getByRole('list', { name: 'Cities of the world' })
  await until(
    () => legend.getByRole('textbox').evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value)),
    ([first, second]) => /^< \d/.test(first ?? '') && / – |≥ /.test(second ?? ''),
  )
  await page.locator('summary', { hasText: /^Popup and hover/ }).click()
  await page.getByLabel('Beside the pointer').selectOption('name')
  const fields = page.getByRole('list', { name: 'Fields of the popup' })
  await fields.locator('summary', { hasText: 'population' }).click()
  const opened = fields.locator('details[open]')
  await opened.getByLabel('Label').fill('People')
  await opened.getByLabel('Decimals').fill('0')
  await fields.locator('summary', { hasText: 'country' }).click()
  await page.getByRole('button', { name: 'Remove country' }).click()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'far-and-popups')
  await page.keyboard.press('Control+s')
  await page.getByText('Map saved').waitFor()
  await page.waitForURL(/\/maps\/[\w-]{36}\/look/)
  const [, id] = /maps\/([\w-]{36})\//.exec(page.url()) ?? []
  const { style } = await call(`/api/v1/styles/${id}`)
  const [layer] = (style.metadata['graticule:recipes'] as Recipes).layers as [LayerRecipe]
  assert.equal(layer.hover, 'name')
  assert.deepEqual(layer.popup?.fields[0], { name: 'population', label: 'People', digits: 0 })
  assert.ok(
    layer.far?.kind === 'hexagons' && layer.far.breaks.length > 0,
    'maps that know no recipes have classes, too',
  )
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})
