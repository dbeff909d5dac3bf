import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from '../../../server/src/kernel/db/sql.ts'
import { accessibilityFaults, type ConsolePage, phone, screenshots, setStage, until } from '../../testing/stage.ts'

const stage = setStage()
const ask = (method: string, path: string) => stage.app.call(method, `/api/v1/${path}`, { key: stage.tenant.developer })

const points = (count: number) => ({
  type: 'FeatureCollection',
  features: Array.from({ length: count }, (_, index) => ({
    type: 'Feature',
    properties: { name: `Place ${index}` },
    geometry: { type: 'Point', coordinates: [7 + index / 100, 46.5] },
  })),
})

type Given = { name: string; text: string }

/** As a hand does it: the files come over the window, and are let go. */
async function drag(page: ConsolePage, types: string[], files: Given[]): Promise<void> {
  await page.evaluate(
    ({ events, given }) => {
      const transfer = new DataTransfer()
      for (const { name, text } of given) transfer.items.add(new File([text], name))
      for (const type of events) {
        const event = new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true })
        document.querySelector('main')?.dispatchEvent(event)
      }
    },
    { events: types, given: files },
  )
}

const tray = (page: ConsolePage) => page.getByRole('region', { name: 'Uploads' })
const row = (page: ConsolePage, name: string) => tray(page).getByRole('listitem').filter({ hasText: name })

/** What is done stays while the pointer is over the tray. */
const keepTray = (page: ConsolePage) => tray(page).getByRole('heading', { name: 'Uploads' }).hover()

async function endQuietly(page: ConsolePage): Promise<void> {
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
}

test('a file dropped anywhere becomes a dataset, and the tray that shows it survives navigation', async () => {
  const page = await stage.open('/outbox')
  await page.getByRole('heading', { name: 'Outbox' }).waitFor()
  const town = { name: 'towns.geojson', text: JSON.stringify(points(20)) }
  await drag(page, ['dragenter', 'dragover'], [town])
  await page.getByText('Drop to upload to atlas').waitFor()
  await screenshots(page, 'upload-drop')
  await drag(page, ['drop'], [town])
  await row(page, 'towns.geojson').waitFor()
  await keepTray(page)
  assert.equal(await page.getByText('Drop to upload to atlas').count(), 0)
  await page.getByRole('link', { name: 'Configuration' }).click()
  await page.getByRole('heading', { name: 'Configuration' }).waitFor()
  await row(page, 'towns.geojson').getByText('20 rows').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await row(page, 'towns.geojson').getByRole('link', { name: 'View on map' }).click()
  await page.waitForURL(/\/console\/data\/[0-9a-f-]{36}\/table/)
  const id = page.url().split('/').at(-2)
  assert.equal((await ask('GET', `datasets/${id}`)).body.name, 'towns')
  await tray(page).waitFor({ state: 'detached' })
  await endQuietly(page)
})

