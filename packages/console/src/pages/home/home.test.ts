import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from '../../../../server/src/kernel/db/sql.ts'
import { accessibilityFaults, phone, screenshots, setStage, untilFits } from '../../../testing/stage.ts'

const stage = setStage()
const name = 'Bebauungsplanfestsetzungen der Landeshauptstadt und Umgebung'
let areas: Promise<string> | undefined

/** The id of a dataset with one large area, made once. */
const areaDataset = (): Promise<string> => {
  areas ??= makeAreas()
  return areas
}

async function makeAreas(): Promise<string> {
  const { app, tenant } = stage
  // Datasets of one moment are those of one upload, and a quick server makes the sample and this one within it.
  await app.db.query(sql`UPDATE svc.datasets SET created_at = created_at - interval '1 minute'`)
  const schema = `app_${tenant.id.replaceAll('-', '')}`
  await app.db.script(`CREATE TABLE ${schema}.areas (id int PRIMARY KEY, name text, note text, geom geometry(Polygon, 4326));
    INSERT INTO ${schema}.areas VALUES (7, 'Sahara & <b>more</b>', NULL, ST_MakeEnvelope(-60, -40, 100, 60, 4326));
    ANALYZE ${schema}.areas`)
  const body = { type: 'table', source: 'areas', name }
  const made = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
  assert.equal(made.status, 201, made.text)
  return made.body.id
}

test('lists do not wait for the map; each dataset has its colour, size and switch', async () => {
  const areaId = await areaDataset()
  const page = await stage.open('/', { key: null })
  const released = Promise.withResolvers<void>()
  await page.route(/maplibre/, async (route) => {
    await released.promise
    await route.continue()
  })
  await page.getByLabel('API key', { exact: true }).last().fill(stage.tenant.developer)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('2 datasets · 4,443 rows').waitFor()
  await page.getByRole('link', { name: 'Cities of the world' }).waitFor()
  await page.getByText('server ok, database').waitFor()
  released.resolve()
  await page.getByRole('region', { name: 'Map of all data' }).waitFor()
  const box = page.getByRole('checkbox', { name: `Show ${name} on the map` })
  // Not by `check`: the box follows the address, which follows the click.
  assert.equal(await box.isChecked(), true, 'it was added last')
  const cities = page.getByRole('checkbox', { name: 'Show Cities of the world on the map' })
  assert.equal(await cities.isChecked(), false)
  await box.click()
  await page.waitForURL((url) => url.searchParams.get('show') === '')
  await page.getByRole('checkbox', { name: `Show ${name} on the map`, checked: false }).click()
  await page.waitForURL(({ search }) => search === '')
  await page.getByRole('checkbox', { name: `Show ${name} on the map`, checked: true }).waitFor()
  await cities.click()
  await page.waitForURL((url) => url.searchParams.get('show')?.split(',').length === 2)
  assert.ok(page.url().includes(areaId))
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('a click on a feature tells what it is, as text, and opens its row', async () => {
  const areaId = await areaDataset()
  const page = await stage.open('/')
  const map = page.getByRole('region', { name: 'Map of all data' })
  const popup = page.locator('.maplibregl-popup')
  await map.waitFor()
  await page.getByText(/^tiles /).waitFor()
  const box = await map.boundingBox()
  assert.ok(box)
  // The tile of the dataset may come after that of the base map.
  const limit = AbortSignal.timeout(100_000)
  while ((await popup.count()) === 0) {
    limit.throwIfAborted()
    await page.mouse.click(box.x + box.width * 0.45, box.y + box.height * 0.65)
    await page.evaluate('new Promise(requestAnimationFrame)')
  }
  await popup.getByText('Sahara & <b>more</b>').waitFor()
  await popup.getByText(name).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await popup.getByRole('link', { name: 'Open this row' }).click()
  await page.getByRole('heading', { name }).waitFor()
  assert.equal(new URL(page.url()).pathname, `/console/data/${areaId}/table`)
  assert.equal(new URL(page.url()).searchParams.get('sel'), '[7]')
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('uploads in progress, also those of others, and agents are seen without a reload', async () => {
  const { app, tenant } = stage
  const id = randomUUID()
  await app.db.query(sql`
    INSERT INTO svc.uploads (id, application_id, file_name, path, options, size, status, stage, progress, worker, heard_at)
    VALUES (${id}::uuid, ${tenant.id}::uuid, 'roads.gpkg', 'x', '{}'::jsonb, 8200000, 'processing', 'loading', 0.63,
      ${randomUUID()}::uuid, now() + interval '1 hour')`)
  const body = { name: 'helper', type: 'remote' }
  const agent = await app.call('POST', '/api/v1/agents', { key: tenant.developer, body })
  assert.equal(agent.status, 201, agent.text)
  const page = await stage.open('/')
  const uploads = page.getByRole('region', { name: 'Uploads' })
  await uploads.getByRole('progressbar', { name: 'Loading roads.gpkg' }).waitFor()
  await uploads.getByText('63 %').waitFor()
  await page.getByText('0 of 1 online').waitFor()
  await app.db.query(sql`
    UPDATE svc.uploads SET status = 'cancelled', finished_at = now(), revision = revision + 1 WHERE id = ${id}::uuid`)
  await uploads.getByText('Cancelled.').waitFor()
  await screenshots(page, 'home')
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('a new tenant is shown three ways to begin, also on a phone', async () => {
  const other = await stage.app.tenant('newcomer')
  const page = await stage.open('/', { key: other.developer, viewport: phone })
  const ways = page.getByRole('region', { name: 'Three ways to begin' })
  await ways.getByRole('link', { name: /Connect a database/ }).waitFor()
  await untilFits(page)
  await page.getByText('0 datasets').waitFor()
  await ways.getByRole('button', { name: /quick start/ }).click()
  await page.getByRole('dialog').getByText(`${stage.url}/api/v1/uploads \\`).first().waitFor()
  assert.ok(!String(await page.getByRole('dialog').textContent()).includes(other.developer))
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Close' }).click()
  await screenshots(page, 'home-new')
  await ways.getByRole('link', { name: /Drop a file/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Choose files' }).waitFor()
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('who may not upload or read agents sees why, and nothing that fails', async () => {
  const areaId = await areaDataset()
  const key = await stage.app.key(stage.tenant.id, {
    datasets: { read: [areaId], execute: [areaId] },
    tiles: { execute: '*' },
  })
  const page = await stage.open('/', { key })
  await page.getByText('1 dataset · 1 row').waitFor()
  await page.getByRole('button', { name: 'Add data' }).hover()
  await page.getByText('This key may not do that: it needs execute on uploads.').waitFor()
  assert.equal(await page.getByText('Agents', { exact: true }).count(), 1 + 1, 'in the rail and the bar only')
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('a dataset that cannot be drawn says why beside its name', async () => {
  const areaId = await areaDataset()
  const page = await stage.open('/outbox')
  const problem = { status: 504, code: 'query_timeout', detail: 'The extent took longer than 10 s to find.' }
  await page.route(`**/tiles/${areaId}/index.json`, (route) =>
    route.fulfill({ status: 504, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  )
  await page.getByRole('link', { name: 'Home', exact: true }).first().click()
  await page.getByText('Not drawn: The extent took longer than 10 s to find.').waitFor()
  assert.equal(await page.getByRole('checkbox', { name: `Show ${name} on the map` }).isDisabled(), true)
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.close()
})
