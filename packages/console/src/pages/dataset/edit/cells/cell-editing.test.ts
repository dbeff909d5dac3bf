import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, type ConsolePage, screenshots, setStage, until } from '../../../../../testing/stage.ts'

const stage = setStage()
const ask = (method: string, path: string, body?: object) =>
  stage.app.call(method, `/api/v1/${path}`, { key: stage.tenant.developer, ...(body && { body }) })

const columns = [
  { name: 'name', type: 'string' },
  { name: 'height', dbType: 'real' },
  { name: 'data', type: 'json' },
  { name: 'healthy', type: 'boolean' },
  { name: 'seen', type: 'datetime' },
  { name: 'geom', type: 'geometry', geometryType: 'Point' },
]
const trees = ['Oak', 'Elm', 'Ash', 'Yew'].map((name, index) => ({
  name,
  height: index + 0.1,
  seen: '2027-01-31T12:00:00.123456Z',
  geom: { type: 'Point', coordinates: [index, 60] },
}))

async function makeTrees(source: string): Promise<string> {
  const { body } = await ask('POST', 'datasets', { type: 'table', name: source, source, columns })
  assert.equal((await ask('POST', `datasets/${body.id}/rows`, trees)).status, 201)
  return body.id
}

const stored = async (id: string, column: string): Promise<unknown[]> => {
  const { body } = await ask('POST', `datasets/${id}/query`, { attributes: [column], order: ['id'] })
  return body.map((row: Record<string, unknown>) => row[column])
}
const untilStored = (id: string, column: string, values: unknown[]) =>
  until(() => stored(id, column), (found) => JSON.stringify(found) === JSON.stringify(values)) // biome-ignore format: one line

const cell = (page: ConsolePage, text: string) => page.getByRole('gridcell').filter({ hasText: text })
const editor = (page: ConsolePage, name: string) => page.getByRole('gridcell').getByLabel(name, { exact: true })