test('files chosen by key have options; one that fails says where and hides no other, and is sent again with options', async () => {
  const page = await stage.open('/outbox')
  await page.getByRole('heading', { name: 'Outbox' }).waitFor()
  await page.keyboard.press('u')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Choose files' }).waitFor()
  const metres = `id,x,y\n${Array.from({ length: 30 }, (_, index) => `${index},${2600000 + index},${1200000 + index}`).join('\n')}\n`
  const skipped = `id,lat,lon\n${Array.from({ length: 200 }, (_, index) => `${index},46.5,7.5`).join('\n')}\n201,600,7\n`
  const choose = async (given: Given[]) => {
    const files = given.map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }))
    await dialog.locator('input[type=file]').setInputFiles(files)
  }
  await choose([
    { name: 'broken.geojson', text: '{"type":"FeatureCollection","features":[{"type":"Feature", oops' },
    { name: 'metres.csv', text: metres },
    { name: 'skipped.csv', text: skipped },
    { name: 'left-out.csv', text: metres },
  ])
  await dialog.getByRole('button', { name: 'Leave out left-out.csv' }).click()
  await dialog.getByLabel('Attribution').fill('City of Bern')
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'upload-dialog')
  await dialog.getByRole('button', { name: 'Upload 3 files' }).click()

  // What would fail for a thing that only the sender knows is asked before it is imported.
  const preview = page.getByRole('dialog', { name: 'How is metres.csv read?' })
  await preview.getByLabel('Reference system of the file').fill('Swiss')
  await preview.getByText(/^Must be the number/).waitFor()
  await preview.getByLabel('Reference system of the file').fill('EPSG:2056')
  await preview.getByText('EPSG:2056', { exact: false }).last().waitFor()
  await preview.getByRole('region', { name: 'Map of the first rows' }).waitFor()
  // What is read anew is dimmed meanwhile.
  await page.untilQuiet()
  await preview.locator('[aria-busy="false"]').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'upload-preview')
  await preview.getByRole('button', { name: 'Import' }).click()

  await row(page, 'broken.geojson')
    .getByText(/At feature 1: The JSON is not valid/)
    .waitFor()
  await row(page, 'skipped.csv').getByRole('button', { name: '1 warning' }).click()
  await page.getByRole('dialog').getByText('skipped_rows').waitFor()
  await page.keyboard.press('Escape')
  const [skippedRecord] = (await ask('GET', 'uploads?filter[fileName]=skipped.csv')).body
  assert.equal(skippedRecord.options.attribution, 'City of Bern')

  await row(page, 'metres.csv').getByText('30 rows').waitFor()
  const records = (await ask('GET', 'uploads?filter[fileName]=metres.csv')).body
  assert.deepEqual(
    records.map(({ status, options }: { status: string; options: object }) => [status, options]),
    [['completed', { attribution: 'City of Bern', sourceSrid: 2056 }]],
  )
  await endQuietly(page)
})

test('a file that can be read in several ways is shown before it is imported, with types and places that can be changed', async () => {
  const page = await stage.open('/outbox')
  await page.getByRole('heading', { name: 'Outbox' }).waitFor()
  const text = `plz,where,seen\n${Array.from({ length: 12 }, (_, n) => `80${n + 10},"[47.3${n}, 8.5${n}]",0${(n % 9) + 1}.02.2024`).join('\n')}\n`
  await drag(page, ['drop'], [{ name: 'orte.csv', text }])
  const preview = page.getByRole('dialog', { name: 'How is orte.csv read?' })
  await preview.getByRole('region', { name: 'Columns and first rows' }).getByRole('row').nth(10).waitFor()
  await preview.getByLabel('Type of plz').selectOption('string')
  await preview.getByLabel('Dates are written').selectOption('dmy')
  await preview.getByLabel('Geometry').selectOption('latlon')
  await preview.getByLabel('Column', { exact: true }).selectOption('where')
  await preview.getByText('Point, EPSG:4326').waitFor()
  await preview.getByRole('cell', { name: '2024-02-01' }).first().waitFor()
  await preview.getByRole('region', { name: 'Map of the first rows' }).waitFor()
  await preview.getByRole('button', { name: 'Import' }).click()
  await row(page, 'orte.csv').getByText('12 rows').waitFor()
  const [{ datasetId }] = (await ask('GET', 'uploads?filter[fileName]=orte.csv')).body
  const { attributes } = (await ask('GET', `datasets/${datasetId}`)).body
  const types = attributes.map(({ name, type }: { name: string; type: string }) => [name, type])
  assert.deepEqual(Object.fromEntries(types), {
    fid: 'integer',
    plz: 'string',
    where: 'string',
    seen: 'date',
    geom: 'geometry',
  })
  await endQuietly(page)
})

