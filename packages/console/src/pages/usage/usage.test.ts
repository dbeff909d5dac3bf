import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { raw, sql } from '../../../../server/src/kernel/db/sql.ts'
import type { Tenant } from '../../../../server/testing/harness.ts'
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
let busy: Tenant
let quiet: Tenant

/** The day that the charts are looked at, so that no midnight changes them. */
const shownOn = new Date('2026-03-15T12:00:00Z')

describe('the page Usage', () => {
  before(async () => {
    const { app } = stage
    busy = await app.tenant('Busy bureau')
    quiet = await app.tenant('Quiet quay')
    const limits = { storageBytes: 10_000_000 }
    const { status, text } = await app.call('PATCH', `/api/v1/applications/${busy.id}`, { body: { limits } })
    assert.equal(status, 200, text)
    const columns = raw('requests, refused, bytes_out, tiles_cached, tiles_made, tile_seconds, queries, query_seconds')
    await app.db.query(sql`
    INSERT INTO svc.usage (application_id, day, ${columns})
    SELECT ${busy.id}::uuid, day, 1000 + i * i % 7 * 100, i % 3 * 20, 5000000 + i * 10000, 600, 50 + i, 1.5, 40, 0.25
    FROM generate_series(1, 40) i, LATERAL (VALUES ('2026-03-15'::date - i)) AS days(day)
    UNION ALL SELECT ${busy.id}::uuid, (now() AT TIME ZONE 'UTC')::date, 900, 0, 1, 1, 1, 1, 1, 1`)
  })

  const assertQuiet = (page: ConsolePage) => assert.deepEqual([page.faults, page.foreign], [[], []])

  test('an application sees what it uses against its limits, as charts and as numbers', async () => {
    const page = await stage.open('/usage', { key: busy.developer })
    await page.clock.setFixedTime(shownOn)
    await page.reload()
    const queries = page.getByRole('figure', { name: /Queries/ })
    // 29 days before today, in which nothing was queried.
    await queries.getByText('1,160').first().waitFor()
    assert.equal(await page.getByRole('meter', { name: 'Storage' }).getAttribute('aria-valuetext'), '0 B of 10 MB')
    await page.getByText(/^No uploads/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Change limits' }).count(), 0)
    await queries.getByText('Numbers of queries').click()
    const table = queries.getByRole('table')
    // The head, 30 days and the sum.
    assert.equal(await table.getByRole('row').count(), 32)
    assert.match(String(await table.getByRole('row').last().textContent()), /^All1,1607\.3 s$/)
    assert.deepEqual(await accessibilityFaults(page), [])
    await queries.getByText('Numbers of queries').click()
    await screenshots(page, 'usage')
    await page.getByRole('radio', { name: '7 days' }).check()
    await queries.getByText('240').first().waitFor()
    assert.match(page.url(), /span=week/)
    await page.setViewportSize(phone)
    for (const summary of await page.getByText(/^Numbers of/).all()) await summary.click()
    await untilFits(page)
    assert.deepEqual(await sidewaysScrollers(page), [])
    assertQuiet(page)
    await page.close()
  })

  test('a master key sorts all applications by what they use, and sets and removes limits of one', async () => {
    const page = await stage.open('/usage', { key: stage.app.master })
    const names = () => page.locator('tbody th').allTextContents()
    await page.getByRole('rowheader', { name: 'Quiet quay' }).waitFor()
    await page.getByRole('button', { name: 'Application', exact: true }).click()
    await until(names, (found) => found.join() === 'atlas,Busy bureau,default,Quiet quay')
    await page.getByRole('button', { name: 'Tiles' }).click()
    await until(names, ([first]) => first === 'Busy bureau')
    assert.equal(await page.getByRole('columnheader', { name: 'Tiles' }).getAttribute('aria-sort'), 'descending')
    assert.match(page.url(), /sort=-tiles/)
    await screenshots(page, 'usage-all')
    await page.getByRole('button', { name: 'Limits of Busy bureau' }).click()
    const dialog = page.getByRole('dialog', { name: 'Limits of Busy bureau' })
    assert.equal(await dialog.getByLabel('Storage, GB').inputValue(), '0.01')
    await dialog.getByLabel('Queries at once').fill('1.5')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Must be a whole number.').waitFor()
    assert.deepEqual(await accessibilityFaults(page), [])
    await screenshots(page, 'usage-limits')
    await dialog.getByLabel('Queries at once').fill('3')
    await dialog.getByLabel('Storage, GB').fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The limits of “Busy bureau” are saved').waitFor()
    const { body } = await stage.app.call('GET', `/api/v1/applications/${busy.id}`)
    assert.deepEqual(body.limits, { queriesAtOnce: 3 })
    await page.getByRole('link', { name: 'Busy bureau' }).click()
    await page.getByRole('heading', { name: 'Usage of Busy bureau' }).waitFor()
    await page.getByText('3 in each replica').waitFor()
    await page.getByRole('button', { name: 'Change limits' }).waitFor()
    await page.getByRole('link', { name: 'All applications' }).click()
    await page.setViewportSize(phone)
    await page.getByRole('rowheader', { name: 'Quiet quay' }).waitFor()
    await untilFits(page)
    assert.deepEqual(await sidewaysScrollers(page), [])
    assert.deepEqual(await accessibilityFaults(page), [])
    assertQuiet(page)
    await page.close()
  })

  test('an application that was never used says so, and a key without read is told why it sees nothing', async () => {
    const page = await stage.open('/usage?span=quarter', { key: stage.app.master })
    await page.goto(`${stage.url}/console/usage/${quiet.id}`)
    await page.getByRole('heading', { name: /^Nothing was used since/ }).waitFor()
    assertQuiet(page)
    await page.close()
    const poor = await stage.open('/usage', { key: await stage.app.key(quiet.id, { styles: { read: '*' } }) })
    await poor.getByRole('heading', { name: 'This key may not read the usage' }).waitFor()
    assert.equal(await poor.getByRole('link', { name: 'Usage' }).count(), 0)
    assertQuiet(poor)
    await poor.close()
  })
})
