import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dataset } from '@graticule/client'
import { accessibilityFaults, phone, screenshots, setStage, untilFits } from '../../../testing/stage.ts'

const stage = setStage()

const call = async (method: string, path: string, body?: unknown) =>
  stage.app.call(method, `/api/v1/${path}`, { key: stage.tenant.developer, body })

const make = async (name: string): Promise<Dataset> =>
  (await call('POST', 'datasets', { type: 'table', name, source: 'cities', metadata: { tags: ['sample'], old: 1 } }))
    .body

test('name, tags and metadata are saved together, and what is wrong is said at its field', async () => {
  const { id } = await make('A name of sixty characters, as long as a German one may be, yes')
  const page = await stage.open(`/data/${id}/settings`)
  await page.getByLabel('Name').fill('Towns')
  await page.getByLabel('Tags').fill('big')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Remove tag sample' }).click()
  const metadata = page.getByRole('textbox', { name: 'Metadata as JSON' })
  await metadata.getByText('"big"').waitFor()
  await metadata.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{"tags": ["big"], "parameters": 3}')
  await page.getByText('Not saved yet.').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'settings')
  // A look at another page loses nothing.
  await page.getByRole('link', { name: 'Snippets' }).click()
  await page.getByRole('link', { name: 'Settings' }).click()
  await metadata.getByText('"parameters"').waitFor()
  await metadata.click()
  await page.keyboard.press('Control+s')
  await page.getByRole('alert').getByText('must be a list').first().waitFor()
  await page.locator('.cm-lintRange-error').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{"tags": ["big"], "depth": {"a": 1}}')
  await page.keyboard.press('Control+s')
  await page.getByText('Settings saved').waitFor()
  const { body } = await call('GET', `datasets/${id}`)
  assert.deepEqual([body.name, body.metadata], ['Towns', { tags: ['big'], depth: { a: 1 } }])
  await page.getByLabel('Table or view').fill('nowhere')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('alert').first().waitFor()
  assert.equal(await page.getByLabel('Table or view').getAttribute('aria-invalid'), 'true')
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByText('All is saved.').waitFor()
  assert.equal(await page.getByLabel('Table or view').inputValue(), 'cities')
  await page.close()
})

test('what somebody else saved meanwhile is not overwritten but shown beside one’s own', async () => {
  const { id } = await make('Shared')
  const page = await stage.open(`/data/${id}/settings`)
  await page.getByLabel('Description').fill('mine')
  await call('PATCH', `datasets/${id}`, { description: 'theirs' })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('cell', { name: 'theirs' }).waitFor()
  assert.equal((await call('GET', `datasets/${id}`)).body.description, 'theirs')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Save mine over theirs' }).click()
  await page.getByText('Settings saved').waitFor()
  assert.equal((await call('GET', `datasets/${id}`)).body.description, 'mine')
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('a tile source is made of a dataset, and the dataset deleted with what goes with it told', async () => {
  const { id } = await make('Doomed')
  const page = await stage.open(`/data/${id}/settings`, { viewport: phone, hasTouch: true })
  await page.getByRole('button', { name: 'New tile source' }).click()
  await page.waitForURL(/\/tiles\//)
  await page.goBack()
  await page.getByRole('region', { name: 'Tile sources' }).getByRole('link', { name: 'Doomed' }).waitFor()
  await untilFits(page)
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Delete dataset' }).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByText('1 tile source').waitFor()
  await dialog.getByLabel('Keep the table').check()
  const sent = page.waitForRequest((request) => request.method() === 'DELETE')
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  assert.match((await sent).url(), /keepData=true/)
  await page.waitForURL(/\/console\/data$/)
  assert.equal((await call('GET', `datasets/${id}`)).status, 404)
  await page.close()
})

test('secret headers are written and never shown', async () => {
  const rows = [{ id: 1, name: 'Bern' }]
  const { createServer } = await import('node:http')
  const seen: unknown[] = []
  const service = createServer((request, response) => {
    seen.push(request.headers['x-token'])
    response.setHeader('content-type', 'application/json').end(JSON.stringify(rows))
  }).listen(0, '127.0.0.1')
  service.unref()
  await new Promise((resolve) => service.once('listening', resolve))
  const { port } = service.address() as { port: number }
  const source = `http://127.0.0.1:${port}/rows`
  const { body } = await call('POST', 'datasets', { type: 'rest', name: 'Service', source })
  const page = await stage.open(`/data/${body.id}/settings`)
  await page.getByRole('button', { name: 'Replace headers' }).click()
  await page.getByLabel('Header', { exact: true }).fill('x-token')
  await page.getByLabel('Value').fill('secret-token')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Settings saved').waitFor()
  assert.equal(seen.at(-1), 'secret-token')
  await page.getByText('never shown').waitFor()
  assert.ok(!(await page.content()).includes('secret-token'))
  await page.close()
  service.close()
})
