import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Request } from 'playwright-core'
import {
  accessibilityFaults,
  type ConsolePage,
  phone,
  screenshots,
  setStage,
  until,
  untilFits,
} from '../../../../testing/stage.ts'

// Others write by the API or in the database, the page follows. Nothing waits for a time, only for what is seen.

const stage = setStage()
const manyRows = 1_000
let schema: string
let buoys: string

const gridOf = (page: ConsolePage) => page.getByRole('grid')
const rowOf = (page: ConsolePage, text: string) => page.getByRole('row').filter({ hasText: text })
const statusOf = (page: ConsolePage, text: string) => page.getByText(/^rows [\d,]+–/).filter({ hasText: text })
const sign = (page: ConsolePage, word: string) => page.getByRole('button', { name: word, exact: true })
const scrollOf = (page: ConsolePage) => gridOf(page).evaluate((grid) => grid.scrollTop)
const run = (statement: string) => stage.app.db.script(statement.replaceAll('$', schema))
const isStream = (request: Request) => request.url().includes('/changes')

async function publish(name: string): Promise<string> {
  const { app, tenant } = stage
  const body = { type: 'table', name, source: name }
  return (await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })).body.id
}

async function change(id: number, body: object): Promise<void> {
  const { app, tenant } = stage
  const path = `/api/v1/datasets/${buoys}/rows/${id}`
  const { status } = await app.call('PATCH', path, { key: tenant.developer, body })
  assert.equal(status, 200)
}

/** Opens a table and waits until the server follows it and all is loaded, so that what is asked for later is for changes. */
async function openLive(path: string, options?: Parameters<typeof stage.open>[1]): Promise<ConsolePage> {
  const page = await stage.open(path, options)
  await sign(page, 'Live').waitFor()
  await page.untilQuiet()
  return page
}

async function finish(page: ConsolePage): Promise<void> {
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
}

