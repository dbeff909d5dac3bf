import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accessibilityFaults,
  type ConsolePage,
  confirm,
  phone,
  screenshots,
  setStage,
  until,
  untilFits,
} from '../../../../testing/stage.ts'

const stage = setStage()
const ask = (method: string, path: string, body?: object) =>
  stage.app.call(method, `/api/v1/${path}`, { key: stage.tenant.developer, ...(body && { body }) })

const rowOf = (page: ConsolePage, text: string) => page.getByRole('row').filter({ hasText: text })

/** What a refused request writes to the browser's console is no fault of the page. */
const faultsOf = ({ faults }: ConsolePage) => faults.filter((fault) => !fault.startsWith('Failed to load resource'))

async function finish(page: ConsolePage): Promise<void> {
  assert.deepEqual([faultsOf(page), page.foreign], [[], []])
  await page.close()
}

async function makeTable(source: string, columns: object[], rows: object[]): Promise<string> {
  const { status, body, text } = await ask('POST', 'datasets', { type: 'table', name: source, source, columns })
  assert.equal(status, 201, text)
  const inserted = await ask('POST', `datasets/${body.id}/rows`, rows)
  assert.equal(inserted.status, 201, inserted.text)
  return body.id
}

const treeColumns = [
  { name: 'name', type: 'string', nullable: false },
  { name: 'height', type: 'number' },
  { name: 'geom', type: 'geometry', geometryType: 'Point' },
]
const trees = ['Oak', 'Elm', 'Ash', 'Yew'].map((name, index) => ({ name, height: index + 1 }))

test('a row is added with a point that is clicked on the map, and what the server finds wrong is said at its field', async () => {
  const id = await makeTable('added', treeColumns, trees)
  const page = await stage.open(`/data/${id}/table`)
  await page.getByRole('button', { name: 'Add row' }).waitFor()
  await page.keyboard.press('n')
  const sheet = page.getByRole('dialog')
  await sheet.getByRole('textbox', { name: 'height' }).fill('12.5')
  await sheet.getByRole('button', { name: 'Add row' }).click()
  await sheet.getByText('Is required: the column takes no null and has no default.').waitFor()
  await until(
    () => page.evaluate('document.activeElement.getAttribute("aria-invalid")'),
    (found) => found === 'true',
  )
  assert.deepEqual(await accessibilityFaults(page), [])
  await sheet.getByRole('textbox', { name: 'name', exact: true }).fill('Linden')
  const longitude = sheet.getByRole('textbox', { name: 'Longitude of geom' })
  const map = sheet.getByRole('region', { name: 'Map for geom' })
  await map.scrollIntoViewIfNeeded()
  await until(
    async () => {
      await map.click()
      return longitude.inputValue()
    },
    (found) => found !== '',
  )
  await longitude.fill('24.94')
  await sheet.getByRole('textbox', { name: 'Latitude of geom' }).fill('60.17')
  await screenshots(page, 'row-new')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Row 5 is added').waitFor()
  await rowOf(page, 'Linden').and(page.locator('[aria-selected="true"]')).waitFor()
  const { body } = await ask('GET', `datasets/${id}/rows/5`)
  const geom = { type: 'Point', coordinates: [24.94, 60.17] }
  assert.deepEqual(body, { id: 5, name: 'Linden', height: 12.5, geom })
  await finish(page)
})

const everything = [
  { name: 'big', type: 'integer' },
  { name: 'exact', dbType: 'numeric' },
  { name: 'note', type: 'string' },
  { name: 'ok', type: 'boolean' },
  { name: 'day', type: 'date' },
  { name: 'at', type: 'datetime' },
  { name: 'hour', type: 'time' },
  { name: 'mark', type: 'uuid' },
  { name: 'data', type: 'json' },
  { name: 'tags', type: 'array' },
  { name: 'numbers', dbType: 'bigint[]' },
  { name: 'shape', type: 'geometry', geometryType: 'Polygon' },
  { name: 'place', type: 'geometry' },
]
const digits = '123456789012345678.90123456789'

