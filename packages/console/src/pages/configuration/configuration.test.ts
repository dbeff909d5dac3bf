import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accessibilityFaults,
  type ConsolePage,
  phone,
  screenshots,
  setStage,
  untilFits,
} from '../../../testing/stage.ts'

const stage = setStage()

const stored = async (): Promise<object> => {
  const { svc, ...config } = (await stage.app.call('GET', '/api/v1/appconfig', { key: stage.tenant.developer })).body
  assert.ok(svc)
  return config
}
const store = (config: object) =>
  stage.app.call('PUT', '/api/v1/appconfig', { key: stage.tenant.developer, body: config })

async function type(page: ConsolePage, config: unknown): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Configuration as JSON' })
  await editor.click()
  await page.keyboard.press('Control+a')
  // Over coloured text Chromium would insert a styled element, which the policy blocks and the log then shows.
  await page.keyboard.press('Backspace')
  // Pasted rather than typed: the editor closes brackets by itself.
  await page.keyboard.insertText(typeof config === 'string' ? config : JSON.stringify(config, null, 2))
}

test('a configuration is written, its difference is shown, and it is stored', async () => {
  const page = await stage.open('/configuration')
  await page.getByText('empty: front ends').waitFor()
  await page.getByText(`${stage.url}/api/v1/appconfig`, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Begin with an example' }).click()
  await page.getByText('features.search').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('button', { name: 'Begin with an example' }).waitFor()
  await type(page, '{"theme": ')
  await page.getByText('This is not JSON').waitFor()
  await type(page, { theme: { colour: '#2a6', font: 'Inter' }, layers: ['parks'] })
  await page.getByText('unsaved changes').waitFor()
  await page.getByText('theme.colour', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Agents' }).first().click()
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor()
  await page.goBack()
  await page.getByText('unsaved changes').waitFor()
  await page.getByRole('button', { name: 'Save …' }).click()
  await page.getByRole('region', { name: 'Changes' }).getByText('"colour": "#2a6"').waitFor()
  await screenshots(page, 'configuration-diff')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('The configuration was saved.').waitFor()
  assert.deepEqual(await stored(), { theme: { colour: '#2a6', font: 'Inter' }, layers: ['parks'] })
  await page.getByLabel('Search keys and values').fill('inter')
  await page.getByText('1 of 3 keys').waitFor()
  await screenshots(page, 'configuration')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.setViewportSize(phone)
  await untilFits(page)
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('a change by somebody else is noticed, and both versions are shown', async () => {
  await store({ a: 1, b: 1 })
  const page = await stage.open('/configuration')
  await type(page, { a: 1, b: 2 })
  await page.getByText('unsaved changes').waitFor()
  await store({ a: 9, b: 1 })
  await page.keyboard.press('Control+s')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('heading', { name: 'Somebody else has changed the configuration' }).waitFor()
  await page.getByRole('region', { name: 'Their changes' }).getByText('"a": 9').waitFor()
  await page.getByRole('region', { name: 'Your changes' }).getByText('"b": 2').waitFor()
  await screenshots(page, 'configuration-conflict')
  assert.deepEqual(await accessibilityFaults(page), [])
  assert.deepEqual(await stored(), { a: 9, b: 1 })
  await page.getByRole('button', { name: 'Take theirs, drop mine' }).click()
  await page.getByRole('textbox', { name: 'Configuration as JSON' }).getByText('9').waitFor()
  await type(page, { a: 1, b: 2 })
  await store({ a: 8, b: 1 })
  await page.keyboard.press('Control+s')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'Save mine over theirs' }).click()
  await page.getByText('The configuration was saved.').waitFor()
  assert.deepEqual(await stored(), { a: 1, b: 2 })
  const faults = page.faults.filter((text) => !text.includes('412'))
  assert.deepEqual([faults, page.foreign], [[], []])
  await page.close()
})

test('Ctrl+S right after typing saves what was typed, even when the page draws slowly', async () => {
  await store({ a: 1 })
  const page = await stage.open('/configuration')
  await page.getByRole('textbox', { name: 'Configuration as JSON' }).waitFor()
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('Emulation.setCPUThrottlingRate', { rate: 20 })
  await type(page, { a: 2 })
  await page.keyboard.press('Control+s')
  await page.getByRole('region', { name: 'Changes' }).getByText('"a": 2').waitFor()
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('a key that only reads sees the configuration and is told why it cannot save', async () => {
  await store({ a: 1 })
  const page = await stage.open('/configuration', { key: stage.tenant.reader })
  await page.getByText('it needs write on appconfig').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Save …' }).getAttribute('aria-disabled'), 'true')
  const master = await stage.open('/configuration', { key: stage.app.master })
  await master.getByRole('heading', { name: 'Choose an application' }).waitFor()
  assert.deepEqual([page.faults, master.faults], [[], []])
  await page.close()
  await master.close()
})
