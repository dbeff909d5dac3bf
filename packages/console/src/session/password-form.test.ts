import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, type ConsolePage, mailedLink, phone, screenshots, setStage } from '../../testing/stage.ts'

const stage = setStage()

/** The rules of an application where anybody may sign up and do what its public key may. */
async function openSignUp(): Promise<void> {
  const { id, public: defaultApiKey } = stage.tenant
  const body = { defaultApiKey, signup: { enabled: true, allow: ['@example.org'] } }
  const { status } = await stage.app.call('PUT', `/api/v1/applications/${id}/metadata/auth`, { body })
  assert.equal(status, 200)
}

const signInPage = () => stage.open(`/?application=${stage.tenant.id}`, { key: null })

async function signIn(page: ConsolePage, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail', { exact: true }).last().fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const isInside = (page: ConsolePage) => page.getByRole('link', { name: 'Data' }).first().waitFor()

test('whoever signs up confirms the address by the link of the mail and signs in by e-mail', async () => {
  await openSignUp()
  const page = await signInPage()
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByLabel('E-mail', { exact: true }).last().fill('ada@example.org')
  await page.getByLabel('First name').fill('Ada')
  await page.getByLabel('Last name').fill('Lovelace')
  await page.getByLabel('New password').fill('nine Bernoulli numbers')
  await page.getByLabel('The same again').fill('nine Bernoulli')
  await page.getByText('The two are not the same.').waitFor()
  await page.getByLabel('The same again').fill('nine Bernoulli numbers')
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'sign-up-form')
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText('A mail with a link is on its way to ada@example.org.').waitFor()
  await page.getByRole('button', { name: 'Back to sign in' }).click()
  await signIn(page, 'ada@example.org', 'nine Bernoulli numbers')
  await page.getByText('The e-mail address is not confirmed yet.').waitFor()
  page.faults.length = 0
  const link = await mailedLink(stage, 'ada@example.org')
  await page.goto(link)
  await page.getByText('The address ada@example.org is confirmed.').waitFor()
  assert.equal(page.url(), `${stage.url}/console/confirm`)
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('link', { name: 'Sign in' }).click()
  await signIn(page, 'ada@example.org', 'nine Bernoulli numbers')
  await isInside(page)
  await page.getByRole('button', { name: 'ada@example.org' }).waitFor()
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.goto(link)
  await page.getByText('This link was used already, or has expired.').waitFor()
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
  await page.close()
})

test('a forgotten password is replaced by the link of the mail, which works once and leaves the address', async () => {
  await openSignUp()
  await stage.app.user(stage.tenant.id, { email: 'grace@example.org', password: 'a moth in relay 70' })
  const page = await signInPage()
  await page.getByRole('button', { name: 'Forgot the password?' }).click()
  await page.getByLabel('E-mail', { exact: true }).last().fill('grace@example.org')
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await page.getByText('a mail with a link is on its way to grace@example.org').waitFor()
  const link = await mailedLink(stage, 'grace@example.org')
  const token = String(new URL(link).searchParams.get('token'))
  await page.goto(link)
  await page.getByText('Choose a new password for grace@example.org.').waitFor()
  assert.ok(
    !page.url().includes(token) && !String(await page.evaluate('history.length + location.href')).includes(token),
  )
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'reset-password')
  await page.getByLabel('New password').fill('password1')
  await page.getByLabel('The same again').fill('password1')
  await page.getByRole('button', { name: 'Save and sign in' }).click()
  await page.getByText('must not be one of the most common passwords').waitFor()
  await page.getByLabel('New password').fill('notes of a translator')
  await page.getByLabel('The same again').fill('notes of a translator')
  await page.getByRole('button', { name: 'Save and sign in' }).click()
  await isInside(page)
  const again = await stage.open('/', { key: null, viewport: phone })
  await again.goto(link)
  await again.getByLabel('New password').fill('somebody else’s')
  await again.getByLabel('The same again').fill('somebody else’s')
  await again.getByRole('button', { name: 'Save and sign in' }).click()
  await again.getByText('This link was used already, or has expired.').waitFor()
  await again.getByRole('button', { name: 'Send me another link' }).click()
  await again.getByText('a mail with a new link is on its way').waitFor()
  await mailedLink(stage, 'grace@example.org', link)
  const { email, applicationId } = { email: 'grace@example.org', applicationId: stage.tenant.id }
  await stage.app.login({ email, applicationId, password: 'notes of a translator' })
  await again.close()
  await page.close()
})

test('a link without a token says so and leads back', async () => {
  const page = await stage.open('/reset-password', { key: null })
  await page.getByText('This link is not complete.').waitFor()
  await page.getByRole('link', { name: 'Back to sign in' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('a user without a key behind the account is told so instead of being sent away', async () => {
  const { id } = await stage.app.tenant('without a default key')
  const user = await stage.app.user(id)
  const page = await stage.open(`/?application=${id}`, { key: null })
  await signIn(page, user.email, user.password)
  await page.getByText('No API key stands behind this access token').waitFor()
  await page.close()
})
