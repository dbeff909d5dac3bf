import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { publicPermissions } from '../../../../../server/src/api/access/first-permissions.ts'
import {
  accessibilityFaults,
  type ConsolePage,
  confirm,
  phone,
  screenshots,
  setStage,
  untilFits,
} from '../../../../testing/stage.ts'

const stage = setStage()

const keysNamed = async (description: string) => {
  const { body } = await stage.app.call('GET', '/api/v1/apikeys?limit=1000')
  return body.filter((key: { description: string }) => key.description === description)
}
const cell = (page: Page, name: string) => page.getByRole('grid').getByRole('button', { name, exact: true })

function assertQuiet(page: ConsolePage): void {
  assert.deepEqual([page.faults, page.foreign], [[], []])
}

test('a key is made in the grid, explained in words, tried, and shown once to copy', async () => {
  const page = await stage.open('/access/keys')
  const addresses: string[] = []
  page.on('framenavigated', (frame) => addresses.push(frame.url()))
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name').fill('Harbour page')
  await page.getByLabel('Allowed origins').first().fill('https://harbour.example.org/map')
  await page.getByLabel('Allowed origins').first().press('Enter')
  await page.getByText('Custom', { exact: true }).click()
  await page.getByText('May do nothing.').waitFor()
  await page.getByRole('button', { name: 'Choose: Datasets, read' }).click()
  const chooser = page.getByRole('dialog', { name: 'Datasets: read' })
  await chooser.getByLabel('Search by name').fill('cities')
  await chooser.getByLabel(/Cities/).check()
  await chooser.getByLabel('execute').check()
  await chooser.getByRole('button', { name: 'Use these' }).click()
  await page.getByText('Reads and queries 1 dataset; cannot change anything.').waitFor()
  await cell(page, 'Tile sources, execute: nothing').click()
  await page.getByText('Reads and queries 1 dataset; draws all tile sources; cannot change anything.').waitFor()
  await page.getByLabel('Which').selectOption({ index: 1 })
  await page.getByText('because datasets.read lists 1 id, this one too').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'key-editor')
  await page.getByRole('button', { name: 'Make key' }).click()
  const made = page.getByRole('dialog', { name: 'Key “Harbour page” is made' })
  const shown = await made.locator('pre').textContent()
  const [key] = await keysNamed('Harbour page')
  assert.equal(shown, key.id)
  assert.deepEqual(key.allowedOrigins, ['https://harbour.example.org'])
  assert.deepEqual(Object.keys(key.permissions).sort(), ['datasets', 'tiles'])
  assert.deepEqual(key.permissions.tiles, { execute: '*' })
  assert.deepEqual(key.permissions.datasets.read, key.permissions.datasets.execute)
  await made.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row', { name: /Harbour page/ }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'keys')
  assert.ok(!(await page.content()).includes(key.id), 'hidden until somebody reveals it')
  await page.getByRole('button', { name: 'Reveal the key Harbour page' }).click()
  await page.getByText(key.id).waitFor()
  assert.ok(!addresses.some((address) => address.includes(key.id)))
  assertQuiet(page)
  await page.close()
})

test('arrow keys move in the grid, which is one tab stop, and space changes a cell', async () => {
  const page = await stage.open('/access/keys?editor=new')
  await cell(page, 'Datasets, read: all').focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Space')
  await cell(page, 'Datasets, append: all').waitFor()
  await page.getByText(/reads, adds rows to and queries all datasets/).waitFor()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Space')
  await cell(page, 'Datasets, write: all').waitFor()
  await page.getByText(/May change datasets and never expires/).waitFor()
  await page.keyboard.press('ArrowDown')
  assert.match(String(await page.evaluate('document.activeElement.ariaLabel')), /^Maps, write/)
  await page.keyboard.press('ArrowLeft')
  assert.match(String(await page.evaluate('document.activeElement.ariaLabel')), /^Maps, read/, 'maps have no append')
  await page.keyboard.press('ArrowRight')
  assert.equal(await page.getByRole('grid').locator('button[tabindex="0"]').count(), 1)
  await page.keyboard.press('F2')
  await page.getByRole('dialog', { name: 'Maps: write' }).waitFor()
  assertQuiet(page)
  await page.close()
})

