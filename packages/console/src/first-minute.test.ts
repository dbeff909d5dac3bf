import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { type ConsolePage, screenshots, setStage, until } from '../testing/stage.ts'

// What the console promises to somebody who has a file: a shared map with legend and popups, without typing, and rows and shapes that
// are edited where they are seen.

const stage = setStage()

const names = ['Bern', 'Thun', 'Biel', 'Chur', 'Zug', 'Olten', 'Aarau', 'Sion', 'Arbon', 'Wil']
const feature = (properties: object, geometry: object) => ({ type: 'Feature', properties, geometry })
const collection = (features: object[]) => JSON.stringify({ type: 'FeatureCollection', features })
const towns = collection(
  names.map((name, index) =>
    feature(
      { name, population: (index + 1) * 10_000 },
      { type: 'Point', coordinates: [7 + index / 4, 46.5 + (index % 3) / 4] },
    ),
  ),
)
const square = [[[7, 46], [8, 46], [8, 47], [7, 46]]] // biome-ignore format: one line
const fields = collection([feature({ crop: 'Rye' }, { type: 'Polygon', coordinates: square })])

async function dropFile(page: ConsolePage, name: string, text: string): Promise<void> {
  await page.evaluate(
    ([fileName, content]) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([content], fileName))
      for (const type of ['dragenter', 'dragover', 'drop'])
        document
          .querySelector('main')
          ?.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }))
    },
    [name, text] as const,
  )
}

/** Drops a file at home, and opens its table; gives the id of its dataset. */
async function addData(page: ConsolePage, name: string, text: string): Promise<string> {
  await page.getByRole('heading', { name: 'atlas' }).waitFor()
  await dropFile(page, name, text)
  await page.getByRole('region', { name: 'Uploads' }).getByRole('link', { name: 'View on map' }).click()
  await page.waitForURL(/\/data\/[\da-f-]{36}\/table/)
  return page.url().split('/').at(-2) ?? ''
}

async function shareMap(page: ConsolePage): Promise<string> {
  await page.getByRole('link', { name: 'Style' }).click()
  await page.getByRole('list', { name: 'towns' }).getByRole('listitem').nth(2).waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL(/\/maps\/[\da-f-]{36}\/look/)
  await page.getByRole('link', { name: 'Share' }).click()
  await page.getByRole('button', { name: 'Make a link' }).click()
  return (await page.getByRole('link', { name: 'Open' }).getAttribute('href')) ?? ''
}

/** Clicks along the upper row of towns until a popup tells of one: tiles come when they come. */
async function popupOf(guest: ConsolePage): Promise<Locator> {
  const popup = guest.locator('.maplibregl-popup')
  const box = await guest.locator('canvas.maplibregl-canvas').boundingBox()
  assert.ok(box)
  let step = 0
  const click = async () => {
    await guest.mouse.click(box.x + box.width * (0.3 + (step++ % 60) / 100), box.y + box.height * 0.5)
    return popup.count()
  }
  await until(click, (count) => count > 0)
  return popup
}

test('a file becomes a shared map with legend and popups, and nothing is typed', async () => {
  const page = await stage.open('/')
  await addData(page, 'towns.geojson', towns)
  const address = new URL(await shareMap(page))
  const guest = await stage.open(`${address.pathname.replace('/console', '')}${address.hash}`, { key: null })
  await guest.getByRole('heading', { name: 'towns' }).waitFor()
  await guest.getByRole('list', { name: 'Legend' }).getByRole('listitem').nth(4).waitFor()
  await (await popupOf(guest)).getByText('population').waitFor()
  await screenshots(guest, 'first-minute-shared')
  assert.deepEqual([page.faults, guest.faults], [[], []])
  await guest.close()
  await page.close()
})

test('ten rows are edited in the table, and an area is drawn on the map beside it', async () => {
  const page = await stage.open('/', { permissions: ['clipboard-read', 'clipboard-write'] })
  const edited = await addData(page, 'villages.geojson', towns)
  await page.getByRole('gridcell', { name: 'Bern' }).click()
  await page.evaluate((text) => navigator.clipboard.writeText(text), names.map((name) => `${name} (CH)`).join('\n'))
  await page.keyboard.press('Control+v')
  await page.getByText('10 values changed').first().waitFor()
  const { body } = await stage.app.call('GET', `/api/v1/datasets/${edited}/query?attributes=name&sort=fid`)
  assert.deepEqual(
    body.map(({ name }: { name: string }) => name),
    names.map((name) => `${name} (CH)`),
  )

  await page.goto(`${stage.url}/console/`)
  const drawn = await addData(page, 'fields.geojson', fields)
  await page.getByRole('button', { name: 'Draw a row' }).click()
  await page.locator('section[aria-label="Draw a row"][aria-busy="false"]').waitFor()
  const box = await page.getByRole('region', { name: 'Map of fields' }).boundingBox()
  assert.ok(box)
  for (const [x, y] of [
    [0.55, 0.6],
    [0.7, 0.6],
    [0.7, 0.75],
  ] as const) {
    // biome-ignore format: one line
    await page.mouse.move(box.x + box.width * x, box.y + box.height * y, { steps: 3 })
    await page.mouse.click(box.x + box.width * x, box.y + box.height * y)
  }
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Add row' }).click()
  await page.getByText('Row 2 is added').first().waitFor()
  const { body: rows } = await stage.app.call('GET', `/api/v1/datasets/${drawn}/query?format=geojson&sort=fid`)
  assert.deepEqual(rows.features.map(({ geometry }: { geometry: { type: string } }) => geometry.type), ['Polygon', 'Polygon']) // biome-ignore format: one line
  assert.deepEqual(page.faults, [])
  await page.close()
})
