import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import { sql } from '../../../../server/src/kernel/db/sql.ts'
import {
  accessibilityFaults,
  type ConsolePage,
  phone,
  screenshots,
  setStage,
  sidewaysScrollers,
  until,
  untilFits,
} from '../../../testing/stage.ts'

const stage = setStage()
let styleId: string

const styleOf = (name: string) => ({ name, type: 'plain', style: { version: 8, sources: {}, layers: [] } })

async function createStyle(name: string): Promise<string> {
  const { status, body, text } = await stage.app.call('POST', '/api/v1/styles', {
    key: stage.tenant.developer,
    body: styleOf(name),
  })
  assert.equal(status, 201, text)
  return body.id
}

describe('the page Activity', () => {
  before(async () => {
    const { app, tenant } = stage
    const headers = { 'user-agent': 'a program' }
    styleId = await createStyle('Harbour map')
    const goneId = await createStyle('Sunken map')
    await app.call('DELETE', `/api/v1/styles/${goneId}`, { key: tenant.developer })
    const refused = await app.call('DELETE', `/api/v1/styles/${styleId}`, { key: tenant.public, headers })
    assert.equal(refused.status, 401)
    await app.user(tenant.id, { email: 'pat+1@example.org' })
    // Older than all that the stage did: two pages and a part of one.
    await app.db.query(sql`
    INSERT INTO svc.audit (at, action, actor_type, target_type, target_name, application_id, status, changed)
    SELECT now() - make_interval(days => 3, mins => i), 'uploads.complete', 'system', 'uploads', 'Old file ' || i, ${tenant.id}::uuid, 200, '{}'
    FROM generate_series(1, 120) i`)
  })

  const assertQuiet = (page: ConsolePage) => assert.deepEqual([page.faults, page.foreign], [[], []])
  const rowsWith = (page: ConsolePage, text: RegExp) => page.getByRole('row', { name: text })

  test('an entry says who did what, with which outcome, and leads to its record if that still exists', async () => {
    const page = await stage.open('/activity')
    const refusal = rowsWith(page, /Delete map.*refused, 401/)
    await refusal.waitFor()
    assert.equal(await page.getByRole('link', { name: 'Activity' }).getAttribute('aria-current'), 'page')
    await rowsWith(page, /Delete map Sunken map.*done/).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Sunken map' }).count(), 0)
    assert.deepEqual(await accessibilityFaults(page), [])
    await screenshots(page, 'activity')
    await refusal.getByRole('button', { name: /^Details/ }).click()
    const sheet = page.getByRole('dialog', { name: 'Delete map' })
    await sheet.getByText('a program').waitFor()
    await sheet.getByText('styles.delete').waitFor()
    assert.deepEqual(await accessibilityFaults(page), [])
    await screenshots(page, 'activity-entry')
    await sheet.getByRole('link', { name: 'This record' }).click()
    // The head, what made it, and who wanted to delete it.
    await until(
      () => page.getByRole('row').count(),
      (count) => count === 3,
    )
    await rowsWith(page, /Create map/)
      .getByRole('link', { name: 'Harbour map' })
      .click()
    await page.waitForURL(new RegExp(`/console/maps/${styleId}/look`))
    assertQuiet(page)
    await page.close()
  })

  test('filters are in the address, and pages stay where they are while new entries come', async () => {
    const page = await stage.open('/activity')
    await page.getByLabel('Outcome').selectOption('Refused or failed')
    await page.waitForURL(/outcome=refused/)
    await rowsWith(page, /done/).first().waitFor({ state: 'detached' })
    await page.getByLabel('Kind of record').selectOption('Users')
    await page.getByRole('heading', { name: 'No entry matches' }).waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.getByLabel('Search activity').fill('old FILE')
    // Without the search it would be on the second page.
    await rowsWith(page, /Old file 50 /).waitFor()
    await page.getByRole('link', { name: 'Older' }).click()
    await rowsWith(page, /Old file 51 /).waitFor()
    // The next page is read from its beginning, by eye and by keyboard.
    assert.ok(await rowsWith(page, /Old file 51 /).evaluate((row) => row.getBoundingClientRect().top < 400))
    assert.ok(await page.locator(':focus').getByRole('table').isVisible())
    await createStyle('An old file, by name')
    await page.reload()
    await rowsWith(page, /Old file 51 /).waitFor()
    assert.equal(await rowsWith(page, /Old file 50 /).count(), 0)
    await page.getByRole('link', { name: 'Older' }).click()
    await page.getByText('This is the oldest.').waitFor()
    assert.equal(await rowsWith(page, /Old file/).count(), 20)
    await page.goBack()
    await rowsWith(page, /Old file 51 /).waitFor()
    await page.getByRole('link', { name: 'Newest' }).click()
    await rowsWith(page, /An old file, by name/).waitFor()
    assertQuiet(page)
    await page.close()
  })

  test('the export has what the filter lets through, all pages of it', async () => {
    const page = await stage.open('/activity?q=Old+file&kind=uploads')
    await rowsWith(page, /Old file 1 /).waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'CSV' }).click()
    const file = await (await download).path()
    const lines = (await readFile(file, 'utf8')).trim().split(/\r?\n/)
    assert.equal(lines.length, 121)
    assert.ok(lines[0]?.includes('targetName'))
    assertQuiet(page)
    await page.close()
  })

  test('on a phone entries are cards, filters are behind a button, and nothing is wider than the screen', async () => {
    const page = await stage.open('/activity', { viewport: phone, colorScheme: 'dark' })
    await rowsWith(page, /Delete map Sunken map/).waitFor()
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByLabel('Time').selectOption('Between two days …')
    await page.getByLabel('To', { exact: true }).fill('2020-01-01')
    await page.getByRole('heading', { name: 'No entry matches' }).waitFor()
    await page.getByLabel('Time').selectOption('Last hour')
    await rowsWith(page, /Delete map Sunken map/).waitFor()
    await untilFits(page)
    assert.deepEqual(await sidewaysScrollers(page), [])
    assert.deepEqual(await accessibilityFaults(page), [])
    assertQuiet(page)
    await page.close()
  })

  test('a master key sees the applications of entries, and is led to users by their address', async () => {
    const page = await stage.open('/activity', { key: stage.app.master })
    await page.getByRole('columnheader', { name: 'Application' }).waitFor()
    await rowsWith(page, /Delete map Sunken map atlas/).waitFor()
    // The console reads mail, which is logged, only on the page of mails.
    assert.equal(await rowsWith(page, /List mails/).count(), 0)
    await page.getByRole('link', { name: 'pat+1@example.org' }).click()
    await page.getByRole('button', { name: 'Actions of pat+1@example.org' }).waitFor()
    assertQuiet(page)
    await page.close()
  })

  test('a key without write on its application finds no activity in the rail, and is told why', async () => {
    const page = await stage.open('/activity', { key: stage.tenant.reader })
    await page.getByRole('heading', { name: 'This key may not read the activity' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Activity' }).count(), 0)
    assert.equal(await page.getByRole('link', { name: 'Usage' }).count(), 1)
    assertQuiet(page)
    await page.close()
  })

  test('the menu of a key leads to what it did, and an error is shown in the server’s words', async () => {
    const page = await stage.open('/access/keys')
    await page
      .getByRole('row', { name: /signed in/ })
      .getByRole('button', { name: /^Actions of/ })
      .click()
    await page.getByRole('menuitem', { name: 'Activity' }).click()
    await page.waitForURL(/activity\?key=/)
    await rowsWith(page, /Delete map Sunken map/).waitFor()
    assert.equal(await rowsWith(page, /Master key/).count(), 0)
    const audit = /\/api\/v1\/audit/
    const problem = { title: 'Broken', status: 500, code: 'internal', detail: 'The log is being mended.' }
    await page.route(audit, (route) =>
      route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    )
    await page.getByLabel('Outcome').selectOption('Done')
    await page.getByRole('alert').getByText('The log is being mended.').waitFor()
    await page.unroute(audit)
    await page.getByRole('button', { name: 'Try again' }).click()
    await rowsWith(page, /Delete map Sunken map/).waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.close()
  })
})
