import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import {
  accessibilityFaults,
  type ConsolePage,
  confirm,
  phone,
  screenshots,
  setStage,
  sidewaysScrollers,
  untilFits,
} from '../../../../testing/stage.ts'

const stage = setStage()
const roles = '/api/v1/auth/roles'

const find = async (name: string) =>
  (await stage.app.call('GET', `${roles}?filter[name]=${name}`, { key: stage.tenant.developer })).body[0]
const declare = (body: object) => stage.app.call('POST', roles, { key: stage.tenant.developer, body })

async function act(page: ConsolePage, name: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of the role ${name}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

const cell = (form: Locator, name: string) => form.getByRole('grid').getByRole('button', { name, exact: true })

function assertQuiet(page: ConsolePage): void {
  assert.deepEqual([page.faults, page.foreign], [[], []])
}

test('a role is declared with rights from the grid, given to a user, and its grants are said there', async () => {
  await stage.app.user(stage.tenant.id, { email: 'ada@example.org' })
  const page = await stage.open('/access/roles')
  await page.getByText('No roles yet').waitFor()
  await page.getByRole('button', { name: 'New role' }).click()
  const form = page.getByRole('dialog', { name: 'Declare a role' })
  await form.getByLabel('Name', { exact: true }).fill('surveyor')
  await form.getByLabel('Description').fill('Adds and corrects parcels')
  await form.getByText('Grants rights').click()
  await form.getByText('May do nothing.').waitFor()
  await cell(form, 'Datasets, append: nothing').click()
  await form.getByText('Adds rows to all datasets.').waitFor()
  await form.getByRole('button', { name: 'Choose: Datasets, read' }).click()
  const chooser = page.getByRole('dialog', { name: 'Datasets: read' })
  await chooser.getByLabel(/Cities/).check()
  await chooser.getByRole('button', { name: 'Use these' }).click()
  await form.getByText('Reads 1 dataset; adds rows to all datasets.').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'role-form')
  await form.getByRole('button', { name: 'Declare' }).click()
  await page.getByRole('row', { name: /surveyor Reads 1 dataset; adds rows to all datasets\. nobody/ }).waitFor()
  assert.equal((await find('surveyor')).permissions.datasets.append, '*')
  await page.getByRole('link', { name: 'Users' }).click()
  await page.getByRole('button', { name: 'Actions of ada@example.org' }).click()
  await page.getByRole('menuitem', { name: 'Edit …' }).click()
  const user = page.getByRole('dialog')
  await user.getByRole('checkbox', { name: /^surveyor/ }).check()
  await user.getByText('besides what the key does: Reads 1 dataset').waitFor()
  await user.getByLabel('Other role names').first().fill('guest')
  await user.getByLabel('Other role names').first().press('Enter')
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'user-roles')
  await user.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /ada@example\.org.*surveyor, guest.*Reads 1 dataset/ }).waitFor()
  await screenshots(page, 'users-with-roles')
  assertQuiet(page)
  await page.close()
})

test('a name that users have and nobody declared is shown, and declared with one click', async () => {
  await stage.app.user(stage.tenant.id, { email: 'bert@example.org', roles: ['inspector'] })
  const page = await stage.open('/access/roles')
  const section = page.getByRole('region', { name: 'Names that are not declared' })
  await section.getByRole('listitem').filter({ hasText: 'inspector' }).getByText('1 user').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'roles')
  await section.getByRole('button', { name: 'Declare inspector' }).click()
  const form = page.getByRole('dialog', { name: 'Declare a role' })
  assert.equal(await form.getByLabel('Name', { exact: true }).inputValue(), 'inspector')
  await form.getByRole('button', { name: 'Declare' }).click()
  await page.getByRole('row', { name: /inspector Only a name, for rules\. 1 user/ }).waitFor()
  await section.getByText('inspector').waitFor({ state: 'detached' })
  assert.equal((await find('inspector')).permissions, null)
  assertQuiet(page)
  await page.close()
})