test('a question about a file that is not answered sends nothing', async () => {
  const page = await stage.open('/outbox')
  await page.getByRole('heading', { name: 'Outbox' }).waitFor()
  await drag(page, ['drop'], [{ name: 'unanswered.csv', text: 'id,where\n1,"[47.3, 8.5]"\n2,"[47.4, 8.6]"\n' }])
  await page
    .getByRole('dialog', { name: 'How is unanswered.csv read?' })
    .getByRole('button', { name: 'Cancel' })
    .click()
  await row(page, 'unanswered.csv').getByText('Cancelled.').waitFor()
  assert.deepEqual((await ask('GET', 'uploads?filter[fileName]=unanswered.csv')).body, [])
  await endQuietly(page)
})

test('a dataset is given new data, and keeps its name', async () => {
  const page = await stage.open('/data?add=file')
  const dialog = page.getByRole('dialog')
  const file = { name: 'other.geojson', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(points(3))) }
  await dialog.locator('input[type=file]').setInputFiles(file)
  await dialog.getByLabel('Becomes').selectOption({ label: 'New data of “towns”' })
  await dialog.getByRole('button', { name: 'Upload' }).click()
  await row(page, 'other.geojson').getByText('3 rows').waitFor()
  const [{ id }] = (await ask('GET', 'datasets?filter[name]=towns')).body
  assert.equal((await ask('GET', `datasets/${id}/query?limit=0&count=exact`)).headers['x-total-count'], '3')
  await endQuietly(page)
})

test('a file above the limit is refused before a byte is sent', async () => {
  const page = await stage.open('/outbox')
  await page.route('**/api/v1/config', async (route) => {
    const answer = await (await route.fetch()).json()
    await route.fulfill({ json: { ...answer, limits: { ...answer.limits, uploadBytes: 1000 } } })
  })
  const sent: string[] = []
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
  await page.getByRole('heading', { name: 'Outbox' }).waitFor()
  await drag(page, ['drop'], [{ name: 'large.csv', text: 'x'.repeat(1234) }])
  await row(page, 'large.csv').getByText('The file has 1 kB; this server takes 1 kB at most.').waitFor()
  assert.deepEqual(sent, [])
  await endQuietly(page)
})

test('a file that is being sent can be cancelled, and leaving the page meanwhile is asked about', async () => {
  const page = await stage.open('/outbox')
  await page.getByRole('heading', { name: 'Outbox' }).waitFor()
  let arrived = () => {}
  const isSending = new Promise<void>((resolve) => {
    arrived = resolve
  })
  // Never answered: it goes on being sent until somebody cancels it.
  await page.route('**/api/v1/uploads', (route) => (route.request().method() === 'POST' ? arrived() : route.continue()))
  const wouldLeave = () => page.evaluate(() => dispatchEvent(new Event('beforeunload', { cancelable: true })))
  assert.equal(await wouldLeave(), true)
  await drag(page, ['drop'], [{ name: 'slow.csv', text: 'id\n1\n' }])
  await isSending
  await row(page, 'slow.csv').getByRole('progressbar', { name: 'Sending slow.csv' }).waitFor()
  assert.equal(await wouldLeave(), false)
  await row(page, 'slow.csv').getByRole('button', { name: 'Cancel slow.csv' }).click()
  await row(page, 'slow.csv').getByText('Cancelled.').waitFor()
  assert.equal(await wouldLeave(), true)
  await page.unroute('**/api/v1/uploads')
  await row(page, 'slow.csv').getByRole('button', { name: 'Try again' }).click()
  await row(page, 'slow.csv').getByText('1 row').waitFor()
  await endQuietly(page)
})

