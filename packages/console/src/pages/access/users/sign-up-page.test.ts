import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, type ConsolePage, screenshots, setStage } from '../../../../testing/stage.ts'

const stage = setStage()

const metadata = async () => (await stage.app.call('GET', `/api/v1/applications/${stage.tenant.id}/metadata`)).body

function assertQuiet(page: ConsolePage): void {
  assert.deepEqual([page.faults, page.foreign], [[], []])
}

test('who may sign up, as which key and where mail leads is set without JSON', async () => {
  await stage.app.call('PUT', `/api/v1/applications/${stage.tenant.id}/metadata`, {
    body: { auth: { note: 'of somebody else' } },
  })
  const page = await stage.open('/access/signup')
  await page.getByText('Nobody can sign up by themselves.').waitFor()
  await page.getByRole('switch', { name: 'People may sign up by themselves' }).check()
  await page.getByText('No address is approved yet').waitFor()
  const allowed = page.getByLabel('Approved addresses')
  await allowed.fill('example.org')
  await allowed.press('Enter')
  await page.getByText('Must be an address such as ada@example.org').waitFor()
  await allowed.fill('@example.org')
  await allowed.press('Enter')
  await page
    .getByLabel('As much as this key')
    .selectOption({ label: 'Public key: reads and queries data and shows maps, for web pages' })
  const leads = page.getByLabel('Allowed addresses')
  await leads.fill('https://maps.example.org/*')
  await leads.press('Enter')
  await page.getByRole('button', { name: 'Allow this console' }).click()
  await page.getByText('Links of this console’s own mails are refused.').waitFor({ state: 'detached' })
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'sign-up')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Sign-up is open to everybody at example.org.').waitFor()
  const { auth } = await metadata()
  const { body: keys } = await stage.app.call('GET', '/api/v1/apikeys', { key: stage.tenant.developer })
  const known = keys.filter(({ id }: { id: string }) => id === auth.defaultApiKey)
  assert.equal(known[0].description, 'Public key: reads and queries data and shows maps, for web pages')
  assert.deepEqual(auth.signup, { enabled: true, allow: ['@example.org'] })
  assert.deepEqual(auth.redirectUrls, ['https://maps.example.org/*', `${stage.url}/console/*`])
  assert.equal(auth.note, 'of somebody else')
  assertQuiet(page)
  await page.close()
})

test('mail has words of one’s own, seen as they arrive, and can get the usual ones back', async () => {
  const page = await stage.open('/access/signup')
  await page.getByLabel('Subject').fill('Welcome to {{application}}')
  await page.getByRole('figure', { name: 'Preview of the mail' }).getByText('Welcome to atlas').waitFor()
  await page.getByLabel('Text').fill('No way on')
  await page.getByText('Without {{link}} nobody can go on from here.').waitFor()
  await page.getByLabel('Text').fill('Hello {{firstName}}: {{link}}')
  await page.getByRole('figure', { name: 'Preview of the mail' }).getByText('Hello Ada:').waitFor()
  // While the page asks for what is stored now, nothing can be typed that the answer would overwrite.
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(/\/applications\/[\w-]+$/, async (route) => {
    asked.resolve()
    await released.promise
    await route.continue()
  })
  await page.getByRole('button', { name: 'Save' }).click()
  await asked.promise
  assert.equal(await page.locator('[inert]').getByLabel('Subject').count(), 1)
  assert.equal(await page.getByText('The rules are saved').count(), 0)
  released.resolve()
  await page.getByText('The rules are saved').waitFor()
  await page.unroute(/\/applications\/[\w-]+$/)
  assert.deepEqual((await metadata()).mail.templates.confirm, {
    subject: 'Welcome to {{application}}',
    text: 'Hello {{firstName}}: {{link}}',
  })
  await page.getByRole('button', { name: 'Back to the usual words' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })
  assert.deepEqual((await metadata()).mail.templates.confirm, {})
  assertQuiet(page)
  await page.close()
})

test('what somebody else changed meanwhile is not overwritten', async () => {
  const page = await stage.open('/access/signup')
  await page.getByLabel('Subject').fill('Mine')
  await stage.app.call('PUT', `/api/v1/applications/${stage.tenant.id}/metadata`, { body: { theirs: true } })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Somebody else changed the application meanwhile.').waitFor()
  assert.equal(await page.getByLabel('Subject').inputValue(), 'Mine')
  await page.getByRole('button', { name: 'Load theirs' }).click()
  await page.getByText('Somebody else changed').waitFor({ state: 'detached' })
  await page.getByLabel('Subject').fill('Mine, again')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The rules are saved').waitFor()
  const { theirs, mail } = await metadata()
  assert.deepEqual([theirs, mail.templates.confirm.subject], [true, 'Mine, again'])
  await page.close()
})