describe('the table and the map of a dataset', () => {
  before(async () => {
    schema = `app_${stage.tenant.id.replaceAll('-', '')}`
    await run(`
    CREATE TABLE $.buoys (id int PRIMARY KEY, name text NOT NULL, depth int, geom public.geometry(Point, 4326));
    INSERT INTO $.buoys SELECT n, 'Buoy ' || n, n % 50, public.ST_Point(6 + n % 40 * 0.05, 53 + n / 40 * 0.02, 4326)
      FROM generate_series(1, ${manyRows}) n;
    GRANT SELECT, INSERT, UPDATE, DELETE ON $.buoys TO $`)
    buoys = await publish('buoys')
  })

  test('rows that others write appear, marked as new, without a change of the place, selection, order or filter', async () => {
    const where = encodeURIComponent(JSON.stringify({ depth: { $gte: 10 } }))
    const page = await openLive(`/data/${buoys}/table?sort=-depth&where=${where}`)
    await statusOf(page, 'of 800 (exact').waitFor()
    await page.mouse.move(300, 400)
    await page.mouse.wheel(0, 28 * 40)
    await until(
      () => scrollOf(page),
      (top) => top === 28 * 40,
    )
    await rowOf(page, 'Buoy').nth(10).click()
    const chosen = await page.locator('[data-index][aria-selected="true"]').textContent()
    const [address, place] = [page.url(), await scrollOf(page)]
    const last = await rowOf(page, 'Buoy').nth(15).locator('[data-column="0"]').textContent()
    await change(Number(last), { name: 'Moved meanwhile' })
    await rowOf(page, 'Moved meanwhile').and(page.locator('[data-changed]')).waitFor()
    await rowOf(page, 'Moved meanwhile').and(page.locator('[data-changed]')).waitFor({ state: 'detached' })
    // A row comes into the filter, at the very top of the order.
    await run(`INSERT INTO $.buoys VALUES (2001, 'Deep', 99, public.ST_Point(6, 53, 4326))`)
    await statusOf(page, 'of 801 (exact').waitFor()
    assert.equal(await page.locator('[data-index][aria-selected="true"]').textContent(), chosen)
    assert.equal(page.url(), address)
    // What was read stays under the eyes of the reader: one row more is above it now.
    assert.equal(await scrollOf(page), place + 28)
    await run('DELETE FROM $.buoys WHERE id = 2001')
    await statusOf(page, 'of 800 (exact').waitFor()
    assert.equal(await scrollOf(page), place)
    await finish(page)
  })

  test('only loaded pages that a change concerns are asked for again, and a burst of changes is few requests', async () => {
    const page = await openLive(`/data/${buoys}/table`)
    await statusOf(page, '(exact').waitFor()
    await page.untilQuiet()
    const asked: object[] = []
    page.on('request', (request) => request.url().endsWith('/query') && asked.push(request.postDataJSON()))
    await change(900, { name: 'Out of sight' })
    for (let depth = 1; depth <= 20; depth++) await change(7, { depth })
    await change(7, { name: 'The seventh' })
    await rowOf(page, 'The seventh').waitFor()
    await page.untilQuiet()
    // Each change is told on its own, at most four times a second; the pages follow twice a second.
    assert.ok(asked.length < 20, `${asked.length} requests`)
    assert.ok(!asked.some((body) => 'offset' in body || JSON.stringify(body).includes('count')), JSON.stringify(asked))
    await finish(page)
  })

  test('the map shows what others moved, with the tiles of both places alone, over the same stream', async () => {
    const isChanges = (url: string) => url.includes('/changes')
    const streams: string[] = []
    const page = await stage.open('/data')
    page.on('request', (request) => isChanges(request.url()) && streams.push(request.url()))
    await page.goto(`${stage.url}/console/data/${buoys}/table?sel=${encodeURIComponent('[1]')}`)
    await sign(page, 'Live').waitFor()
    await page.keyboard.press('f')
    await page.getByText(/^z 9(\.0)?$/).waitFor()
    await page.untilQuiet()
    const tiles = new Set<string>()
    page.on('request', (request) => {
      const [, tile] = /tiles\/[^/]+\/(\d+\/\d+\/\d+)\.mvt/.exec(request.url()) ?? []
      if (tile && request.url().includes(buoys)) tiles.add(tile)
    })
    await change(2, { geom: { type: 'Point', coordinates: [6.0501, 53.0001] } })
    await until(
      async () => tiles.size,
      (size) => size > 0,
    )
    await page.untilQuiet()
    // At zoom 9 a tile is 0.7 degrees wide, and the map shows about twenty of them.
    assert.ok(tiles.size <= 4, [...tiles].join(' '))
    assert.equal(streams.length, 1)
    await screenshots(page, 'live-table')
    assert.deepEqual(await accessibilityFaults(page), [])
    const isEnded = page.waitForEvent('requestfailed', isStream)
    await page.getByRole('link', { name: 'Query', exact: true }).click()
    await isEnded
    await finish(page)
  })

  test('a tab that is hidden asks for nothing, and catches up when it is shown', async () => {
    const page = await openLive(`/data/${buoys}/table`)
    const show = (isShown: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${!isShown} });
        document.dispatchEvent(new Event('visibilitychange'))`)
    await show(false)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const other = await openLive(`/data/${buoys}/table`)
    await change(3, { name: 'Renamed behind its back' })
    await rowOf(other, 'Renamed behind its back').waitFor()
    await finish(other)
    assert.deepEqual(
      asked.filter((url) => url.endsWith('/query')),
      [],
    )
    await show(true)
    await rowOf(page, 'Renamed behind its back').waitFor()
    await finish(page)
  })

  test('a dataset that cannot be followed is shown as ever, and its sign says why', async () => {
    const { app, tenant } = stage
    const body = { type: 'sql', name: 'some', source: 'SELECT id, name FROM buoys' }
    const { id } = (await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })).body
    const page = await stage.open(`/data/${id}/table`, { viewport: phone })
    await rowOf(page, 'Buoy 1').first().waitFor()
    await sign(page, 'Not live').click()
    await page.getByText('Only datasets of type table can be followed.').waitFor()
    assert.deepEqual(await accessibilityFaults(page), [])
    await untilFits(page)
    await finish(page)
  })

  test('a key that is revoked is not tried for ever, and says so', async () => {
    const { app, tenant } = stage
    const key = await app.key(tenant.id, { datasets: { read: '*', execute: '*' } })
    const page = await openLive(`/data/${buoys}/table`, { key })
    const streams: Request[] = []
    page.on('request', (request) => isStream(request) && streams.push(request))
    await app.call('DELETE', `/api/v1/apikeys/${key}`, { key: tenant.developer })
    await sign(page, 'Not live').waitFor()
    assert.ok(streams.length <= 1)
    await page.close()
  })
})
