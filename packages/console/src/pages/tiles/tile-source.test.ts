import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, confirm, phone, screenshots, setStage, untilFits } from '../../../testing/stage.ts'

const stage = setStage()

async function sampleId(): Promise<string> {
  const { body } = await stage.app.call('GET', '/api/v1/tilesources', { key: stage.tenant.developer })
  return body[0].id
}

const readSource = (id: string) => stage.app.call('GET', `/api/v1/tilesources/${id}`, { key: stage.tenant.developer })

test('a tile tells its size, features, bytes by attribute and how it is made', async () => {
  const id = await sampleId()
  const page = await stage.open(`/tiles/${id}`)
  await page.getByText('vector tiles of a dataset · zoom 0 to 14').waitFor()
  const grid = page.locator('svg g[class*="middle"]', { hasText: '0/0/0' })
  await grid
    .getByText(/^\d+ kB$/)
    .first()
    .waitFor({ state: 'attached' })
  await page.getByRole('row', { name: /^0\/0\/0 \d+ kB/ }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'tile-source')
  await page.getByRole('button', { name: '0/0/0' }).press('Enter')
  const panel = page.getByRole('region', { name: 'Tile 0/0/0' })
  await panel.getByText(/kB raw · .* · 4,442 features · cache (hit|miss)$/).waitFor()
  for (const name of ['query', 'encode', 'compress'])
    await panel.getByRole('row', { name: new RegExp(`^${name} `) }).waitFor()
  await panel.getByRole('row', { name: /^population \d+ kB/ }).waitFor()
  await panel.getByText('Layer geometry: 4,442 points').waitFor()
  await panel.getByText('SQL', { exact: true }).click()
  await panel.getByText(/^SELECT \(?q\."geom"/).waitFor()
  await panel.getByText('Plan', { exact: true }).click()
  await panel
    .getByText(/rows · cost/)
    .first()
    .waitFor()
  assert.equal(new URL(page.url()).searchParams.get('tile'), '0/0/0')
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'tile')
  await page.goBack()
  await page.getByRole('heading', { name: 'Addresses' }).waitFor()
  await page.getByRole('region', { name: /^Map of the tiles/ }).click()
  await panel.waitFor()
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('zooms and extent are changed by handles and numbers, and found out again', async () => {
  const id = await sampleId()
  const before = (await readSource(id)).body
  const page = await stage.open(`/tiles/${id}`)
  await page.getByRole('slider', { name: 'Highest zoom' }).press('ArrowLeft')
  await page.getByText('Zoom 0 to 13').waitFor()
  await page.getByRole('textbox', { name: 'West' }).fill('200')
  await page.getByText('West must not be above east', { exact: false }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true)
  await page.getByRole('textbox', { name: 'West' }).fill('-20')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The tile source is saved').first().waitFor()
  await page.getByText('vector tiles of a dataset · zoom 0 to 13').waitFor()
  const { maxZoom, extentLngLat } = (await readSource(id)).body
  assert.deepEqual([maxZoom, extentLngLat[0]], [13, -20])
  await page.getByRole('button', { name: 'Find out zooms and extent' }).click()
  await page.getByText('vector tiles of a dataset · zoom 0 to 14').waitFor()
  assert.deepEqual((await readSource(id)).body.extentLngLat.map(Math.round), before.extentLngLat.map(Math.round))
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('an archive is read in the browser, on a phone too, and a key that may not write sees why', async () => {
  const page = await stage.open('/tiles/basemap?tile=0/0/0', { key: stage.tenant.public, viewport: phone })
  const panel = page.getByRole('region', { name: 'Tile 0/0/0' })
  await panel.getByText(/^Layer earth: /).waitFor()
  await panel
    .getByRole('row', { name: /^geometry \d+/ })
    .first()
    .waitFor()
  await untilFits(page)
  assert.deepEqual([page.faults, page.foreign], [[], []])
  const id = await sampleId()
  await page.goto(`${stage.url}/console/tiles/${id}`)
  await page.getByRole('button', { name: 'Save' }).hover()
  await page.getByText('This key may not do that: it needs write on tiles.').waitFor()
  await page.close()
})

test('a tile source is deleted after the question that names who uses it', async () => {
  const { app, tenant } = stage
  const [dataset] = (await app.call('GET', '/api/v1/datasets', { key: tenant.developer })).body
  const body = { type: 'dataset', source: dataset.id, name: 'Old tiles' }
  const { body: made } = await app.call('POST', '/api/v1/tilesources', { key: tenant.developer, body })
  const style = {
    version: 8,
    sources: { tiles: { type: 'vector', url: `/tiles/${made.id}/index.json` } },
    layers: [{ id: 'a', type: 'circle', source: 'tiles', 'source-layer': 'geometry' }],
  }
  const kept = await app.call('POST', '/api/v1/styles', { key: tenant.developer, body: { name: 'Night map', style } })
  assert.equal(kept.status, 201, kept.text)
  const page = await stage.open(`/tiles/${made.id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete …' }).click()
  const question = page.getByRole('alertdialog', { name: 'Delete the tile source Old tiles?' })
  await question.getByText('Used by “Night map”.').waitFor()
  await confirm(page, 'Delete')
  await page.getByText('The tile source is deleted').first().waitFor()
  assert.equal((await readSource(made.id)).status, 404)
  assert.equal(new URL(page.url()).pathname, '/console/maps')
  await page.goto(`${stage.url}/console/tiles/${made.id}`)
  await page.getByText('There is no such tile source').waitFor()
  await page.close()
})