test('a role loses the rights that the grid no longer has, also all of them', async () => {
  await declare({ name: 'editor', permissions: { datasets: { read: '*', write: '*' } } })
  const page = await stage.open('/access/roles')
  await act(page, 'editor', 'Edit …')
  const form = page.getByRole('dialog', { name: 'Role “editor”' })
  await cell(form, 'Datasets, write: all').click()
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /editor Reads all datasets\./ }).waitFor()
  assert.deepEqual((await find('editor')).permissions, { datasets: { read: '*' } })
  await act(page, 'editor', 'Edit …')
  await form.getByText('Only a name, for rules').click()
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /editor Only a name/ }).waitFor()
  assert.equal((await find('editor')).permissions, null)
  assertQuiet(page)
  await page.close()
})

test('deleting a role says how many users keep the bare name', async () => {
  await declare({ name: 'clerk', permissions: { users: { read: '*' } } })
  for (const one of ['c', 'd']) await stage.app.user(stage.tenant.id, { email: `${one}@example.org`, roles: ['clerk'] })
  const page = await stage.open('/access/roles')
  await act(page, 'clerk', 'Delete …')
  const question = page.getByRole('alertdialog')
  await question.getByText('2 users keep the bare name').waitFor()
  await question.getByText('What it granted ends at once: reads all users.').waitFor()
  await confirm(page, 'Delete')
  await page.getByRole('listitem').filter({ hasText: 'clerk' }).getByText('2 users').waitFor()
  assert.equal(await find('clerk'), undefined)
  assertQuiet(page)
  await page.close()
})

test('what is wrong with a role is said beside its field, and a refusal in the server’s words', async () => {
  await declare({ name: 'taken' })
  const key = await stage.app.key(stage.tenant.id, { users: { '*': '*' } })
  const page = await stage.open('/access/roles', { key })
  await page.getByRole('button', { name: 'New role' }).click()
  const form = page.getByRole('dialog', { name: 'Declare a role' })
  await form.getByLabel('Name', { exact: true }).fill('taken')
  await form.getByRole('button', { name: 'Declare' }).click()
  await form.getByText('is the name of another role of this application').waitFor()
  await form.getByLabel('Name', { exact: true }).fill('editor of all')
  await form.getByText('Grants rights').click()
  await cell(form, 'Datasets, write: nothing').click()
  await form.getByText('This is more than you may do yourself').waitFor()
  await form.getByRole('button', { name: 'Declare' }).click()
  await form.getByText('Whoever writes a role must be able to do all that it grants').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.close()
})

test('on a phone the list and the form of roles are not wider than the page, and the grid answers to keys', async () => {
  await declare({ name: 'donaudampfschifffahrtsgesellschaftskapitänin', permissions: { '*': { read: '*' } } })
  const page = await stage.open('/access/roles', { viewport: phone })
  await page.getByRole('row', { name: /donau/ }).waitFor()
  await untilFits(page)
  assert.deepEqual(await sidewaysScrollers(page).then((found) => found.filter((html) => !html.includes('<nav'))), [])
  await act(page, 'donaudampfschifffahrtsgesellschaftskapitänin', 'Edit …')
  const form = page.getByRole('dialog')
  await cell(form, 'Datasets, read: all').focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Space')
  await cell(form, 'Datasets, append: all').waitFor()
  await untilFits(page)
  assert.deepEqual(await accessibilityFaults(page), [])
  assertQuiet(page)
  await page.close()
})

test('a key that may not write users sees roles, and why it cannot change them', async () => {
  const key = await stage.app.key(stage.tenant.id, { users: { read: '*' } })
  const page = await stage.open('/access/roles', { key })
  const button = page.getByRole('button', { name: 'New role' })
  await button.hover()
  await page.getByText('This key may not do that: it needs write on users.').waitFor()
  assertQuiet(page)
  await page.close()
})
