import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import type { Locator } from 'playwright-core'
import {
  accessibilityFaults,
  type ConsolePage,
  phone,
  screenshots,
  setStage,
  untilFits,
} from '../../../../testing/stage.ts'

const stage = setStage()
const manyRows = 400_000
let cities: string
let many: string

const gridOf = (page: ConsolePage) => page.getByRole('grid')
const rowOf = (page: ConsolePage, text: string) => page.getByRole('row').filter({ hasText: text })
const status = (page: ConsolePage) => page.getByText(/^rows [\d,]+–/)
const cellTexts = (rows: Locator, column: number) =>
  rows.evaluateAll((all, at) => all.map((row) => row.querySelector(`[data-column="${at}"]`)?.textContent), column)
const search = (page: ConsolePage) => new URL(page.url()).searchParams

async function query(body: object): Promise<Record<string, unknown>[]> {
  const { app, tenant } = stage
  return (await app.call('POST', `/api/v1/datasets/${cities}/query`, { key: tenant.developer, body })).body
}

async function finish(page: ConsolePage): Promise<void> {
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
}

describe('the table of a dataset', () => {
  before(async () => {
    const { app, tenant } = stage
    const found = await app.call('GET', '/api/v1/datasets', { key: tenant.developer })
    cities = found.body[0].id
    const schema = `app_${tenant.id.replaceAll('-', '')}`
    await app.db.script(`
    CREATE TABLE ${schema}.many (id int4 PRIMARY KEY, half int4 NOT NULL, big numeric, word text);
    INSERT INTO ${schema}.many SELECT g, g / 2, 9007199254740992 + g, 'word ' || g % 10 FROM generate_series(1, ${manyRows}) g;
    GRANT SELECT ON ${schema}.many TO ${schema}; ANALYZE ${schema}.many`)
    const body = { type: 'table', name: 'many', source: 'many' }
    many = (await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })).body.id
  })

  test('rows are filtered by conditions and sorted by the head, and the address says how', async () => {
    const page = await stage.open(`/data/${cities}`)
    await page.getByText('rows 1–', { exact: false }).getByText('(exact').waitFor()
    await page.getByRole('button', { name: 'population', exact: true }).click()
    await page.getByRole('button', { name: 'population', exact: true }).click()
    await rowOf(page, 'Shanghai').waitFor()
    assert.equal(search(page).get('sort'), '-population')
    await page.getByRole('button', { name: 'Condition', exact: true }).click()
    await page.getByLabel('Attribute').selectOption('country')
    await page.getByLabel('Operator').selectOption('is')
    await page.getByLabel('Value').fill('Finland')
    await page.keyboard.press('Enter')
    await rowOf(page, 'Helsinki').waitFor()
    const where = { country: { $eq: 'Finland' } }
    assert.deepEqual(JSON.parse(search(page).get('where') ?? ''), where)
    const expected = (await query({ where, order: ['-population'] })).map(({ name }) => name)
    await status(page)
      .filter({ hasText: `of ${expected.length} (exact` })
      .waitFor()
    assert.deepEqual(await cellTexts(page.locator('[data-index]'), 1), expected)
    assert.deepEqual(await accessibilityFaults(page), [])
    await screenshots(page, 'dataset-table')
    await page.goBack()
    await rowOf(page, 'Shanghai').waitFor()
    await finish(page)
  })

  test('a filter that the builder cannot show is a chip of its own, and one that finds nothing can be cleared', async () => {
    const where = { population: { $gte: 1e9 }, $not: { capital: true } }
    const page = await stage.open(`/data/${cities}/table?where=${encodeURIComponent(JSON.stringify(where))}`)
    await page.getByRole('button', { name: 'custom filter', exact: true }).waitFor()
    await page.getByRole('button', { name: 'population ≥ 1,000,000,000', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await rowOf(page, 'Mogadishu').waitFor()
    assert.equal(search(page).get('where'), null)
    await finish(page)
  })

  test('one stop of focus is enough for cells, selection, details and the order', async () => {
    const page = await stage.open(`/data/${cities}/table`)
    await rowOf(page, 'Mogadishu').waitFor()
    await gridOf(page).focus()
    for (const key of ['ArrowDown', ' ', 'Shift+ArrowDown', 'Shift+ArrowDown']) await page.keyboard.press(key)
    await page.getByText('3 selected').waitFor()
    assert.equal(await page.locator('[data-index][aria-selected="true"]').count(), 3)
    assert.equal(JSON.parse(search(page).get('sel') ?? '').length, 3)
    assert.equal(await gridOf(page).getAttribute('aria-activedescendant'), 'cell-3-0')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Row 53654' }).getByText('Mogadishu').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('region', { name: 'Row 53654' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.getByText('3 selected').waitFor({ state: 'detached' })
    for (const key of ['Control+Home', 'ArrowUp', 'ArrowRight', 'Enter']) await page.keyboard.press(key)
    await page.getByRole('columnheader', { name: 'name' }).and(page.locator('[aria-sort="ascending"]')).waitFor()
    await page.keyboard.press('Alt+ArrowDown')
    await page.getByRole('menuitem', { name: 'Hide' }).click()
    await page.getByRole('columnheader', { name: 'name' }).waitFor({ state: 'detached' })
    await finish(page)
  })

  test('a click on a feature selects its row, however far away it is, and f flies to it', async () => {
    const [last] = await query({ order: ['-id'], limit: 1, attributes: ['id', 'name'] })
    const page = await stage.open(`/data/${cities}/table?sel=${encodeURIComponent(JSON.stringify([last?.id]))}`)
    // The link opens at the row; the map is centred at the feature.
    const row = rowOf(page, String(last?.name)).and(page.locator('[aria-selected="true"]'))
    await row.waitFor()
    await page.keyboard.press('f')
    const map = page.getByRole('region', { name: 'Map of Cities of the world' })
    // As close as the world of the base map says something.
    await page.getByText(/^z 9(\.0)?$/).waitFor()
    await page.getByRole('button', { name: 'clear', exact: true }).click()
    await gridOf(page).focus()
    await page.keyboard.press('Control+Home')
    await row.waitFor({ state: 'detached' })
    const box = await map.boundingBox()
    assert.ok(box)
    // Until the tile has come there is nothing to click at.
    while ((await row.count()) === 0) {
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
      await page.untilQuiet()
    }
    assert.deepEqual(JSON.parse(search(page).get('sel') ?? ''), [last?.id])
    await finish(page)
  })

  test('the last of many rows is reached at once, by key and by the scroll bar, with every digit of its numbers', async () => {
    const page = await stage.open(`/data/${many}/table`)
    const asked: object[] = []
    // Not the script of that name.
    page.on('request', (request) => request.url().endsWith('/query') && asked.push(request.postDataJSON()))
    await status(page)
      .filter({ hasText: `of ${manyRows.toLocaleString('en')} (exact` })
      .waitFor()
    await gridOf(page).focus()
    await page.keyboard.press('Control+End')
    await rowOf(page, '9,007,199,255,140,992').waitFor()
    assert.ok(asked.length > 0 && !asked.some((body) => 'offset' in body), JSON.stringify(asked))
    // Longer than the way of the scroll bar: 400 000 rows of 28 px are 11.2 million.
    const scrollTo = (share: number) =>
      gridOf(page).evaluate((grid, at) => grid.scrollTo({ top: at * (grid.scrollHeight - grid.clientHeight) }), share)
    assert.ok((await gridOf(page).evaluate((grid) => grid.scrollHeight)) < 8_001_000)
    await scrollTo(0.5)
    await page.getByText(/^Row (199|200),\d{3}$/).waitFor()
    await page
      .locator('[data-index]')
      .first()
      .getByText(/^(199|200)\d{3}$/)
      .first()
      .waitFor()
    await scrollTo(1)
    await rowOf(page, '9,007,199,255,140,992').waitFor()
    await page.mouse.move(400, 400)
    await page.mouse.wheel(0, -280)
    await status(page).filter({ hasText: `rows 399,9` }).waitFor()
    await finish(page)
  })

  test('exactly the filtered rows are saved as a file, and copied as a command', async () => {
    const where = { country: { $eq: 'Finland' } }
    const address = `/data/${cities}/table?sort=-name&where=${encodeURIComponent(JSON.stringify(where))}`
    const page = await stage.open(address, { permissions: ['clipboard-read', 'clipboard-write'] })
    await rowOf(page, 'Helsinki').waitFor()
    for (const format of ['CSV', 'JSON']) {
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export' }).click()
      await page.getByRole('menuitem', { name: format, exact: true }).click()
      const file = await download
      assert.equal(file.suggestedFilename(), `Cities of the world.${format.toLowerCase()}`)
      const text = await readFile(await file.path(), 'utf8')
      if (format === 'JSON') assert.deepEqual(JSON.parse(text), await query({ where, order: ['-name'] }))
      else assert.match(text, /^id,name,country,population,capital,geom\r\n\d+,Vantaa,Finland/)
    }
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
    await page.getByText('The curl command is in the clipboard').waitFor()
    const command = String(await page.evaluate('navigator.clipboard.readText()'))
    assert.match(command, /"\$eq": "Finland"/)
    assert.ok(!command.includes(stage.tenant.developer))
    await finish(page)
  })

  test('on a phone the table and the map are tabs, and a row opens as a sheet', async () => {
    const page = await stage.open(`/data/${cities}/table`, { viewport: phone })
    await rowOf(page, 'Mogadishu').click()
    await page.getByRole('dialog').getByText('Somalia').waitFor()
    assert.deepEqual(await accessibilityFaults(page), [])
    await page.getByRole('button', { name: 'Fly to' }).click()
    await page.getByRole('region', { name: 'Map of Cities of the world' }).waitFor()
    await page.getByRole('radio', { name: 'Table' }).check({ force: true })
    await rowOf(page, 'Mogadishu').waitFor()
    await untilFits(page)
    await finish(page)
  })

  test('a key that may not read rows is told so, and an unknown dataset too', async () => {
    const { app, tenant } = stage
    const key = await app.key(tenant.id, { datasets: { read: '*' } })
    const page = await stage.open(`/data/${cities}`, { key })
    await page.getByText('it needs execute on datasets').waitFor()
    await page.goto(`${stage.url}/console/data/${tenant.id}`)
    await page.getByText('There is no such dataset here').waitFor()
    await page.close()
  })
})
