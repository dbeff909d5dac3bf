import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accessibilityFaults,
  type ConsolePage,
  phone,
  screenshots,
  setStage,
  sidewaysScrollers,
  typeOver,
  until,
  untilFits,
} from '../../../../testing/stage.ts'

const stage = setStage()

const call = async (method: string, path: string, body?: unknown) =>
  stage.app.call(method, `/api/v1/${path}`, { key: stage.tenant.developer, body })

const columns = [
  { name: 'owner', type: 'string' },
  { name: 'town', type: 'string' },
  { name: 'price', type: 'integer' },
  { name: 'geom', type: 'geometry', geometryType: 'Point' },
]
const rows = [
  { owner: 'emmy@example.org', town: 'Bern', price: 300, geom: { type: 'Point', coordinates: [7.44, 46.95] } },
  { owner: 'emmy@example.org', town: 'Thun', price: 200, geom: { type: 'Point', coordinates: [7.63, 46.76] } },
  { owner: 'kurt@example.org', town: 'Bern', price: 500, geom: { type: 'Point', coordinates: [7.45, 46.94] } },
]

let people: Promise<unknown> | undefined

/** A declared role, and users with it and without. */
async function makePeople(): Promise<void> {
  await call('POST', 'auth/roles', { name: 'clerk', description: 'At the counter' })
  await stage.app.user(stage.tenant.id, { email: 'emmy@example.org' })
  await stage.app.user(stage.tenant.id, { email: 'clara@example.org', roles: ['clerk'] })
}

async function makeParcels(rules: unknown = null): Promise<string> {
  people ??= makePeople()
  await people
  const { body } = await call('POST', 'datasets', {
    type: 'table',
    name: 'Parcels',
    source: `parcels_${Date.now()}`,
    columns,
  })
  await call('POST', `datasets/${body.id}/rows`, rows)
  if (rules) await call('PATCH', `datasets/${body.id}`, { rules })
  return body.id
}

const rulesOf = async (id: string) => (await call('GET', `datasets/${id}`)).body.rules

function assertQuiet(page: ConsolePage): void {
  assert.deepEqual([page.faults, page.foreign], [[], []])
}

test('a rule is made from a template, tried as a user before it is saved, and saved', async () => {
  const id = await makeParcels()
  const page = await stage.open(`/data/${id}/rules`)
  await page.getByText('Without rules every key').waitFor()
  assert.deepEqual(await accessibilityFaults(page, ['target-size']), [])
  await screenshots(page, 'rules-none')
  await page.getByRole('button', { name: 'Use the template: Each user sees their own rows' }).click()
  const form = page.getByRole('dialog', { name: 'Add a rule' })
  await form.getByText(/rows where owner is their e-mail; the server writes owner = their e-mail/).waitFor()
  await form.getByText('By these rules: Somebody signed in without roles sees no row of 3.').waitFor()
  assert.deepEqual(await accessibilityFaults(page, ['target-size']), [])
  await screenshots(page, 'rules-form')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('list', { name: 'Rules' }).getByText('Signed-in users').waitFor()
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText('Somebody signed in without roles sees no row of 3.').waitFor()
  await preview.getByLabel('See as').selectOption('user')
  await preview.getByRole('searchbox', { name: 'User' }).fill('emm')
  await preview.getByRole('button', { name: /emmy@example\.org/ }).click()
  await preview.getByText('emmy@example.org sees 2 of 3 rows.').waitFor()
  await preview.getByText('May add rows, change 2 and delete 2').waitFor()
  await preview.getByRole('cell', { name: 'Thun' }).waitFor()
  assert.equal(await rulesOf(id), null, 'nothing is saved until Save')
  await page.getByText('Not saved yet.').waitFor()
  assert.deepEqual(await accessibilityFaults(page, ['target-size']), [])
  await screenshots(page, 'rules-preview')
  // A look at another page loses nothing, and closing the tab asks.
  await page.getByRole('link', { name: 'Attributes' }).click()
  await page.getByRole('link', { name: 'Rules' }).click()
  await page.getByText('Not saved yet.').waitFor()
  assert.equal(await page.evaluate(() => dispatchEvent(new Event('beforeunload', { cancelable: true }))), false)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Rules saved').waitFor()
  const own = { owner: '$user.email' }
  assert.deepEqual(await rulesOf(id), [{ levels: ['read', 'append', 'change', 'delete'], where: own, set: own }])
  assertQuiet(page)
  await page.close()
})

