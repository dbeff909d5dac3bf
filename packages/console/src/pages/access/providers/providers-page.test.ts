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
  until,
  untilFits,
} from '../../../../testing/stage.ts'

const stage = setStage()
const providers = '/api/v1/auth/providers'
const office = { name: 'Office', issuer: 'https://login.example.org', clientId: 'maps' }

const find = async (name: string) =>
  (
    await stage.app.call('GET', `${providers}?filter[name]=${encodeURIComponent(name)}`, {
      key: stage.tenant.developer,
    })
  ).body[0]
const make = (fields: object) =>
  stage.app.call('POST', providers, { key: stage.tenant.developer, body: { ...office, ...fields } })

async function act(page: ConsolePage, name: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of ${name}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

/** Whether nothing covers it and it is not scrolled away. */
const isInSight = (place: Locator) =>
  place.evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect()
    return element.contains(document.elementFromPoint(x + width / 2, y + height / 2))
  })

function assertQuiet(page: ConsolePage): void {
  assert.deepEqual([page.faults, page.foreign], [[], []])
}

test('a provider is added, with the address that it is registered with and the code of a page', async () => {
  const page = await stage.open('/access/signin')
  await page.getByText('No sign-in providers yet').waitFor()
  await page.getByRole('button', { name: 'New provider' }).click()
  const form = page.getByRole('dialog', { name: 'New sign-in provider' })
  await form.getByLabel('Name', { exact: true }).fill('Harbour office')
  await form.getByLabel('Issuer').fill('https://login.example.org/realms/harbour/')
  await form.getByText('read from https://login.example.org/realms/harbour/.well-known/openid-configuration').waitFor()
  await form.getByLabel('Client id').fill('maps')
  await form.getByLabel('Client secret').fill('never to be seen')
  await form.getByLabel('E-mail domains').first().fill('@Example.org')
  await form.getByLabel('E-mail domains').first().press('Enter')
  await form.getByLabel(/^Make a user/).check()
  await form.getByText('Everybody at example.org, as a new user at the first time.').waitFor()
  await form.getByLabel('Roles', { exact: true }).fill('realm_access.roles')
  await form.getByLabel('Metadata of the user').fill('unit: department')
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'provider-form')
  await form.getByRole('button', { name: 'Add provider' }).click()
  const setup = page.getByRole('dialog', { name: 'Use “Harbour office”' })
  await setup.waitFor()
  const provider = await find('Harbour office')
  await setup.getByText(`${stage.url}/api/v1/auth/oidc/${provider.id}/callback`).waitFor()
  await setup.getByText(`client.auth.signInWithProvider('${provider.id}')`).waitFor()
  await setup.getByRole('button', { name: 'Copy the redirect address' }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'provider-setup')
  await setup.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row', { name: /Harbour office Everybody at example\.org.*enabled/ }).waitFor()
  const { clientSecretSet, emailDomains, mapping, scopes, createsUsers } = provider
  assert.deepEqual([clientSecretSet, emailDomains, createsUsers], [true, ['example.org'], true])
  assert.deepEqual(mapping, { roles: 'realm_access.roles', metadata: { unit: 'department' } })
  assert.deepEqual(scopes, ['openid', 'profile', 'email'])
  assert.ok(!(await page.content()).includes('never to be seen'))
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'providers')
  assertQuiet(page)
  await page.close()
})

test('what is wrong with a provider is said beside its field', async () => {
  const page = await stage.open('/access/signin')
  await page.getByRole('button', { name: 'New provider' }).click()
  const form = page.getByRole('dialog', { name: 'New sign-in provider' })
  await form.getByLabel('Name', { exact: true }).fill('Wrong')
  await form.getByLabel('Issuer').fill('http://login.example.org')
  await form.getByLabel('Client id').fill('maps')
  await form.getByRole('switch').focus()
  const add = form.getByRole('button', { name: 'Add provider' })
  await add.click()
  await form.getByText('must be an address that begins with https://').waitFor()
  assert.equal(await form.getByLabel('Issuer').getAttribute('aria-invalid'), 'true')
  await until(() => isInSight(form.getByLabel('Issuer')), Boolean)
  await form.getByLabel('Issuer').fill(office.issuer)
  await form.getByLabel(/^Take access tokens/).check()
  await form.getByLabel('Audience').fill('maps')
  await add.click()
  await form.getByText('must not be clientId').waitFor()
  await form.getByLabel('Audience').fill('')
  await form.getByRole('button', { name: 'Remove openid' }).click()
  await add.click()
  await form.getByText('must contain openid').waitFor()
  await form.getByLabel('Scopes').first().fill('openid')
  await form.getByLabel('Scopes').first().press('Enter')
  await add.click()
  await form.getByText('is required where acceptsTokens is true').waitFor()
  await form.getByLabel('E-mail domains').first().fill('nowhere')
  await form.getByLabel('E-mail domains').first().press('Enter')
  await form.getByText('Must be a domain such as example.org.').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'provider-faults')
  assert.equal(await find('Wrong'), undefined)
  await page.close()
})

