import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, confirm, phone, screenshots, setStage, untilFits } from '../../../../testing/stage.ts'

const stage = setStage()
const ask = (method: string, path: string, body?: object) =>
  stage.app.call(method, `/api/v1/${path}`, { key: stage.tenant.developer, ...(body && { body }) })

test('a table is made with its columns, what is wrong is said at its field, and its empty page says how to begin', async () => {
  const page = await stage.open('/data')
  await page.getByRole('button', { name: 'More ways to add data' }).click()
  await page.getByRole('menuitem', { name: 'New table …' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Trees of Helsinki')
  assert.equal(await dialog.getByLabel('Table in the database').getAttribute('placeholder'), 'trees_of_helsinki')
  const column = (number: number, field: string) => dialog.getByLabel(`${field} of column ${number}`, { exact: true })
  await dialog.getByRole('button', { name: 'Add column' }).click()
  await column(2, 'Name').fill('xmin')
  await column(2, 'Required').check()
  await dialog.getByRole('button', { name: 'Add column' }).click()
  await column(3, 'Name').fill('height')
  await column(3, 'Type').selectOption('Exact decimal')
  await column(3, 'Default').fill('1.50x')
  await dialog.getByText('Must be a number such as 12.5.').waitFor()
  await column(3, 'Default').fill('12345678901234567.50')
  await dialog.getByRole('button', { name: 'Make table' }).click()
  await dialog.getByText('must be another name: this one is reserved', { exact: false }).waitFor()
  assert.equal(await column(2, 'Name').getAttribute('aria-invalid'), 'true')
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'new-table')
  await page.setViewportSize(phone)
  await untilFits(page)
  await page.setViewportSize({ width: 1280, height: 800 })
  await column(2, 'Name').fill('name')
  await dialog.getByLabel('Table in the database').fill('cities')
  await dialog.getByRole('button', { name: 'Make table' }).click()
  await dialog.getByText('There is a table of this name already', { exact: false }).waitFor()
  await dialog.getByLabel('Table in the database').fill('')
  await dialog.getByRole('button', { name: 'Make table' }).click()
  await page.waitForURL(/\/data\/[0-9a-f-]{36}\/table/)
  await page.getByRole('heading', { name: 'No rows yet' }).waitFor()
  await page.getByText('Add the first row here').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'new-table-empty')

  const id = page.url().split('/').at(-2)
  const { body } = await ask('GET', `datasets/${id}`)
  const seen = body.attributes.map(({ name, dbType, nullable, primaryKey }: Record<string, unknown>) =>
    [name, dbType, nullable, primaryKey].join(' '),
  )
  assert.deepEqual(seen, [
    'id bigint false true',
    'name text false false',
    'height numeric true false',
    'geom geometry(Point,4326) true false',
  ])
  assert.equal((await ask('GET', `tilesources?filter[source]=${id}`)).body.length, 1)
  await page.getByRole('button', { name: 'Add row' }).first().click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'name', exact: true }).fill('Oak')
  await page.getByRole('dialog').getByRole('button', { name: 'Add row' }).click()
  await page.getByRole('row').filter({ hasText: 'Oak' }).getByText('12,345,678,901,234,567.5').waitFor()
  await page.close()
})

test('columns are added and dropped among the attributes, after a question that says what is lost', async () => {
  const columns = [{ name: 'name', type: 'string' }]
  const made = await ask('POST', 'datasets', { type: 'table', name: 'Benches', source: 'benches', columns })
  const { id } = made.body
  await ask('POST', `datasets/${id}/rows`, [{ name: 'Low' }, { name: 'High' }, { id: 9 }])
  const page = await stage.open(`/data/${id}/attributes`)
  await page.getByRole('button', { name: 'Add column' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('seats')
  await dialog.getByLabel('Type').selectOption('Whole number')
  await dialog.getByLabel('Required').check()
  await dialog.getByRole('button', { name: 'Add column' }).click()
  await dialog.getByText('give a default, or allow null', { exact: false }).waitFor()
  await dialog.getByLabel('Default').fill('2')
  await dialog.getByLabel('Description').fill('How many people sit on it')
  await screenshots(page, 'add-column')
  await dialog.getByRole('button', { name: 'Add column' }).click()
  const item = page.getByRole('listitem').filter({ hasText: 'seats' })
  await item.getByText('How many people sit on it').waitFor()
  assert.deepEqual((await ask('GET', `datasets/${id}/rows/9`)).body, { id: 9, name: null, seats: 2 })
  assert.deepEqual(await accessibilityFaults(page), [])

  await page.getByRole('button', { name: 'Drop the column name' }).click()
  const question = page.getByRole('alertdialog')
  await question.getByText('Its 2 values are deleted.', { exact: false }).waitFor()
  await screenshots(page, 'drop-column')
  await confirm(page, 'Drop column')
  await page.getByRole('button', { name: 'Drop the column name' }).waitFor({ state: 'detached' })
  assert.deepEqual((await ask('GET', `datasets/${id}/rows/9`)).body, { id: 9, seats: 2 })
  assert.equal(await page.getByRole('button', { name: 'Drop the column id' }).getAttribute('aria-disabled'), 'true')
  await page.setViewportSize(phone)
  await untilFits(page)
  await page.close()
})