test('a rule is built by hand, with roles, conditions and attributes, and hidden attributes are not in the preview', async () => {
  const id = await makeParcels([{ roles: ['clerk'], levels: ['read'] }])
  const page = await stage.open(`/data/${id}/rules`)
  await page.getByRole('button', { name: 'Edit rule 1' }).click()
  const form = page.getByRole('dialog', { name: 'Edit rule 1' })
  assert.equal(await form.getByLabel('clerk · At the counter').isChecked(), true)
  await form.getByLabel('Other roles').fill('chief')
  // Leaving asks once.
  await page.keyboard.press('Escape')
  await form.getByText('What you changed here is not in the rule yet.').waitFor()
  await form.getByText('Rows where …').click()
  await form.getByLabel('Attribute', { exact: true }).selectOption('town')
  await form.getByLabel('Value', { exact: true }).fill('Bern')
  await form.getByRole('button', { name: 'Condition', exact: true }).click()
  const second = form.getByRole('group', { name: 'Condition 2' })
  await second.getByLabel('Attribute', { exact: true }).selectOption('price')
  await second.getByLabel('Operator').selectOption({ label: 'is at most' })
  await second.getByLabel('Value', { exact: true }).fill('400')
  await form.getByText('Only these …').click()
  await form.getByRole('checkbox', { name: 'owner' }).uncheck()
  await form.getByText(/rows where town is “Bern” and price is at most 400; of these they see /).waitFor()
  await form.getByRole('button', { name: 'Apply' }).click()
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByLabel('See as').selectOption({ label: 'Somebody with the role chief' })
  await preview.getByText('Somebody with the role chief sees 1 of 3 rows.').waitFor()
  await preview.getByText('Not seen: owner.').waitFor()
  assert.equal(await preview.getByRole('columnheader', { name: 'owner' }).count(), 0)
  await page.getByRole('button', { name: 'Duplicate rule 1' }).click()
  await page.getByRole('button', { name: 'Remove rule 2' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Rules saved').waitFor()
  const [rule] = await rulesOf(id)
  assert.deepEqual([rule.roles, rule.where], [['clerk', 'chief'], { town: 'Bern', price: { $lte: 400 } }])
  assert.ok(!rule.attributes.includes('owner'))
  assertQuiet(page)
  await page.close()
})

test('conditions that the form cannot show stay JSON, and what the server finds wrong is said beside the rule', async () => {
  const where = { $not: { town: 'Thun' }, owner: { $in: ['$user.email', 'all'] } }
  const id = await makeParcels([{ levels: ['read'] }, { levels: ['read'], where }])
  const page = await stage.open(`/data/${id}/rules`)
  await page.getByText(/rows where not \(town is “Thun”\)/).waitFor()
  await page.getByRole('button', { name: 'Edit rule 2' }).click()
  const form = page.getByRole('dialog', { name: 'Edit rule 2' })
  assert.equal(await form.getByRole('radio', { name: 'Rows where …' }).isDisabled(), true)
  await form.getByRole('checkbox', { name: 'Delete rows' }).check()
  await form.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Rules saved').waitFor()
  assert.deepEqual((await rulesOf(id))[1], { levels: ['read', 'delete'], where })
  await page.getByRole('button', { name: 'Edit rule 2' }).click()
  const editor = form.getByRole('textbox', { name: 'Rows as JSON' })
  await typeOver(editor, '{"owner": "$user.email", "price": {"$lt": 400}}')
  await form.getByText('Rows where …').click()
  await form.getByRole('group', { name: 'Condition 2' }).waitFor()
  await form.getByText('As JSON').click()
  await typeOver(editor, '{"ownr": "$user.email"}')
  await form.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const wrong = page.getByRole('list', { name: 'Rules' }).getByRole('listitem').nth(1).getByRole('alert')
  await wrong.getByText('ownr').first().waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByText('All is saved.').waitFor()
  await page.close()
})

test('rules that let nobody in are told from none, and lifting them gives the rows back to keys', async () => {
  const id = await makeParcels([{ levels: ['read'] }])
  const page = await stage.open(`/data/${id}/rules`)
  await page.getByRole('button', { name: 'Remove rule 1' }).click()
  await page.getByText('There is no rule, so whomever the rules bind sees no row.').waitFor()
  await page.getByRole('button', { name: 'Lift all rules' }).click()
  await page.getByText('Without rules every key').waitFor()
  await page.getByRole('button', { name: /Everybody reads, signed-in users write/ }).click()
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByLabel('See as').selectOption('anyone')
  await preview.getByText('A key without a user sees all 3 rows.').waitFor()
  await preview.getByText('May write nothing.').waitFor()
  await page.getByRole('radio', { name: 'Users', exact: true }).check()
  await preview.getByText('These rules bind users only').waitFor()
  await page.getByRole('radio', { name: 'All callers' }).check()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Rules saved').waitFor()
  const { body } = await call('GET', `datasets/${id}`)
  assert.deepEqual([body.rulesFor, body.rules.length, body.rules[0]], ['all', 2, { users: 'anyone', levels: ['read'] }])
  assertQuiet(page)
  await page.close()
})

test('rules that somebody else saved meanwhile are not overwritten but shown beside one’s own', async () => {
  const id = await makeParcels([{ levels: ['read'] }])
  const page = await stage.open(`/data/${id}/rules`)
  await page.getByRole('button', { name: 'Duplicate rule 1' }).click()
  await call('PATCH', `datasets/${id}`, { rules: [{ roles: ['chief'], levels: ['read'] }] })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('cell', { name: 'Users with the role chief see all rows.' }).waitFor()
  await page.getByRole('button', { name: 'Take theirs' }).click()
  await page.getByRole('list', { name: 'Rules' }).getByText('Users with the role chief').waitFor()
  // Another name is no conflict.
  await page.getByRole('button', { name: 'Duplicate rule 1' }).click()
  await call('PATCH', `datasets/${id}`, { name: 'Renamed' })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Rules saved').waitFor()
  assert.equal((await rulesOf(id)).length, 2)
  await page.close()
})

test('a key that cannot write sees the rules and no form, and whom they bind is told so', async () => {
  const id = await makeParcels([{ roles: ['clerk'], levels: ['read'] }])
  const reader = await stage.app.key(stage.tenant.id, { datasets: { read: '*', execute: '*' }, auth: { execute: '*' } })
  const page = await stage.open(`/data/${id}/rules`, { key: reader })
  await page.getByText('This key may not do that: it needs write on datasets.').waitFor()
  await page.getByRole('list', { name: 'Rules' }).getByText('Users with the role clerk').waitFor()
  assert.equal(await page.getByRole('button', { name: /rule/ }).count(), 0)
  assertQuiet(page)
  await page.close()
  const writer = await stage.app.key(stage.tenant.id, { datasets: { '*': '*' }, auth: { execute: '*' } })
  const user = { email: 'carl@example.org', password: 'a long one for carl', roles: ['clerk'] }
  await stage.app.user(stage.tenant.id, { ...user, metadata: { auth: { defaultApiKey: writer } } })
  const bound = await stage.open(`/data/${id}/rules?application=${stage.tenant.id}`, { key: null })
  await bound.getByLabel('E-mail', { exact: true }).last().fill(user.email)
  await bound.getByLabel('Password', { exact: true }).fill(user.password)
  await bound.getByRole('button', { name: 'Sign in' }).click()
  await bound.getByText('Rules of this dataset bind you').waitFor()
  assert.equal(await bound.getByRole('button', { name: /rule/i }).count(), 0)
  await bound.close()
})

test('on a phone rules are made without scrolling sideways', async () => {
  const id = await makeParcels([
    { roles: ['clerk'], levels: ['read'], where: { town: '$user.metadata.town' }, attributes: ['id', 'town', 'geom'] },
  ])
  const page = await stage.open(`/data/${id}/rules`, { viewport: phone, hasTouch: true })
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText('sees no row of 3.').waitFor()
  await untilFits(page)
  await page.getByRole('button', { name: 'Edit rule 1' }).tap()
  const form = page.getByRole('dialog', { name: 'Edit rule 1' })
  await form.getByLabel('Which', { exact: true }).fill('place')
  await untilFits(page)
  const isWider = () => form.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  await until(isWider, (wider) => !wider)
  assert.deepEqual(await accessibilityFaults(page, ['target-size']), [])
  await screenshots(page, 'rules-phone-form')
  await form.getByRole('button', { name: 'Apply' }).tap()
  await page.getByText('town is their place (metadata)').waitFor()
  await untilFits(page)
  assert.deepEqual(await sidewaysScrollers(page).then((found) => found.filter((html) => !html.startsWith('<nav'))), [])
  assertQuiet(page)
  await page.close()
})