test('a change of a provider sends what was changed; its secret is kept, replaced and removed', async () => {
  const mapping = { roles: 'groups', metadata: { unit: 'department', team: 'team' } }
  await make({ name: 'Yard', clientSecret: 'old', mapping, audience: 'https://maps.example.org' })
  const page = await stage.open('/access/signin')
  const form = page.getByRole('dialog', { name: 'Edit “Yard”' })
  const save = async () => {
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
  }
  await act(page, 'Yard', 'Edit …')
  assert.ok(await form.getByLabel('Issuer').isDisabled())
  await form.getByText('It is set. Leave empty to keep it.').waitFor()
  await form.getByLabel('Metadata of the user').fill('team: team')
  await form.getByText('Trust the provider').click()
  await save()
  const changed = await find('Yard')
  assert.deepEqual(changed.mapping, { roles: 'groups', metadata: { team: 'team' } })
  assert.deepEqual(
    [changed.clientSecretSet, changed.secondFactor, changed.audience],
    [true, 'trusted', 'https://maps.example.org'],
  )
  await act(page, 'Yard', 'Edit …')
  await form.getByRole('button', { name: 'Remove client secret' }).click()
  await form.getByText('Client secret will be removed when you save.').waitFor()
  await save()
  assert.equal((await find('Yard')).clientSecretSet, false)
  assertQuiet(page)
  await page.close()
})

test('a provider is disabled after a question, enabled, and deleted after another', async () => {
  await make({ name: 'Pier' })
  const page = await stage.open('/access/signin')
  await act(page, 'Pier', 'Disable …')
  await page.getByRole('alertdialog').getByText('the sessions that came by it end').waitFor()
  await confirm(page, 'Disable')
  await page.getByRole('row', { name: /Pier.*disabled/ }).waitFor()
  assert.equal((await find('Pier')).enabled, false)
  await act(page, 'Pier', 'Enable')
  await page.getByRole('row', { name: /Pier.*enabled/ }).waitFor()
  await act(page, 'Pier', 'Delete …')
  await page.getByRole('alertdialog').getByText('Its users stay').waitFor()
  await confirm(page, 'Delete')
  await page.getByText('Pier is deleted').waitFor()
  assert.equal(await find('Pier'), undefined)
  assertQuiet(page)
  await page.close()
})

test('a key that can do less than users’ tokens is refused, and the form says what is missing', async () => {
  const weak = await stage.app.key(stage.tenant.id, { users: { '*': '*' } })
  const auth = { defaultApiKey: stage.tenant.developer }
  await stage.app.call('PUT', `/api/v1/applications/${stage.tenant.id}/metadata/auth`, { body: auth })
  const page = await stage.open('/access/signin', { key: weak, viewport: phone })
  await page.getByRole('button', { name: 'New provider' }).click()
  const form = page.getByRole('dialog', { name: 'New sign-in provider' })
  await form.getByLabel('Name', { exact: true }).fill('Refused')
  await form.getByLabel('Issuer').fill(office.issuer)
  await form.getByLabel('Client id').fill('maps')
  await form.getByRole('button', { name: 'Add provider' }).click()
  const reason = form.getByText('whoever writes one must be able to do all that their tokens can')
  await reason.waitFor()
  await until(() => isInSight(reason), Boolean)
  await untilFits(page)
  assert.deepEqual(await accessibilityFaults(page), [])
  assert.equal(await find('Refused'), undefined)
  await page.close()
})

test('on a phone a provider with a long issuer is not wider than the page', async () => {
  await make({ name: 'Long', issuer: `https://${'login-'.repeat(12)}x.example.org/realms/${'maps'.repeat(20)}` })
  const page = await stage.open('/access/signin', { viewport: phone })
  await page.getByRole('row', { name: /Long/ }).waitFor()
  await untilFits(page)
  await act(page, 'Long', 'Redirect address and code …')
  await page.getByRole('dialog', { name: 'Use “Long”' }).getByText('signInWithProvider').waitFor()
  await untilFits(page)
  assert.deepEqual(await accessibilityFaults(page), [])
  assertQuiet(page)
  await page.close()
})