test('the JSON of the ACL can be edited, and says what is wrong with it', async () => {
  const page = await stage.open('/access/keys?editor=new')
  await page.getByText('JSON', { exact: true }).click()
  const text = page.getByLabel('Permissions')
  // Over a selection, insertText would keep its colours by inline styles, which the page's policy refuses.
  const type = async (value: string) => {
    await text.focus()
    for (const key of ['ControlOrMeta+A', 'Delete']) await page.keyboard.press(key)
    await page.keyboard.insertText(value)
  }
  await type('{"datsets": {"read": "*"}}')
  await page.getByText('"datsets" is not a class.').waitFor()
  await type('{"datasets": {"read": ["nowhere"]}, "apikeys": {"execute": "*", "write": "*"}}')
  await page.getByText('Changes all API keys; reads 1 dataset.').waitFor()
  for (const warning of [/further keys/, /apikeys\.execute has no effect/, /names 1 dataset that/])
    await page.getByText(warning).waitFor()
  assert.match(String(await text.textContent()), /"apikeys": \{"execute"/, 'the text stays as it was typed')
  await cell(page, 'API keys, write: all').click()
  await page.getByText('Reads 1 dataset; cannot change anything.').waitFor()
  await text.filter({ hasNotText: 'write' }).waitFor()
  assertQuiet(page)
  await page.close()
})

test('a key is replaced by a changed one, and the old one is deleted after a question', async () => {
  const old = await stage.app.key(stage.tenant.id, { '*': { read: '*' } }, { description: 'Old page' })
  const page = await stage.open('/access/keys')
  await page.getByRole('button', { name: 'Actions of the key Old page' }).click()
  await page.getByRole('menuitem', { name: 'Replace …' }).click()
  await page.getByRole('heading', { name: 'Replace “Old page”' }).waitFor()
  await page.getByLabel('Name').fill('New page')
  await page.getByLabel('Expires').selectOption('30')
  await page.getByRole('button', { name: 'Make key' }).click()
  await page.getByRole('button', { name: 'Delete the old key …' }).click()
  const question = page.getByRole('alertdialog')
  await question.getByText('Whatever uses it stops working at once.').waitFor()
  await confirm(page, 'Delete')
  await page.getByText('The key is deleted').waitFor()
  assert.equal((await stage.app.call('GET', '/api/v1/auth/access', { key: old })).status, 401)
  const [made] = await keysNamed('New page')
  assert.deepEqual(made.permissions, { '*': { read: '*' } })
  assert.ok(Date.parse(made.expiresAt) > Date.now() + 29 * 86_400_000)
  assertQuiet(page)
  await page.close()
})

test('a public key of an earlier version is pointed at, and replaced by a narrow one with one click', async () => {
  const rest = { description: 'Shop window', allowedOrigins: ['https://shop.example.org'] }
  const old = await stage.app.key(stage.tenant.id, { '*': { read: '*', execute: '*' } }, rest)
  const page = await stage.open('/access/keys')
  const note = page.getByRole('region', { name: 'Public keys that may do too much' })
  await note.getByText(/list the e-mail addresses of users/).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'broad-keys')
  await note.getByRole('button', { name: 'Replace Shop window' }).click()
  const made = page.getByRole('dialog', { name: 'Key “Shop window (narrow)” is made' })
  await made.getByText('“Shop window” still works.').waitFor()
  const [key] = await keysNamed('Shop window (narrow)')
  assert.equal(await made.locator('pre').textContent(), key.id)
  assert.deepEqual([key.permissions, key.allowedOrigins], [publicPermissions, rest.allowedOrigins])
  assert.equal((await stage.app.call('GET', '/api/v1/auth/access', { key: old })).status, 401, 'from no origin')
  assert.equal((await keysNamed('Shop window')).length, 1, 'the old key stays until somebody deletes it')
  await made.getByRole('button', { name: 'Delete the old key …' }).click()
  await page.getByRole('alertdialog').getByText('Whatever uses it stops working at once.').waitFor()
  await confirm(page, 'Delete')
  await page.getByText('The key is deleted').waitFor()
  assert.deepEqual(await keysNamed('Shop window'), [])
  await note.getByText('Shop window').waitFor({ state: 'detached' })
  assertQuiet(page)
  await page.close()
})

test('a page that needs more than a public key begins with that, and chooses the rest by id', async () => {
  await stage.app.key(stage.tenant.id, { '*': { read: '*', execute: '*' } }, { description: 'Chat page' })
  const page = await stage.open('/access/keys')
  await page.getByRole('button', { name: 'It needs more …: Chat page' }).click()
  await page.getByRole('heading', { name: 'Replace “Chat page”' }).waitFor()
  await cell(page, 'Agents, execute: nothing').waitFor()
  await cell(page, 'Datasets, execute: all').waitFor()
  await page.getByRole('button', { name: 'Make key' }).click()
  await page.getByRole('button', { name: 'Keep both for now' }).click()
  assert.equal((await keysNamed('Chat page')).length, 1)
  assertQuiet(page)
  await page.close()
})

test('deleting the key that is signed in says so and signs out', async () => {
  const key = await stage.app.key(stage.tenant.id, { '*': { '*': '*' } }, { description: 'Mine' })
  const page = await stage.open('/access/keys', { key })
  await page.getByRole('button', { name: 'Actions of the key Mine' }).click()
  await page.getByRole('menuitem', { name: 'Delete …' }).click()
  await page.getByText('You are signed in with this key').waitFor()
  await confirm(page, 'Delete')
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  assert.equal((await stage.app.call('GET', '/api/v1/auth/access', { key })).status, 401)
  await page.close()
})

test('the server’s refusal to grant more than one has is shown in its words', async () => {
  const key = await stage.app.key(stage.tenant.id, { '*': { read: '*' }, apikeys: { '*': '*' } })
  const page = await stage.open('/access/keys?editor=new', { key, viewport: phone })
  await page.getByLabel('Name').fill('Too much')
  await page.getByText('Developer', { exact: true }).click()
  await page.getByRole('button', { name: 'Make key' }).click()
  await page.getByText('A key can only create keys that grant no more than it grants itself.').waitFor()
  await untilFits(page)
  assert.deepEqual(await keysNamed('Too much'), [])
  await page.close()
})

test('a key that may not make keys sees why', async () => {
  const key = await stage.app.key(stage.tenant.id, { '*': { read: '*' } })
  const page = await stage.open('/access/keys', { key })
  const button = page.getByRole('button', { name: 'New key' })
  await button.waitFor()
  assert.equal(await button.getAttribute('aria-disabled'), 'true')
  await button.hover()
  await page.getByText('This key may not do that: it needs write on apikeys.').waitFor()
  assertQuiet(page)
  await page.close()
})
