import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, mailedLink, phone, screenshots, setStage, untilFits } from '../../../testing/stage.ts'

const stage = setStage()

/** A mail that resets a password. */
async function resetMail(): Promise<{ email: string; link: string }> {
  const { email } = await stage.app.user(stage.tenant.id)
  const body = { email, applicationId: stage.tenant.id, redirectUrl: 'http://localhost:3000/reset' }
  const asked = await stage.app.call('POST', '/api/v1/auth/requestpasswordreset', { key: null, body })
  assert.equal(asked.status, 204, asked.text)
  return { email, link: await mailedLink(stage, email) }
}

test('a master key reads the mail that the server keeps, follows its link and asks for new ones', async () => {
  const page = await stage.open('/outbox', { key: stage.app.master })
  await page.getByRole('heading', { name: 'No mail yet' }).waitFor()
  await page.getByRole('link', { name: 'Outbox' }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  const { email, link } = await resetMail()
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByRole('link', { name: new RegExp(email) }).click()
  const button = page.getByRole('link', { name: 'Choose a new password' })
  await button.waitFor()
  assert.equal(await button.getAttribute('href'), link)
  await page.getByText('kept here, because the server has no SMTP_URL').waitFor()
  await screenshots(page, 'outbox')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.setViewportSize(phone)
  await untilFits(page)
  await page.getByRole('link', { name: 'All mails' }).click()
  await page.getByRole('link', { name: new RegExp(email) }).waitFor()
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('the key of an application is told that it cannot read mail, and finds no outbox in the rail', async () => {
  const page = await stage.open('/outbox')
  await page.getByRole('heading', { name: 'Reading mail needs a master key' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'Outbox' }).count(), 0)
  assert.deepEqual(await accessibilityFaults(page), [])
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})
