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
const ask = (method: string, path: string, body?: object, key = stage.tenant.developer) =>
  stage.app.call(method, `/api/v1/${path}`, { key, ...(body && { body }) })

async function makeDataset(given: object, key?: string): Promise<string> {
  const { status, body, text } = await ask(
    'POST',
    'datasets',
    { type: 'sql', source: 'SELECT 1 AS one', ...given },
    key,
  )
  assert.equal(status, 201, text)
  return body.id
}

const row = (page: ConsolePage, name: string) => page.getByRole('row').filter({ hasText: name })
const names = (page: ConsolePage) => page.locator('tbody tr a').allTextContents()

async function endQuietly(page: ConsolePage): Promise<void> {
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
}

test('datasets are found by name and tag, filtered and sorted by the server, and the address keeps it', async () => {
  const long = 'Gemeindeverwaltungszuständigkeitsgebiete der Nordostschweiz'
  await makeDataset({ name: long, metadata: { tags: ['verwaltung'] } })
  await makeDataset({ name: 'Alpha', description: 'all of the parcels' })
  const page = await stage.open('/data')
  await row(page, 'Cities of the world').getByRole('cell', { name: '4,442' }).waitFor()
  await row(page, 'Cities of the world')
    .getByRole('img', { name: /^From 157\.9° W/ })
    .waitFor()
  await page.getByText('3 datasets').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'data-list')

  await page.keyboard.press('/')
  await page.keyboard.type('PARCEL')
  await page.getByText('1 of 3 datasets').waitFor()
  assert.deepEqual(await names(page), ['Alpha'])
  await page.getByRole('searchbox').fill('nothing like it')
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await page.getByText('3 datasets').waitFor()

  await page.getByRole('button', { name: 'Name' }).click()
  await page.waitForURL(/sort=name/)
  await page.getByRole('columnheader', { name: 'Name' }).and(page.locator('[aria-sort=ascending]')).waitFor()
  await page.getByRole('button', { name: 'Type', exact: true }).first().click()
  await page.getByRole('menuitem', { name: 'SQL query' }).click()
  await page.getByText('2 of 3 datasets').waitFor()
  assert.deepEqual(await names(page), ['Alpha', long])
  await page.getByRole('button', { name: 'Show what is tagged verwaltung' }).click()
  await page.getByText('1 of 3 datasets').waitFor()
  await page.reload()
  await page.getByText('1 of 3 datasets').waitFor()
  assert.deepEqual(await names(page), [long])
  await page.getByRole('button', { name: 'Remove filter Tag: verwaltung' }).click()
  await page.getByText('2 of 3 datasets').waitFor()
  await page.goBack()
  await page.getByText('1 of 3 datasets').waitFor()
  await endQuietly(page)
})

test('a dataset is deleted after a question that names what goes with it and what draws it', async () => {
  const source = 'SELECT ST_SetSRID(ST_MakePoint(7, 46), 4326) AS geom'
  const id = await makeDataset({ name: 'Doomed', source })
  const tiles = (await ask('POST', 'tilesources', { type: 'dataset', source: id, name: 'Doomed tiles' })).body
  const sources = { a: { type: 'vector', url: `/tiles/${tiles.id}/index.json` } }
  const style = { name: 'Town plan', type: 'plain', style: { version: 8, sources, layers: [] } }
  assert.equal((await ask('POST', 'styles', style)).status, 201)
  const page = await stage.open('/data')
  await page.getByRole('button', { name: 'Actions for Doomed' }).click()
  await page.getByRole('menuitem', { name: 'Delete …' }).click()
  const question = page.getByRole('alertdialog')
  await question.getByText('Its tile source “Doomed tiles” is deleted too.').waitFor()
  await question.getByText(/Maps that draw it will lack it: “Town plan”/).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await confirm(page, 'Delete')
  await page.getByText('“Doomed” is deleted').waitFor()
  await row(page, 'Doomed').waitFor({ state: 'detached' })
  assert.equal((await ask('GET', `datasets/${id}`)).status, 404)
  assert.equal((await ask('GET', `tilesources/${tiles.id}`)).status, 404)
  await endQuietly(page)
})

