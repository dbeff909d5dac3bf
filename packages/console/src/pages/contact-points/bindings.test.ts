import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { accessibilityFaults, confirm, phone, screenshots, setStage, untilFits } from '../../../testing/stage.ts'

// One database is enough: the console shows what the API answers.

const stage = setStage()

let point: string
let schema: string

const call = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) =>
  stage.app.call(method, `/api/v1/${path}`, { key: stage.tenant.developer, ...(body && { body }) })
const bindings = async () => (await call('GET', `contactpoints/${point}/bindings`)).body.bindings

describe('the bindings of a webhook', () => {
  before(async () => {
    schema = `app_${stage.tenant.id.replaceAll('-', '')}`
    await stage.app.db.script(`
    CREATE TABLE ${schema}.gauges (id int PRIMARY KEY, level int);
    GRANT SELECT ON ${schema}.gauges TO ${schema}`)
    await call('POST', 'datasets', { type: 'table', name: 'Gauges', source: 'gauges' })
    const url = 'https://hooks.example.org/changes'
    point = (await call('POST', 'contactpoints', { name: 'Harbour', type: 'webhook', settings: { url } })).body.id
  })

  test('a dataset is bound to a webhook, with every mistake named; the binding is changed and removed', async () => {
    const page = await stage.open(`/contact-points/${point}`)
    await page.getByText('Not told of any.').waitFor()
    await page.getByRole('button', { name: 'Bind a dataset' }).click()
    const dialog = page.getByRole('dialog', { name: 'Bind a dataset' })
    await dialog.getByLabel('Filter').fill('{"level"')
    await dialog.getByLabel('West').fill('7')
    await dialog.getByLabel('Gather for seconds').fill('soon')
    for (const name of ['Rows are updated', 'Rows are deleted', 'The table is emptied'])
      await dialog.getByLabel(name).uncheck()
    await dialog.getByRole('button', { name: 'Bind', exact: true }).click()
    await dialog.getByText('Choose a dataset.').waitFor()
    await dialog.getByText('Must be four numbers').waitFor()
    await dialog.getByText('Must be a whole number').waitFor()
    assert.equal(await dialog.getByLabel('Filter').getAttribute('aria-invalid'), 'true')
    await screenshots(page, 'binding-form')
    assert.deepEqual(await accessibilityFaults(page), [])

    await dialog.getByLabel('Dataset').selectOption('Gauges')
    await dialog.getByLabel('Filter').fill('{"depth": {"$gte": 7}}')
    await dialog.getByLabel('West').fill('')
    await dialog.getByLabel('Gather for seconds').fill('0')
    await dialog.getByRole('button', { name: 'Bind', exact: true }).click()
    await dialog.getByRole('alert').filter({ hasText: 'depth' }).first().waitFor()
    assert.equal(await dialog.getByLabel('Filter').getAttribute('aria-invalid'), 'true')
    await dialog.getByLabel('Filter').fill('{"level": {"$gte": 7}}')
    await dialog.getByLabel('Filter').press('Tab')
    await dialog.getByLabel('Gather for seconds').press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('inserts, of rows that match {"level":{"$gte":7}}').waitFor()
    await page.getByText('followed', { exact: true }).waitFor()
    await screenshots(page, 'bindings')
    assert.deepEqual(await accessibilityFaults(page), [])

    const [made] = await bindings()
    assert.deepEqual([made.operations, made.filter, made.bbox], [['insert'], { level: { $gte: 7 } }, null])

    await page.getByRole('button', { name: 'Change the binding of Gauges' }).click()
    const change = page.getByRole('dialog', { name: 'Change a binding' })
    assert.equal(await change.getByLabel('Dataset').isDisabled(), true)
    for (const [side, degrees] of Object.entries({ West: '5.8', South: '47.2', East: '15.1', North: '55.1' }))
      await change.getByLabel(side).fill(degrees)
    await change.getByLabel('Filter').fill('')
    await change.getByLabel('Gather for seconds').fill('30')
    await change.getByRole('button', { name: 'Save' }).click()
    await page.getByText('inserts, in the box 5.8, 47.2, 15.1, 55.1, gathered for 30 s').waitFor()
    const [changed] = await bindings()
    assert.deepEqual([changed.filter, changed.bbox, changed.debounceSeconds], [null, [5.8, 47.2, 15.1, 55.1], 30])

    await page.getByRole('button', { name: 'Remove the binding of Gauges' }).click()
    await confirm(page, 'Remove')
    await page.getByText('Not told of any.').waitFor()
    assert.deepEqual(await bindings(), [])
    const faults = page.faults.filter((text) => !text.startsWith('Failed to load resource'))
    assert.deepEqual([faults, page.foreign], [[], []])
    await page.close()
  })

  test('on a phone bindings are read and bound, what others bind meanwhile stays, and a key that only reads is told so', async () => {
    const page = await stage.open(`/contact-points/${point}`, { viewport: phone })
    await page.getByText('Not told of any.').waitFor()
    const [cities, gauges] = (await call('GET', 'datasets?sort=name')).body
    await call('PUT', `contactpoints/${point}/bindings`, { bindings: [{ datasetId: cities.id }] })
    await page.getByRole('button', { name: 'Bind a dataset' }).click()
    await page.getByLabel('Dataset', { exact: true }).selectOption(gauges.id)
    await untilFits(page)
    await page.getByRole('button', { name: 'Bind', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await page.getByText('every change', { exact: true }).count(), 2)
    await untilFits(page)
    assert.deepEqual([page.faults, page.foreign], [[], []])
    await page.close()
    const reader = await stage.open(`/contact-points/${point}`, { key: stage.tenant.reader })
    const remove = reader.getByRole('button', { name: /^Remove the binding/ }).first()
    await remove.waitFor()
    assert.equal(await remove.getAttribute('aria-disabled'), 'true')
    await reader.close()
  })
})
