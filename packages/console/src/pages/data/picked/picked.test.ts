import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from 'playwright-core'
import { accessibilityFaults, confirm, phone, screenshots, setStage, untilFits } from '../../../../testing/stage.ts'

const stage = setStage()
const ask = (method: string, path: string, body?: object) =>
  stage.app.call(method, `/api/v1/${path}`, { key: stage.tenant.developer, ...(body && { body }) })

const makeTable = async (name: string, source: string, tags: string[] = []): Promise<string> => {
  const columns = [{ name: 'name', type: 'string' }]
  const { body } = await ask('POST', 'datasets', { type: 'table', name, source, columns, metadata: { tags } })
  return body.id
}
const tagsOf = async (id: string) => (await ask('GET', `datasets/${id}`)).body.metadata.tags

test('several datasets are tagged, moved from folder to folder and deleted, and equal names are told apart', async () => {
  const one = await makeTable('Trees', 'trees_old', ['green'])
  const two = await makeTable('Trees', 'trees_new')
  const page = await stage.open('/data')
  const rowOf = (source: string) => page.getByRole('row').filter({ hasText: source })
  await rowOf('trees_old, made').waitFor()
  await rowOf('trees_old').getByRole('checkbox').check()
  await rowOf('trees_new').getByRole('checkbox').check()
  const bar = page.getByRole('region', { name: 'Selected datasets' })
  await bar.getByText('2 selected').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await bar.getByRole('button', { name: 'Tag …' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Tag' }).fill('plants')
  await dialog.getByRole('button', { name: 'Tag', exact: true }).click()
  await page.getByText('2 tagged “plants”').first().waitFor()
  assert.deepEqual([await tagsOf(one), await tagsOf(two)], [['green', 'plants'], ['plants']])
  await page.getByRole('button', { name: 'plants (2)' }).waitFor()
  await screenshots(page, 'data-folders')

  await page.getByRole('navigation', { name: 'Folders' }).getByRole('button', { name: 'plants (2)' }).click()
  await page.waitForURL(/tag=plants/)
  await rowOf('trees_new').getByRole('checkbox').check()
  await bar.getByRole('button', { name: 'Move …' }).click()
  await dialog.getByRole('combobox', { name: 'To the folder' }).fill('archive')
  await dialog.getByRole('button', { name: 'Move', exact: true }).click()
  await page.getByText('1 moved to “archive”').first().waitFor()
  assert.deepEqual([await tagsOf(one), await tagsOf(two)], [['green', 'plants'], ['archive']])

  await page.goto(`${stage.url}/console/data?q=Trees`)
  await rowOf('trees_new').getByRole('checkbox').check()
  await rowOf('trees_old').getByRole('checkbox').check()
  await screenshots(page, 'data-selected')
  await page.setViewportSize(phone)
  await untilFits(page)
  const refuse = (route: Route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 409, json: { message: 'In use.' } })
      : route.fallback()
  await page.route(`**/datasets/${one}`, refuse)
  await bar.getByRole('button', { name: 'Delete …' }).click()
  await confirm(page, 'Delete 2 datasets')
  await page.getByText('“Trees” was not deleted').first().waitFor()
  await bar.getByText('1 selected').waitFor()
  assert.deepEqual([(await ask('GET', `datasets/${one}`)).status, (await ask('GET', `datasets/${two}`)).status], [200, 404]) // biome-ignore format: one line
  await page.unroute(`**/datasets/${one}`, refuse)
  await bar.getByRole('button', { name: 'Delete …' }).click()
  await confirm(page, 'Delete 1 dataset')
  await page.getByText('No dataset matches').waitFor()
  assert.deepEqual([(await ask('GET', `datasets/${one}`)).status, (await ask('GET', `datasets/${two}`)).status], [404, 404]) // biome-ignore format: one line
  const faults = page.faults.filter((fault) => !fault.includes('409'))
  assert.deepEqual([faults, page.foreign], [[], []])
  await page.close()
})

test('a snippet gets a key on the spot that reads its dataset and nothing else', async () => {
  const id = await makeTable('Benches', 'benches')
  await ask('POST', `datasets/${id}/rows`, { name: 'Low' })
  const page = await stage.open(`/data/${id}/snippets`)
  await page.getByRole('button', { name: 'Make a read-only key' }).click()
  await page.getByText('The code has a new key', { exact: false }).waitFor()
  const code = await page.getByRole('region', { name: 'code for curl' }).textContent()
  const [, key = ''] = /x-api-key: ([^']+)'/.exec(code ?? '') ?? []
  const call = (method: string, path: string) => stage.app.call(method, `/api/v1/${path}`, { key })
  assert.deepEqual((await call('GET', `datasets/${id}/query`)).body, [{ id: 1, name: 'Low' }])
  assert.equal((await call('DELETE', `datasets/${id}`)).status, 401)
  assert.deepEqual((await call('GET', 'datasets')).body.map((one: { id: string }) => one.id), [id]) // biome-ignore format: one line
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'snippet-key')
  await page.close()
})
