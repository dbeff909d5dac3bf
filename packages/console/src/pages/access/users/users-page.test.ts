import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accessibilityFaults,
  type ConsolePage,
  confirm,
  mailedLink,
  phone,
  screenshots,
  setStage,
  untilFits,
} from '../../../../testing/stage.ts'

const stage = setStage()
const users = '/api/v1/auth/users'

const find = async (email: string) => {
  const { body } = await stage.app.call('GET', `${users}?filter[email]=${encodeURIComponent(email)}`)
  return body[0]
}

async function act(page: ConsolePage, email: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of ${email}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

function assertQuiet(page: ConsolePage): void {
  assert.deepEqual([page.faults, page.foreign], [[], []])
}

test('a user is invited, and the link to choose a password is sent and shown', async () => {
  const page = await stage.open('/access/users')
  await page.getByRole('button', { name: 'Invite' }).click()
  const form = page.getByRole('dialog', { name: 'Invite a user' })
  await form.getByLabel('E-mail').fill('grace@example.org')
  await form.getByLabel('First name').fill('Grace')
  for (const role of ['editor', 'reviewer']) {
    await form.getByLabel('Roles').first().fill(role)
    await form.getByLabel('Roles').first().press('Enter')
  }
  await form
    .getByLabel('May do what this key may')
    .selectOption({ label: 'Public key: reads and queries data and shows maps, for web pages' })
  await form.getByText(/reads and queries all datasets; .*; cannot change anything\./).waitFor()
  assert.ok(!(await page.content()).includes(stage.tenant.public), 'ids of keys are not in the page')
  assert.deepEqual(await accessibilityFaults(page), [])
  await form.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('button', { name: 'Send the mail' }).click()
  await page.getByText('The mail to grace@example.org is on its way.').waitFor()
  const link = new URL(String(await page.getByRole('dialog').locator('pre').textContent()))
  const user = await find('grace@example.org')
  assert.deepEqual([user.firstName, user.roles, user.emailVerified], ['Grace', ['editor', 'reviewer'], false])
  assert.equal(link.searchParams.get('token'), user.passwordResetToken)
  assert.equal(await mailedLink(stage, 'grace@example.org'), link.href)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row', { name: /grace@example\.org.*invited/ }).waitFor()
  assertQuiet(page)
  await page.close()
})

test('a user is changed, disabled, enabled, confirmed and deleted', async () => {
  await stage.app.user(stage.tenant.id, { email: 'bert@example.org', emailVerified: false })
  const page = await stage.open('/access/users')
  await act(page, 'bert@example.org', 'Edit …')
  const form = page.getByRole('dialog', { name: 'bert@example.org' })
  await form.getByLabel('Last name').fill('Brecht')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').waitFor()
  await act(page, 'bert@example.org', 'Confirm the address')
  await page.getByRole('row', { name: /bert@example\.org.*active/ }).waitFor()
  await act(page, 'bert@example.org', 'Disable')
  await page.getByRole('row', { name: /bert@example\.org.*disabled/ }).waitFor()
  const { lastName, enabled, emailVerified } = await find('bert@example.org')
  assert.deepEqual([lastName, enabled, emailVerified], ['Brecht', false, true])
  await act(page, 'bert@example.org', 'Enable')
  await page.getByRole('row', { name: /bert@example\.org.*active/ }).waitFor()
  await act(page, 'bert@example.org', 'Delete …')
  await confirm(page, 'Delete')
  await page.getByText('bert@example.org is deleted').waitFor()
  assert.equal(await find('bert@example.org'), undefined)
  assertQuiet(page)
  await page.close()
})

test('the key of a user is chosen by name, and taken back', async () => {
  const ada = { email: 'ada@example.org', firstName: 'Ada', lastName: 'Lovelace' }
  const { id } = await stage.app.user(stage.tenant.id, ada)
  const narrow = await stage.app.key(stage.tenant.id, { datasets: { read: '*' } }, { description: 'Narrow' })
  const keyOf = async () => (await stage.app.call('GET', `${users}/${id}`)).body.metadata.auth?.defaultApiKey
  const page = await stage.open('/access/users')
  const choose = async (label: string) => {
    await act(page, 'ada@example.org', 'Edit …')
    const form = page.getByRole('dialog', { name: 'Ada Lovelace' })
    await form.getByLabel('May do what this key may').selectOption({ label })
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
  }
  await choose('Narrow')
  await page.getByRole('row', { name: /ada@example\.org.*Narrow/ }).waitFor()
  assert.equal(await keyOf(), narrow)
  await choose('As the application says')
  await page.getByRole('row', { name: /ada@example\.org.*as the application/ }).waitFor()
  assert.equal((await keyOf()) ?? null, null)
  assertQuiet(page)
  await page.close()
})

test('users are found by what is typed, and the search is in the address', async () => {
  await stage.app.user(stage.tenant.id, { email: 'mary@example.org', lastName: 'Somerville' })
  const page = await stage.open('/access/users')
  await page.getByRole('row', { name: /mary@/ }).waitFor()
  await page.getByLabel('Search users').fill('SOMER')
  await page.waitForURL(/\?q=SOMER/)
  await page.getByText('1 user', { exact: true }).waitFor()
  await page.getByLabel('Search users').fill('nobody')
  await page.getByText('No user is called that').waitFor()
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await page.getByRole('row', { name: /mary@/ }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'users')
  assertQuiet(page)
  await page.close()
})

test('on a phone nothing is wider than the page, and an address of 60 letters does not break it', async () => {
  await stage.app.user(stage.tenant.id, {
    email: `${'donaudampfschifffahrt'.repeat(2)}@elektrizitaetswerk.example.org`,
  })
  const page = await stage.open('/access/users', { viewport: phone })
  await page.getByRole('row', { name: /donau/ }).waitFor()
  await untilFits(page)
  assert.deepEqual(await accessibilityFaults(page), [])
  assertQuiet(page)
  await page.close()
})