test('values of all types are edited, null is a choice of its own, and no digit is lost', async () => {
  const square = { type: 'Polygon', coordinates: [[[0, 0], [1, 0], [1, 1], [0, 0]]] } // biome-ignore format: one line
  const row = { big: '9007199254740993', exact: digits, note: 'two\nlines', ok: true, day: '2027-01-31', shape: square }
  const id = await makeTable('everything', everything, [{ ...row, numbers: ['9007199254740993'] }])
  const raw = (path: string, body: string) =>
    fetch(`${stage.url}/api/v1/datasets/${id}/${path}`, {
      method: 'PATCH',
      headers: { 'x-api-key': stage.tenant.developer, 'content-type': 'application/json' },
      body,
    })
  assert.equal((await raw('rows/1', `{"data": {"n": ${digits}}}`)).status, 200)
  const before = (await ask('GET', `datasets/${id}/rows/1`)).text
  const page = await stage.open(`/data/${id}/table?sel=[1]`)
  await page.getByRole('button', { name: 'edit', exact: true }).waitFor()
  await page.keyboard.press('e')
  const sheet = page.getByRole('dialog')
  const field = (name: string) => sheet.getByRole('textbox', { name, exact: true })
  await field('big').and(page.locator(':focus')).waitFor()
  assert.equal(await field('data').inputValue(), `{\n  "n": ${digits}\n}`)
  assert.equal(await field('numbers').inputValue(), '["9007199254740993"]')
  assert.equal(await field('note').inputValue(), 'two\nlines')
  assert.equal(await sheet.getByRole('button', { name: 'Save' }).getAttribute('aria-disabled'), 'true')
  await screenshots(page, 'row-edit')
  await field('exact').fill('9007199254740993.5')
  await field('big').fill('x')
  await field('data').fill(`{"n": ${digits}, "more": true}`)
  await field('at').fill('2027-01-31T12:00:00Z')
  await field('hour').fill('12:30')
  await field('mark').fill('00000000-0000-4000-8000-000000000001')
  await field('tags').fill('["a", "b"]')
  await sheet.getByLabel('day', { exact: true }).fill('2028-02-29')
  await sheet.getByRole('combobox', { name: 'ok' }).selectOption('false')
  await sheet.getByRole('button', { name: 'null for note' }).click()
  await field('Longitude of place').fill('24.94')
  await field('Latitude of place').fill('60.17')
  await sheet.getByRole('radio', { name: 'Drawing, GeoJSON' }).check({ force: true })
  assert.equal(await field('GeoJSON of place').inputValue(), '{"type":"Point","coordinates":[24.94,60.17]}')
  await field('GeoJSON of place').fill('{"type": "LineString", "coordinates": [[24, 60], [25, 61]]}')
  await screenshots(page, 'row-geometry')
  await page.keyboard.press('Control+Enter')
  await sheet.getByText('Must be a whole number such as 1000.').waitFor()
  await field('big').fill('-9223372036854775808')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Row 1 is saved').waitFor()
  const after = (await ask('GET', `datasets/${id}/rows/1`)).text
  const changed = { big: '"-9223372036854775808"', exact: '"9007199254740993.5"', note: 'null', ok: 'false' }
  const expected = Object.entries(changed).reduce(
    (text, [name, value]) => text.replace(new RegExp(`"${name}":("[^"]*"|\\w+)`), `"${name}":${value}`),
    before,
  )
  for (const part of expected.split(/,(?=")/).slice(0, 5)) assert.ok(after.includes(part), `${part} in ${after}`)
  assert.match(after, /"data":\{"n": 123456789012345678.90123456789, "more": true\}/)
  assert.match(after, /"numbers":\["9007199254740993"\]/)
  assert.match(after, /"at":"2027-01-31T12:00:00/)
  assert.match(after, /"place":\{"type":"LineString","coordinates":\[\[24,60\],\[25,61\]\]\}/)
  assert.match(after, /"hour":"12:30:00/)
  assert.match(after, /"tags":\["a","b"\]|"tags":\["a", "b"\]/)
  await finish(page)
})

test('a row that somebody else has changed is not overwritten: the differences are shown, and the user decides', async () => {
  const id = await makeTable('contested', treeColumns, trees)
  const page = await stage.open(`/data/${id}/table?sel=[1]`)
  const sheet = page.getByRole('dialog')
  const height = sheet.getByRole('textbox', { name: 'height' })
  const begin = async () => {
    await page.getByRole('button', { name: 'edit', exact: true }).click()
    await height.fill('99')
  }
  await begin()
  assert.equal((await ask('PATCH', `datasets/${id}/rows/1`, { name: 'Old oak', height: 7 })).status, 200)
  await sheet.getByRole('button', { name: 'Save' }).click()
  const conflict = sheet.getByRole('alert')
  await conflict.getByText('Somebody else has changed this row').waitFor()
  const lines = await conflict.getByRole('row').allInnerTexts()
  assert.deepEqual(
    lines.map((line) => line.split(/\t/)),
    [
      ['Column', 'Yours', 'Theirs'],
      ['name', 'not changed, theirs stays', 'Old oak'],
      ['height', '99', '7'],
    ],
  )
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'row-conflict')
  await conflict.getByRole('button', { name: 'Save mine over theirs' }).click()
  await page.getByText('Row 1 is saved').waitFor()
  const mine = (await ask('GET', `datasets/${id}/rows/1`)).body
  assert.deepEqual([mine.name, mine.height], ['Old oak', 99])

  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'edit', exact: true }).click()
  await height.fill('100')
  assert.equal((await ask('PATCH', `datasets/${id}/rows/1`, { height: 8 })).status, 200)
  await sheet.getByRole('button', { name: 'Save' }).click()
  await conflict.getByRole('button', { name: 'Take theirs' }).click()
  assert.equal(await height.inputValue(), '8')
  await height.fill('101')
  assert.equal((await ask('DELETE', `datasets/${id}/rows/1`)).status, 200)
  await sheet.getByRole('button', { name: 'Save' }).click()
  await conflict.getByText('Somebody else has deleted this row meanwhile').waitFor()
  await page.keyboard.press('Escape')
  await sheet.getByText('What you changed is not saved.').waitFor()
  await page.keyboard.press('Escape')
  await sheet.getByRole('button', { name: 'Discard' }).click()
  await sheet.waitFor({ state: 'detached' })
  await finish(page)
})

test('the selected rows are deleted after a question that names how many, all or none', async () => {
  const id = await makeTable('felled', treeColumns, trees)
  const page = await stage.open(`/data/${id}/table?sel=[1,2,3]`)
  await page.getByRole('button', { name: 'delete', exact: true }).waitFor()
  await page.keyboard.press('Delete')
  const question = page.getByRole('alertdialog')
  await question.getByText('3 rows are deleted from “felled”: 1, 2, 3. This cannot be undone.').waitFor()
  await screenshots(page, 'rows-delete')
  assert.equal((await ask('DELETE', `datasets/${id}/rows/3`)).status, 200)
  await question.getByRole('button', { name: 'Delete 3 rows' }).click()
  await question.getByText('The filter matches 2 rows, and 3 were expected. Nothing was changed.').waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await rowOf(page, 'Oak').click()
  await rowOf(page, 'Elm').click({ modifiers: ['Control'] })
  await page.getByText('2 selected').waitFor()
  await page.getByRole('button', { name: 'delete', exact: true }).click()
  await confirm(page, 'Delete 2 rows')
  await page.getByText('2 rows deleted').waitFor()
  await rowOf(page, 'Oak').waitFor({ state: 'detached' })
  const { body } = await ask('POST', `datasets/${id}/query`, { attributes: ['name'] })
  assert.deepEqual(body, [{ name: 'Yew' }])
  await finish(page)
})

test('on a phone a row is edited and deleted from its sheet', async () => {
  const id = await makeTable('phone', treeColumns, trees)
  const page = await stage.open(`/data/${id}/table`, { viewport: phone })
  await rowOf(page, 'Elm').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Edit' }).click()
  const sheet = page.getByRole('dialog', { name: 'Edit row 2' })
  await sheet.getByRole('textbox', { name: 'name', exact: true }).fill('Wych elm')
  await untilFits(page)
  assert.deepEqual(await accessibilityFaults(page), [])
  await sheet.getByRole('button', { name: 'Save' }).click()
  await rowOf(page, 'Wych elm').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await confirm(page, 'Delete 1 row')
  await rowOf(page, 'Wych elm').waitFor({ state: 'detached' })
  await finish(page)
})

test('what cannot be edited has no buttons, or says why', async () => {
  const id = await makeTable('readonly', treeColumns, trees)
  const addRow = (page: ConsolePage) => page.getByRole('button', { name: 'Add row' })
  const key = await stage.app.key(stage.tenant.id, { datasets: { read: '*', execute: '*' } })
  const reader = await stage.open(`/data/${id}/table?sel=[1]`, { key })
  await addRow(reader).hover()
  await reader.getByText('This key may not do that: it needs append on datasets.').waitFor()
  assert.equal(await reader.getByRole('button', { name: 'delete', exact: true }).count(), 0)
  await reader.close()

  const adding = await stage.app.key(stage.tenant.id, { datasets: { read: '*', execute: '*', append: [id] } })
  const adder = await stage.open(`/data/${id}/table?sel=[1]`, { key: adding })
  await addRow(adder).click()
  const sheet = adder.getByRole('dialog')
  await sheet.getByRole('textbox', { name: 'name', exact: true }).fill('Hazel')
  await sheet.getByRole('button', { name: 'Add row' }).click()
  await rowOf(adder, 'Hazel').waitFor()
  assert.equal(await adder.getByRole('button', { name: 'delete', exact: true }).count(), 0)
  await finish(adder)

  const page = await stage.open('/data')
  let type = 'postgres'
  await page.route('**/api/v1/databases/*', async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    await route.fulfill({ response, json: Array.isArray(json) ? json : { ...json, type } })
  })
  await page.goto(`${stage.url}/console/data/${id}/table`)
  await addRow(page).hover()
  await page.getByText(/in an external database, which is only read/).waitFor()
  await page.goto(`${stage.url}/console/data/${id}/attributes`)
  await page.getByRole('button', { name: 'Statistics of height' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Add column' }).count(), 0)

  for (type of ['duckdb', 'of a driver that this server does not have']) {
    await page.goto(`${stage.url}/console/data/${id}/table`)
    await rowOf(page, 'Elm').first().waitFor()
    await page.untilQuiet()
    assert.equal(await addRow(page).count(), 0, type)
  }

  const sql = await ask('POST', 'datasets', { type: 'sql', name: 'one', source: 'SELECT 1 AS one' })
  await page.goto(`${stage.url}/console/data/${sql.body.id}/table`)
  await page.getByRole('grid').getByText('1', { exact: true }).waitFor()
  assert.equal(await addRow(page).count(), 0)
  await finish(page)
})
