import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, screenshots, setStage } from '../../testing/stage.ts'

const stage = setStage()

test('the server’s first address leads to the console, which asks who is there', async () => {
  const page = await stage.open('/', { key: null })
  await page.goto(`${stage.url}/`)
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  assert.equal(page.url(), `${stage.url}/console/`)
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'sign-in')
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('a key signs in, is kept in memory alone unless the box is ticked, and is in no address', async () => {
  const page = await stage.open('/', { key: null })
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  await page.getByLabel('API key', { exact: true }).last().fill(stage.tenant.developer)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Data' }).first().waitFor()
  const kept = () => page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])')
  assert.ok(!String(await kept()).includes(stage.tenant.developer))
  assert.ok(!requests.some((url) => url.includes(stage.tenant.developer)))
  await page.reload()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await page.getByLabel('API key', { exact: true }).last().fill(stage.tenant.developer)
  await page.getByLabel('Stay signed in until this tab is closed').check()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Data' }).first().waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'Data' }).first().waitFor()
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  assert.ok(!String(await kept()).includes(stage.tenant.developer))
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('the frame is accessible, in light and dark, on a laptop and a phone', async () => {
  for (const options of [{}, { colorScheme: 'dark' as const }, { viewport: { width: 390, height: 844 } }]) {
    const page = await stage.open('/outbox', options)
    await page.getByRole('heading', { name: 'Outbox' }).waitFor()
    assert.deepEqual(await accessibilityFaults(page), [])
    assert.deepEqual([page.faults, page.foreign], [[], []])
    await page.close()
  }
})

test('the palette finds pages and records by name, and one Escape closes it', async () => {
  const page = await stage.open('/outbox')
  await page.getByRole('heading', { name: 'Outbox' }).waitFor()
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: /Search/ })
  await field.fill('ities of')
  await page.getByRole('option', { name: 'Cities of the world' }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'palette')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/console\/data\/[\da-f-]{36}\/table/)
  await page.keyboard.press('Control+k')
  await field.waitFor()
  await page.keyboard.press('Escape')
  await field.waitFor({ state: 'detached' })
  // The second letter must follow soon, so nothing is waited for between them.
  await Promise.all([page.keyboard.press('g'), page.keyboard.press('c')])
  await page.getByRole('heading', { name: 'Contact points', exact: true }).waitFor()
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('the chosen theme outlives the page, and the list of shortcuts turns single letters off', async () => {
  const page = await stage.open('/outbox')
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Theme: dark' }).click()
  const theme = () => page.evaluate('document.documentElement.dataset.theme')
  assert.equal(await theme(), 'dark')
  await page.reload()
  await page.getByRole('heading', { name: 'Outbox' }).waitFor()
  assert.equal(await theme(), 'dark')
  await page.keyboard.press('?')
  await page.getByRole('switch', { name: 'Single letters are shortcuts' }).uncheck()
  await page.keyboard.press('Escape')
  await page.getByRole('switch').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /Search/ }).waitFor()
  // Not by its role, which nothing behind the palette has.
  assert.equal(await page.locator('[role=switch]').count(), 0)
  await page.close()
})

test('a sign-in link signs in once, and its token leaves the address at once', async () => {
  const { createConsoleLink } = await import('../../../server/src/boot/start/console-link.ts')
  const link = await createConsoleLink(stage.app.db, stage.url, { applicationId: stage.tenant.id, endsAtRestart: true })
  assert.ok(link)
  const page = await stage.open('/', { key: null })
  await page.goto('about:blank')
  await page.goto(link)
  await page.getByRole('link', { name: 'Data' }).first().waitFor()
  assert.equal(page.url(), `${stage.url}/console/`)
  const again = await stage.open(`/${new URL(link).hash}`, { key: null })
  await again
    .getByRole('alert')
    .getByText(/already used/)
    .waitFor()
  assert.equal(again.url(), `${stage.url}/console/`)
  await page.close()
  await again.close()
})

test('a part of the console that is no longer there asks to reload the page, and comes after that', async () => {
  const page = await stage.open('/')
  const part = /\/assets\/configuration-page/
  await page.route(part, (route) => route.fulfill({ status: 404, body: '' }))
  await page.goto(`${stage.url}/console/configuration`)
  await page.getByText('The server may have been updated: reload the page.').waitFor()
  await page.unroute(part)
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'Configuration' }).waitFor()
  await page.close()
})