test('an upload that the server works on already is shown with its stages, and can be cancelled', async () => {
  const id = randomUUID()
  await stage.app.db.query(sql`
    INSERT INTO svc.uploads (id, application_id, file_name, path, options, size, status, stage, progress, worker, heard_at,
      feature_count)
    VALUES (${id}::uuid, ${stage.tenant.id}::uuid, 'earlier.gpkg', 'uploads/x', '{}', 5000000, 'processing', 'loading',
      0.41, ${randomUUID()}::uuid, 'infinity', 120000)`)
  const page = await stage.open('/outbox', { viewport: phone })
  await row(page, 'earlier.gpkg').getByText('41 %').waitFor()
  await row(page, 'earlier.gpkg').getByRole('progressbar', { name: 'Loading earlier.gpkg' }).waitFor()
  await row(page, 'earlier.gpkg').getByText('120,000 rows so far').waitFor()
  await stage.app.db.query(sql`
    UPDATE svc.uploads SET stage = 'indexing', progress = 0.8, revision = revision + 1 WHERE id = ${id}::uuid`)
  await row(page, 'earlier.gpkg').getByRole('progressbar', { name: 'Indexing earlier.gpkg' }).waitFor()
  await row(page, 'earlier.gpkg').getByText('80 %').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  // On a phone the tray makes room for a page that is opened.
  await page.getByRole('link', { name: 'Data' }).click()
  await page.getByRole('button', { name: 'Show uploads' }).click()
  await row(page, 'earlier.gpkg').getByRole('button', { name: 'Cancel earlier.gpkg' }).click()
  await row(page, 'earlier.gpkg').getByText('Cancelled.').waitFor()
  assert.equal((await ask('GET', `uploads/${id}`)).body.status, 'cancelled')
  await endQuietly(page)
})

test('overviews that follow a completed upload are shown until they are built, while the data can be used', async () => {
  const id = randomUUID()
  const [{ id: datasetId }] = (await ask('GET', 'datasets?filter[name]=towns')).body
  await stage.app.db.query(sql`
    INSERT INTO svc.uploads (id, application_id, file_name, path, options, size, status, stage, progress, worker, heard_at)
    VALUES (${id}::uuid, ${stage.tenant.id}::uuid, 'large.gpkg', 'uploads/y', '{}', 5000000, 'processing', 'publishing',
      0.99, ${randomUUID()}::uuid, 'infinity')`)
  const page = await stage.open('/outbox')
  await row(page, 'large.gpkg').getByRole('progressbar', { name: 'Drawing large.gpkg' }).waitFor()
  await keepTray(page)
  await stage.app.db.query(sql`
    INSERT INTO svc.overviews (dataset_id, state, progress, tried_version)
    VALUES (${datasetId}::uuid, 'building', 0.3, '1')`)
  await stage.app.db.query(sql`
    UPDATE svc.uploads SET status = 'completed', progress = 1, feature_count = 3, worker = NULL, revision = revision + 1,
      results = jsonb_build_array(jsonb_build_object('layer', 'large', 'datasetId', ${datasetId}::text,
        'tileSourceId', ${datasetId}::text))
    WHERE id = ${id}::uuid`)
  await row(page, 'large.gpkg').getByText('30 %').waitFor()
  await row(page, 'large.gpkg').getByRole('link', { name: 'View on map' }).waitFor()
  await screenshots(page, 'upload-overviews')
  await stage.app.db.query(sql`UPDATE svc.overviews SET state = 'built', progress = 1`)
  await row(page, 'large.gpkg').getByText('Making overviews').waitFor({ state: 'detached' })
  await endQuietly(page)
})

test('a table without geometry is viewed as a table, and the tray covers nothing and goes when all is done', async () => {
  const page = await stage.open('/outbox')
  await page.getByRole('heading', { name: 'Outbox' }).waitFor()
  await page.clock.install()
  await drag(page, ['drop'], [{ name: 'prices.csv', text: 'item,price\nPen,2\nBook,12\n' }])
  const link = row(page, 'prices.csv').getByRole('link', { name: 'View table' })
  await until(
    async () => {
      await page.clock.runFor(300)
      return link.isVisible()
    },
    (isVisible) => isVisible,
  )
  const main = await page.getByRole('main').boundingBox()
  const below = await tray(page).boundingBox()
  assert.ok(main && below && main.y + main.height <= below.y + 1, JSON.stringify({ main, below }))
  await page.clock.runFor(30_000)
  await tray(page).waitFor({ state: 'detached' })
  await endQuietly(page)
})
