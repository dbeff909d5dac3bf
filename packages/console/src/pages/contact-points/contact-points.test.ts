import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { accessibilityFaults, confirm, phone, screenshots, setStage, untilFits } from '../../../testing/stage.ts'

const stage = setStage()
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

/** A web service that takes messages at /hook and refuses them for good at /closed. */
const received: { headers: Record<string, unknown>; body: { data: Record<string, unknown> } }[] = []
const service = createServer(async (request, response) => {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
  if (request.url === '/closed') return response.writeHead(410).end('This hook is closed')
  received.push({ headers: request.headers, body })
  response.end('thanks')
})
let address: string
before(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
})
after(() => service.close())

const pointsOf = async () =>
  (await stage.app.call('GET', '/api/v1/contactpoints', { key: stage.tenant.developer })).body as Record<
    string,
    unknown
  >[]

test('a webhook is made, tried, changed without its secret, refused, and deleted', async () => {
  const page = await stage.open('/contact-points')
  await page.getByRole('heading', { name: 'No contact points yet' }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'New contact point' }).click()
  await page.getByLabel('Name').fill('Harbour office')
  await page.getByLabel('Address').fill('nowhere')
  await page.getByRole('button', { name: 'Make a signing secret' }).click()
  const made = await page.getByLabel('Signing secret', { exact: true }).inputValue()
  assert.match(made, /^whsec_[\w+/]{43}=$/)
  await page.getByText(made).waitFor()
  await page.getByLabel('Signing secret', { exact: true }).fill(secret)
  await page.getByText(made).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Make contact point' }).click()
  await page.getByRole('alert').first().waitFor()
  assert.equal(await page.getByLabel('Address').getAttribute('aria-invalid'), 'true')
  await screenshots(page, 'contact-point-form')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByLabel('Address').fill(`${address}/hook`)
  await page.getByRole('button', { name: 'Make contact point' }).click()
  await page.waitForURL(/\/contact-points\/[\da-f-]{36}$/)
  await page.getByText('set, not shown').waitFor()
  await page.getByLabel('Message').fill('The gauge shows 7.2 m.')
  await page.getByLabel('Severity').selectOption('warning')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('cell', { name: 'delivered' }).waitFor()
  await page.getByText('your test').waitFor()
  await page.getByText('accepted').waitFor()
  const { headers, body } = received[0] ?? assert.fail('nothing came')
  assert.equal(body.data.message, 'The gauge shows 7.2 m.')
  assert.equal(body.data.severity, 'warning')
  assert.match(String(headers['webhook-signature']), /^v1,/)
  assert.ok(!(await page.content()).includes(secret))
  await screenshots(page, 'contact-point')
  assert.deepEqual(await accessibilityFaults(page), [])

  await page.getByRole('button', { name: 'Change' }).click()
  assert.equal(await page.getByLabel('Signing secret', { exact: true }).inputValue(), '')
  await page.getByText('It is set. Leave empty to keep it.').waitFor()
  await page.getByLabel('Address').fill(`${address}/closed`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog', { name: /^Change/ }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('The service answered 410: This hook is closed').waitFor()
  await page.getByRole('cell', { name: 'failed' }).waitFor()
  const [changed] = await pointsOf()
  assert.deepEqual(changed?.secureFields, { secret: true })

  await page.getByRole('button', { name: 'Change' }).click()
  await page.getByRole('button', { name: 'Remove signing secret' }).click()
  await page.getByLabel('Enabled: messages are sent').uncheck()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('messages to it are refused').waitFor()
  const [removed] = await pointsOf()
  assert.deepEqual([removed?.secureFields, removed?.enabled], [{}, false])

  await page.getByRole('button', { name: 'Delete' }).click()
  await confirm(page, 'Delete')
  await page.getByRole('heading', { name: 'No contact points yet' }).waitFor()
  assert.deepEqual(await pointsOf(), [])
  const faults = page.faults.filter((text) => !text.startsWith('Failed to load resource'))
  assert.deepEqual([faults, page.foreign], [[], []])
  await page.close()
})

test('on a phone the list comes first, then the record; a key that only reads is told so', async () => {
  const body = {
    name: 'Every harbour master of the northern coast',
    type: 'email',
    settings: { addresses: ['a@b.example'] },
  }
  await stage.app.call('POST', '/api/v1/contactpoints', { key: stage.tenant.developer, body })
  const page = await stage.open('/contact-points', { viewport: phone, key: stage.tenant.reader })
  await page.getByRole('link', { name: /Every harbour master/ }).click()
  await page.getByRole('heading', { name: 'Every harbour master of the northern coast' }).waitFor()
  await page.getByText('a@b.example').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Delete' }).getAttribute('aria-disabled'), 'true')
  await untilFits(page)
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('link', { name: 'All contact points' }).click()
  await page.getByRole('link', { name: /Every harbour master/ }).waitFor()
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})
