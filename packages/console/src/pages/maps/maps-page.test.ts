import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accessibilityFaults,
  type ConsolePage,
  confirm,
  screenshots,
  setStage,
  typeOver,
} from '../../../testing/stage.ts'

const stage = setStage()

const styles = async (): Promise<{ id: string; name: string; metadata: Record<string, unknown> }[]> =>
  (await stage.app.call('GET', '/api/v1/styles', { key: stage.tenant.developer })).body
const named = async (name: string) => (await styles()).find((style) => style.name === name)
const assertClean = (page: ConsolePage) => assert.deepEqual([page.faults, page.foreign], [[], []])

test('maps are listed with pictures, found, duplicated and deleted', async () => {
  const page = await stage.open('/maps')
  await page.getByRole('link', { name: 'Light' }).locator('img').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'maps')
  await page.getByRole('searchbox').fill('dar')
  await page.getByRole('link', { name: 'Light' }).waitFor({ state: 'detached' })
  assert.match(page.url(), /q=dar/)
  await page.getByRole('button', { name: 'More for Dark', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Duplicate' }).click()
  await page.getByRole('list', { name: 'Your maps' }).getByRole('link', { name: 'Dark copy' }).waitFor()
  assert.equal((await named('Dark copy'))?.metadata.base, undefined)
  await page.getByRole('button', { name: 'More for Dark copy' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await confirm(page, 'Delete')
  await page.getByRole('link', { name: 'Dark copy' }).waitFor({ state: 'detached' })
  assert.equal(await named('Dark copy'), undefined)
  assertClean(page)
  await page.close()
})

test('a tile source is made in the list of tile sources', async () => {
  const page = await stage.open('/maps?part=tiles')
  await page.getByRole('link', { name: 'Cities of the world' }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'tile-sources')
  await page.getByRole('button', { name: 'New tile source' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Tiles of').selectOption('tilelive')
  await dialog.getByLabel('Where the tiles are').fill('nonsense')
  await dialog.getByRole('button', { name: 'Make' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Tiles of').selectOption('dataset')
  await dialog.getByLabel('Dataset', { exact: true }).selectOption({ label: 'Cities of the world' })
  await dialog.getByLabel('Name (optional)').fill('Second tiles')
  await dialog.getByRole('button', { name: 'Make' }).click()
  await page.waitForURL(/\/tiles\/[\w-]{36}/)
  const { body } = await stage.app.call('GET', '/api/v1/tilesources', { key: stage.tenant.developer })
  assert.ok(body.some(({ name }: { name: string }) => name === 'Second tiles'))
  await page.close()
})

test('JSON edited by hand is checked at its line, and the controls never overwrite it silently', async () => {
  const page = await stage.open('/maps')
  await page.getByRole('button', { name: 'New map' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Base map').selectOption('None')
  await dialog.getByRole('button', { name: /Cities of the world/ }).click()
  await page.getByLabel('Colour by').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Map saved').waitFor()
  await page.getByRole('link', { name: 'JSON' }).click()
  const editor = page.getByRole('textbox', { name: 'Style' })
  await editor.waitFor()
  const text = JSON.stringify((await bodyOf(page)).style, null, 1)
  await typeOver(editor, text.replace('"circle-opacity": 0.9', '"circle-opacity": "much"'))
  await page.getByText('number expected').first().waitFor()
  await screenshots(page, 'style-json')
  await typeOver(editor, text.replace('"circle-opacity": 0.9', '"circle-opacity": 0.25'))
  await page.getByText('Unsaved changes').waitFor()
  await page.getByText('number expected').first().waitFor({ state: 'detached' })
  await page.keyboard.press('Control+s')
  await page.getByText(/^Saved/).waitFor()
  assert.match(JSON.stringify((await bodyOf(page)).style), /"circle-opacity":0\.25/)
  // The controls say what happened and leave the layers alone until they are asked.
  await page.getByRole('link', { name: 'Look' }).click()
  await page.getByText('Edited by hand.').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Start again from the recipe' }).click()
  await page.getByLabel('Colour by').waitFor()
  // What is not saved is still there after a look at another page.
  await page.getByRole('link', { name: 'All maps' }).click()
  await page.getByRole('list', { name: 'Your maps' }).getByText('Unsaved changes').waitFor()
  await page.getByRole('list', { name: 'Your maps' }).getByRole('link').click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/^Saved/).waitFor()
  assert.match(JSON.stringify((await bodyOf(page)).style), /"circle-opacity":0\.9/)
  assertClean(page)
  await page.close()
})

test('a map that somebody else changed meanwhile is not overwritten unasked', async () => {
  const body = { name: 'Ours', style: { version: 8, sources: {}, layers: [] } }
  const made = await stage.app.call('POST', '/api/v1/styles', { key: stage.tenant.developer, body })
  const page = await stage.open(`/maps/${made.body.id}/look`)
  await page.getByLabel('Name of the map').fill('Mine')
  await stage.app.call('PUT', `/api/v1/styles/${made.body.id}`, {
    key: stage.tenant.developer,
    body: { ...body, name: 'Theirs' },
  })
  await page.getByRole('button', { name: 'Save' }).click()
  const question = page.getByRole('alertdialog')
  await question.getByText('This map was changed since you opened it').waitFor()
  assert.equal((await bodyOf(page)).name, 'Theirs')
  await question.getByRole('button', { name: 'Overwrite' }).click()
  await page.getByText(/^Saved/).waitFor()
  assert.equal((await bodyOf(page)).name, 'Mine')
  await page.close()
})

async function bodyOf(page: ConsolePage): Promise<{ name: string; style: object }> {
  const [, id] = /maps\/([\w-]{36})\//.exec(page.url()) ?? []
  return (await stage.app.call('GET', `/api/v1/styles/${id}`, { key: stage.tenant.developer })).body
}