test('a query becomes a dataset with typed parameters, and what is wrong is said at its field', async () => {
  const page = await stage.open('/data')
  await page.getByRole('button', { name: 'More ways to add data' }).click()
  await page.getByRole('menuitem', { name: 'An SQL query …' }).click()
  const dialog = page.getByRole('dialog')
  const editor = dialog.getByRole('textbox', { name: 'SQL' })
  await typeOver(editor, 'SELECT * FRM cities')
  await dialog.getByLabel('Name', { exact: true }).fill('Large cities')
  await dialog.getByRole('button', { name: 'Make dataset' }).click()
  await dialog.getByRole('alert').getByText('syntax error at or near "FRM", line 1, column 10').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await typeOver(editor, 'SELECT * FROM cities WHERE population > :least')
  await dialog.getByLabel('Type of least').selectOption('integer')
  await dialog.getByLabel('Default of least').fill('10000000')
  await dialog.getByLabel('Tags').fill('big, cities')
  await screenshots(page, 'data-new-sql')
  await dialog.getByRole('button', { name: 'Make dataset' }).click()
  await page.waitForURL(/\/data\/[0-9a-f-]{36}\/table/)
  const id = page.url().split('/').at(-2)
  const { body } = await ask('GET', `datasets/${id}`)
  assert.deepEqual(body.metadata, {
    tags: ['big', 'cities'],
    parameters: [{ name: 'least', type: 'integer', default: 10_000_000 }],
  })
  assert.equal((await ask('GET', `tilesources?filter[source]=${id}`)).body.length, 1)
  await page.close()
})

test('a dataset of a table is made by choosing among the tables of a database', async () => {
  const page = await stage.open('/data?add=table')
  const dialog = page.getByRole('dialog')
  await dialog.locator('datalist option[value=cities]').waitFor({ state: 'attached' })
  await dialog.getByLabel('Table', { exact: true }).last().fill('cities')
  await dialog.getByText('A dataset of this table exists already').waitFor()
  assert.equal(await dialog.getByLabel('Name', { exact: true }).inputValue(), 'cities')
  await dialog.getByText('Web service').click()
  await dialog.getByLabel('Address').fill('http://10.0.0.1/x')
  await dialog.getByRole('button', { name: 'Make dataset' }).click()
  await dialog.getByText(/The operator of this server can allow others in EGRESS_ALLOW/).waitFor()
  await dialog.getByText('Lambda function').click()
  await dialog.getByLabel('Function', { exact: true }).fill('parcels')
  await dialog.getByRole('button', { name: 'Make dataset' }).click()
  await dialog
    .getByText(/has set no AWS credentials/)
    .first()
    .waitFor()
  await page.close()
})

test('a list that is longer than a page is shown further, and an empty one says what would be here', async () => {
  const tenant = await stage.app.tenant('many')
  const empty = await stage.open('/data', { key: tenant.developer })
  await empty.getByRole('heading', { name: 'No datasets yet' }).waitFor()
  assert.deepEqual(await accessibilityFaults(empty), [])
  await screenshots(empty, 'data-empty')
  for (let index = 0; index < 51; index++) await makeDataset({ name: `Set ${index}` }, tenant.developer)
  await empty.reload()
  await empty.getByText('50 of 51', { exact: true }).waitFor()
  await empty.getByRole('button', { name: 'Show more' }).click()
  await empty.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' })
  assert.equal((await names(empty)).length, 51)
  // On a tablet the other columns make room for the names.
  await empty.setViewportSize({ width: 768, height: 1024 })
  const cell = await empty.getByRole('row').nth(1).getByRole('cell').nth(1).boundingBox()
  assert.ok(cell && cell.width > 300, `${cell?.width} px`)
  await endQuietly(empty)
})

test('whoever may only read sees why the rest is disabled', async () => {
  const key = await stage.app.key(stage.tenant.id, { datasets: { read: '*' } })
  const page = await stage.open('/data', { key })
  await row(page, 'Cities of the world').waitFor()
  await page.getByRole('button', { name: 'Add data', exact: true }).hover()
  await page.getByText('This key may not do that: it needs execute on uploads.').waitFor()
  await page.close()
})
