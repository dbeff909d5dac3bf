import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, type ConsolePage, confirm, screenshots, setStage } from '../../../testing/stage.ts'

const stage = setStage()

const openAsMaster = () => stage.open('/access/applications', { key: stage.app.master })
const named = async (name: string) =>
  (await stage.app.call('GET', `/api/v1/applications?filter[name]=${encodeURIComponent(name)}`)).body

function assertQuiet(page: ConsolePage): void {
  assert.deepEqual([page.faults, page.foreign], [[], []])
}

test('an application is made, shows its first keys once, and is worked in', async () => {
  const page = await openAsMaster()
  await page.getByRole('button', { name: 'New application' }).click()
  await page.getByLabel('Name').fill('Harbour')
  await page.getByLabel('Contact').fill('harbour@example.org')
  await page.getByRole('button', { name: 'Make it' }).click()
  const made = page.getByRole('dialog', { name: '“Harbour” is made' })
  const developer = String(await made.locator('pre').first().textContent())
  const access = await stage.app.call('GET', '/api/v1/auth/access', { key: developer })
  assert.deepEqual([access.body.application.name, access.body.permissions], ['Harbour', { '*': { '*': '*' } }])
  assert.deepEqual(await accessibilityFaults(page), [])
  await made.getByRole('button', { name: 'Work in it' }).click()
  await page.getByRole('row', { name: /Harbour chosen/ }).waitFor()
  const switcher = page.getByLabel('Application', { exact: true })
  assert.equal(await switcher.locator('option:checked').textContent(), 'Harbour')
  assert.ok((await switcher.locator('option').allTextContents()).includes('atlas'), 'the others can still be chosen')
  await page.getByRole('row', { name: /atlas/ }).waitFor()
  await screenshots(page, 'applications')
  assertQuiet(page)
  await page.close()
})

test('an application is renamed, and deleted once its name is typed', async () => {
  const { id, developer } = await stage.app.tenant('Quay')
  const page = await openAsMaster()
  const act = async (name: string, action: string) => {
    await page.getByRole('button', { name: `Actions of the application ${name}` }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  await act('Quay', 'Name, contact and base map …')
  await page.getByRole('dialog', { name: 'Quay' }).getByLabel('Name').fill('Jetty')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /Jetty/ }).waitFor()
  assert.equal((await named('Jetty'))[0].id, id)
  await act('Jetty', 'Delete …')
  const question = page.getByRole('alertdialog')
  const deletion = question.getByRole('button', { name: 'Delete' })
  assert.ok(await deletion.isDisabled())
  await question.getByLabel('Type “Jetty” to confirm').fill('Jetty')
  await confirm(page, 'Delete')
  await page.getByText('“Jetty” is deleted').waitFor()
  assert.deepEqual(await named('Jetty'), [])
  assert.equal((await stage.app.call('GET', '/api/v1/auth/access', { key: developer })).status, 401)
  assertQuiet(page)
  await page.close()
})

test('an application is given streets below its maps, and those of the installation again', async () => {
  const { id } = await stage.app.tenant('Pier')
  const basemap = async () => (await stage.app.call('GET', `/api/v1/applications/${id}`)).body.basemap
  const page = await openAsMaster()
  const save = async (address: string) => {
    await page.getByRole('button', { name: 'Actions of the application Pier' }).click()
    await page.getByRole('menuitem', { name: 'Name, contact and base map …' }).click()
    const form = page.getByRole('dialog', { name: 'Pier' })
    await form.getByLabel('Base map').fill(address)
    await form.getByRole('button', { name: 'Save' }).click()
    return form
  }
  const refused = await save('streets')
  await refused
    .getByText(/^must match pattern/)
    .first()
    .waitFor()
  await refused.getByRole('button', { name: 'Cancel' }).click()
  const saved = await save(' https://example.org/streets.pmtiles')
  await saved.waitFor({ state: 'hidden' })
  assert.equal(await basemap(), 'https://example.org/streets.pmtiles')
  await (await save('')).waitFor({ state: 'hidden' })
  assert.equal(await basemap(), null)
  assert.deepEqual(page.foreign, [])
  await page.close()
})

test('the default application stays, in the server’s words', async () => {
  const page = await openAsMaster()
  await page.getByRole('button', { name: 'Actions of the application default' }).click()
  await page.getByRole('menuitem', { name: 'Delete …' }).click()
  const question = page.getByRole('alertdialog')
  await question.getByLabel('Type “default” to confirm').fill('default')
  await question.getByRole('button', { name: 'Delete' }).click()
  await question
    .getByRole('alert')
    .getByText(/default application/)
    .waitFor()
  assert.equal((await named('default')).length, 1)
  await page.close()
})

test('whoever has no master key has no such tab, and is told why the page is empty', async () => {
  const page = await stage.open('/access/applications')
  await page.getByText('Applications are for master keys').waitFor()
  const tabs = page.getByRole('navigation', { name: 'Access' })
  await tabs.getByRole('link', { name: 'Sign-in' }).waitFor()
  assert.equal(await tabs.getByRole('link', { name: 'Applications' }).count(), 0)
  assertQuiet(page)
  await page.close()
})
