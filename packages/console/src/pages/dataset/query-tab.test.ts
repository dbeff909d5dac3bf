import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dataset } from '@graticule/client'
import type { Page } from 'playwright-core'
import { accessibilityFaults, phone, screenshots, setStage, untilFits } from '../../../testing/stage.ts'

const stage = setStage()

const call = async (method: string, path: string, body?: unknown) =>
  (await stage.app.call(method, `/api/v1/${path}`, { key: stage.tenant.developer, body })).body

const largeSource = 'SELECT id, name, population, geom\nFROM cities\nWHERE population > :least::int'
const parameters = [{ name: 'least', type: 'integer', default: 5_000_000, description: 'Inhabitants' }]

const citiesOf = async (): Promise<Dataset> => (await call('GET', 'datasets?filter[name]=Cities%20of%20the%20world'))[0]

const editor = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })

async function write(page: Page, name: string, text: string): Promise<void> {
  await editor(page, name).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

/** What an editor marks as wrong. */
const markAt = (page: Page, text: string) =>
  page.locator('.cm-lintRange-error').filter({ hasText: new RegExp(`^${text}$`) })

const result = (page: Page) => page.getByRole('region', { name: 'Result' })

test('a query is written, run by Ctrl+Enter, shown as table, map, JSON, plan and code, and kept', async () => {
  const page = await stage.open(`/data/${(await citiesOf()).id}/query`)
  await write(
    page,
    'Query',
    '{"where": {"country": "Finland"}, "order": ["-population"], "attributes": ["name", "population", "geom"]}',
  )
  await page.keyboard.press('Control+Enter')
  await page.getByRole('cell', { name: 'Helsinki' }).waitFor()
  assert.match((await result(page).getByRole('status').textContent()) ?? '', /\d+ rows · [\d.,]+ m?s/)
  assert.match(decodeURIComponent(page.url()), /\?q=\{"where":\{"country":"Finland"\}/)
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'query')
  await page.getByText('This query as code').click()
  await page.getByRole('region', { name: 'code for curl' }).getByText('"country": "Finland"').waitFor()
  assert.ok(!(await page.content()).includes(stage.tenant.developer))
  await page.getByRole('radio', { name: 'JSON' }).check({ force: true })
  await editor(page, 'Rows as JSON').getByText('"Helsinki"').waitFor()
  await page.getByRole('radio', { name: 'Plan' }).check({ force: true })
  await page.getByText('keeps rows with').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('link', { name: 'Snippets' }).click()
  await page.getByText('The query that you ran last').waitFor()
  await page.getByRole('radio', { name: 'QGIS' }).check({ force: true })
  await page.getByText('Protocol: HTTP(S)').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('link', { name: 'Query', exact: true }).click()
  await editor(page, 'Query').getByText('"Finland"').waitFor()
  await page.getByText('keeps rows with').waitFor()
  await page.getByRole('radio', { name: 'Map' }).check({ force: true })
  await page.getByRole('region', { name: 'Map of the rows of Cities of the world' }).waitFor()
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('what is wrong is said at its place, before and after the query is sent, and the text stays', async () => {
  const page = await stage.open(`/data/${(await citiesOf()).id}/query`, { colorScheme: 'dark' })
  await write(page, 'Query', '{\n  "where": {\n    "populatoin": 1 }\n}')
  await page
    .locator('.cm-lintRange-error', { hasText: '"populatoin"' })
    .or(page.locator('.cm-lintRange-error'))
    .first()
    .waitFor()
  await page.keyboard.press('Control+Enter')
  await page.getByRole('alert').getByText('Did you mean "population"?').first().waitFor()
  await page.getByRole('alert').getByText('Request').waitFor()
  assert.match((await editor(page, 'Query').textContent()) ?? '', /populatoin/)
  // The mark of the page's own check is at the name, that of the answer at its value.
  await markAt(page, '1').first().waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await write(page, 'Query', '{\n  "where":\n}')
  await page.locator('.cm-lint-marker-error').waitFor()
  const [marked, third] = await Promise.all([
    page.locator('.cm-lint-marker-error').boundingBox(),
    page.locator('.cm-lineNumbers .cm-gutterElement').last().boundingBox(),
  ])
  assert.ok(Math.abs((marked?.y ?? 0) - (third?.y ?? 99)) < 12, 'the mark is at line 3')
  await page.getByRole('button', { name: 'Run' }).hover()
  await page.getByText('The query is not valid JSON yet.').waitFor()
  // Letters that come faster than the page draws are not lost.
  const long = 'population is the number of people who live in a city '.repeat(2)
  await write(page, 'Query', '')
  await page.keyboard.type(long)
  assert.equal(await editor(page, 'Query').textContent(), long)
  // Completion offers what fits the dataset.
  await write(page, 'Query', '')
  await page.keyboard.type('{"where": {"popu')
  await page.getByRole('option', { name: /population/ }).waitFor()
  await page.keyboard.press('Control+f')
  await page.getByRole('textbox', { name: 'Find' }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  // The browser reports every answer of 400 as an error of the page.
  assert.deepEqual(
    page.faults.filter((fault) => !fault.includes('400')),
    [],
  )
  await page.close()
})

test('the SQL of a dataset is changed, with the database’s complaint at its word, and its parameters are asked for', async () => {
  const body = { type: 'sql', name: 'Large cities', source: largeSource, metadata: { parameters } }
  const large: Dataset = await call('POST', 'datasets', body)
  const page = await stage.open(`/data/${large.id}/query`)
  await page.getByLabel('least').fill('20000000')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('cell', { name: 'Shanghai' }).waitFor()
  await page.getByLabel('least').fill('many')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('must be of type integer').first().waitFor()
  await page.getByLabel('least').fill('')
  await page.getByRole('radiogroup', { name: 'Query language' }).getByText('SQL', { exact: true }).click()
  await write(page, 'SQL', 'SELECT id, nme\nFROM cities WHERE population > :least')
  await page.getByRole('button', { name: 'Save SQL' }).click()
  await page.getByRole('alert').getByText('column "nme" does not exist').first().waitFor()
  await markAt(page, 'nme').first().waitFor()
  await write(page, 'SQL', 'SELECT id, name AS city, geom\nFROM cities\nWHERE population > :least')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('columnheader', { name: 'city' }).waitFor()
  assert.match((await call('GET', `datasets/${large.id}`)).source, /AS city/)
  // First of all: the offer to undo is there for some seconds only.
  await page.getByRole('button', { name: 'Undo' }).click()
  await editor(page, 'SQL').getByText('population, geom').waitFor()
  assert.equal((await call('GET', `datasets/${large.id}`)).source, large.source)
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'query-sql')
  await page.close()
})

test('a query that takes long is stopped, and SQL over a table becomes a dataset of its own', async () => {
  const page = await stage.open(`/data/${(await citiesOf()).id}/query`)
  // The answer waits until the page has given up.
  let hasLeft: () => void = () => {}
  const left = new Promise<void>((resolve) => {
    hasLeft = resolve
  })
  await page.route('**/query?*', async (route) => {
    await left
    await route.abort().catch(() => {})
  })
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stopped.').waitFor()
  hasLeft()
  await page.unroute('**/query?*')
  await page.getByRole('radiogroup', { name: 'Query language' }).getByText('SQL', { exact: true }).click()
  await editor(page, 'SQL').getByText('cities').waitFor()
  await write(page, 'SQL', 'SELECT country, count(*) AS n FROM cities GROUP BY country')
  await page.getByRole('button', { name: 'Save as new dataset' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Cities by country')
  await page.getByRole('button', { name: 'Make dataset' }).click()
  await page.getByRole('heading', { name: 'Cities by country' }).waitFor()
  const [made] = await call('GET', 'datasets?filter[name]=Cities%20by%20country')
  assert.equal(made.type, 'sql')
  await page.close()
})

test('the query page fits a phone', async () => {
  const page = await stage.open(`/data/${(await citiesOf()).id}/query`, { viewport: phone, hasTouch: true })
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('cell').first().waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await untilFits(page)
  await page.close()
})
