import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, phone, screenshots, setStage, until, untilFits } from '../../../testing/stage.ts'

const stage = setStage()

test('attributes show their types and, on demand, what their values are', async () => {
  const { body } = await stage.app.call('GET', '/api/v1/datasets', { key: stage.tenant.developer })
  const page = await stage.open(`/data/${body[0].id}/attributes`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const item = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  await item('geom').getByText('SRID 4326').waitFor()
  await page.getByRole('button', { name: 'Statistics of population' }).click()
  await page.getByRole('region', { name: 'Histogram' }).waitFor()
  await page.getByText('4,442 values, none missing').waitFor()
  await page.getByText('22,315,474').first().waitFor()
  await page.getByRole('button', { name: 'Statistics of country' }).click()
  await page.getByRole('region', { name: 'Most frequent values' }).getByText('India').waitFor()
  await page.getByRole('button', { name: 'Copy the name country' }).click()
  await until(
    () => page.evaluate('navigator.clipboard.readText()'),
    (copied) => copied === 'country',
  )
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'attributes')
  await page.setViewportSize(phone)
  assert.deepEqual(await accessibilityFaults(page), [])
  await untilFits(page)
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})