async function open(id: string, query = ''): Promise<ConsolePage> {
  const page = await stage.open(`/data/${id}/table${query}`, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.getByRole('button', { name: 'Add row' }).waitFor()
  await cell(page, 'Elm').waitFor()
  return page
}

/** What a refused request writes to the browser's console is no fault of the page. */
async function finish(page: ConsolePage): Promise<void> {
  const faults = page.faults.filter((fault) => !fault.startsWith('Failed to load resource'))
  assert.deepEqual([faults, page.foreign], [[], []])
  await page.close()
}

async function paste(page: ConsolePage, text: string): Promise<void> {
  await page.evaluate((copied) => navigator.clipboard.writeText(copied), text)
  await page.keyboard.press('Control+v')
}

test('a cell is edited in its place: Tab goes on, Escape gives up, Enter saves, and the last change is taken back', async () => {
  const id = await makeTrees('inplace')
  const page = await open(id)
  await cell(page, 'Elm').dblclick()
  await editor(page, 'name of row 2').fill('Wych elm')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.keyboard.press('Tab')
  await editor(page, 'height of row 2').fill('12.5')
  await page.keyboard.press('Tab')
  await editor(page, 'healthy of row 2').selectOption('true')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await editor(page, 'name of row 3').fill('Never')
  await page.keyboard.press('Escape')
  await cell(page, 'Ash').waitFor()
  await untilStored(id, 'name', ['Oak', 'Wych elm', 'Ash', 'Yew'])
  await untilStored(id, 'height', [0.1, 12.5, 2.1, 3.1])
  await untilStored(id, 'healthy', [null, true, null, null])
  assert.deepEqual(new Set(await stored(id, 'seen')), new Set(['2027-01-31T12:00:00.123456Z']))

  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('F2')
  await editor(page, 'height of row 3').fill('tall')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('Must be a number such as 12.5.').waitFor()
  await editor(page, 'height of row 3').fill('')
  await page.keyboard.press('Enter')
  await untilStored(id, 'height', [0.1, 12.5, null, 3.1])
  await cell(page, 'Wych elm').click()
  await page.getByRole('button', { name: 'Undo the last change' }).click()
  await untilStored(id, 'height', [0.1, 12.5, 2.1, 3.1])
  await page.getByRole('grid').focus()
  await page.keyboard.press('Control+z')
  await untilStored(id, 'healthy', [null, null, null, null])
  await finish(page)
})

test('a block from a spreadsheet is pasted, all of it or nothing, and one value goes into all selected rows', async () => {
  const id = await makeTrees('pasted')
  const page = await open(id)
  await cell(page, 'Elm').click()
  await paste(page, 'Wych elm\t5\nMountain ash\t6,5\n')
  await page.getByText('Row 3, height: “6,5”. Must be a number such as 12.5.').first().waitFor()
  await paste(page, 'Wych elm\t5\r\n"Mountain ""ash"""\t6.5\r\n')
  await untilStored(id, 'name', ['Oak', 'Wych elm', 'Mountain "ash"', 'Yew'])
  await untilStored(id, 'height', [0.1, 5, 6.5, 3.1])
  await page.getByText('4 values changed').first().waitFor()
  await cell(page, 'Oak').click()
  await cell(page, 'Yew').click({ modifiers: ['Control'] })
  await page.getByText('2 selected').waitFor()
  await paste(page, 'Tree')
  await untilStored(id, 'name', ['Tree', 'Wych elm', 'Mountain "ash"', 'Tree'])
  await page.getByRole('button', { name: 'change', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Column' }).selectOption('height')
  await dialog.getByRole('textbox', { name: 'height' }).fill('9')
  await dialog.getByRole('button', { name: 'Change 2 rows' }).click()
  await untilStored(id, 'height', [9, 5, 6.5, 9])
  await page.getByRole('button', { name: 'Undo the last change' }).click()
  await untilStored(id, 'height', [0.1, 5, 6.5, 3.1])
  await finish(page)
})

test('a cell that somebody else has changed is not overwritten: both values are shown, and the user decides', async () => {
  const id = await makeTrees('raced')
  const page = await open(id)
  const edit = async (text: string, name: string) => {
    await cell(page, text).first().dblclick()
    await editor(page, 'name of row 1').fill(name)
  }
  await edit('Oak', 'My oak')
  assert.equal((await ask('PATCH', `datasets/${id}/rows/1`, { name: 'Their oak', height: 7 })).status, 200)
  await page.keyboard.press('Enter')
  const conflict = page.getByRole('dialog').getByRole('alert')
  await conflict.getByText('Somebody else has changed this cell').waitFor()
  const lines = await conflict.getByRole('row').allInnerTexts()
  assert.deepEqual(lines.map((line) => line.split(/\t/)), [['Cell', 'Yours', 'Theirs'], ['name of row 1', 'My oak', 'Their oak']]) // biome-ignore format: one line
  await screenshots(page, 'cell-conflict')
  await conflict.getByRole('button', { name: 'Save mine over theirs' }).click()
  await untilStored(id, 'name', ['My oak', 'Elm', 'Ash', 'Yew'])
  assert.deepEqual((await stored(id, 'height'))[0], 7)
  await cell(page, 'My oak').waitFor()
  await edit('My oak', 'Another')
  assert.equal((await ask('DELETE', `datasets/${id}/rows/1`)).status, 200)
  await page.keyboard.press('Enter')
  await conflict.getByText('the row is deleted').waitFor()
  await conflict.getByRole('button', { name: 'Take theirs' }).click()
  await cell(page, 'Another').waitFor({ state: 'detached' })
  await finish(page)
})

test('keys open the details of their row, JSON its form, and what may not be written is shown as it was', async () => {
  const id = await makeTrees('guarded')
  const page = await open(id)
  await page.getByRole('gridcell', { name: '2', exact: true }).dblclick()
  await page.getByRole('region', { name: 'Row 2' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('row').filter({ hasText: 'Elm' }).getByRole('gridcell').nth(3).dblclick()
  await page.getByRole('dialog', { name: 'Edit row 2' }).waitFor()
  await page.keyboard.press('Escape')
  await page.close()
  const key = await stage.app.key(stage.tenant.id, { datasets: { read: '*', execute: '*' } })
  const reader = await stage.open(`/data/${id}/table`, { key })
  await cell(reader, 'Elm').dblclick()
  await reader.getByRole('region', { name: 'Row 2' }).waitFor()
  await finish(reader)
})
