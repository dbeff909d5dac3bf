import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { phone, setStage } from '../../testing/stage.ts'

const stage = setStage()

/** A tenant without data: its map begins with the whole world. */
const openWorld = async (name: string) => stage.open('/', { key: (await stage.app.tenant(name)).developer })

const labels = (page: Page) => page.locator('svg g text').allTextContents()
const map = (page: Page) => page.getByRole('region', { name: /^Map of/ })

/** A frame of the neat line has been drawn and is what the test waits for. */
async function untilLabels(page: Page, isRight: (labels: string[]) => boolean): Promise<string[]> {
  const limit = AbortSignal.timeout(100_000)
  for (;;) {
    const found = await labels(page)
    if (isRight(found)) return found
    if (limit.aborted) assert.fail(`The labels stayed ${found.join(', ') || 'absent'}.`)
    await page.evaluate('new Promise(requestAnimationFrame)')
  }
}

test('the frame names degrees, follows the map and gives up where north is not up', async () => {
  const page = await openWorld('frame')
  const before = await untilLabels(page, (found) => found.length > 4)
  assert.ok(before.includes('0°') && before.includes('30°E') && before.includes('30°N'), before.join())
  await map(page).focus()
  await page.keyboard.press('Equal')
  const after = await untilLabels(page, (found) => found.length > 4 && found.join() !== before.join())
  assert.ok(after.includes('15°E'), after.join())
  await page.getByText(/^z 2\.\d$/).waitFor()
  const compass = page.getByRole('button', { name: /north/i })
  assert.equal(await compass.isVisible(), false)
  await page.keyboard.press('Shift+ArrowRight')
  await untilLabels(page, (found) => found.length === 0)
  await compass.click()
  await untilLabels(page, (found) => found.includes('15°E'))
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('the status line tells where the pointer is and how long tiles took; a phone has no pointer', async () => {
  const page = await openWorld('status')
  await untilLabels(page, (found) => found.length > 4)
  const box = await map(page).boundingBox()
  assert.ok(box)
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await page.getByText(/^\d+\.\d\d° E \d+\.\d\d° N$/).waitFor()
  await page.getByText(/^tiles .* m?s$/).waitFor()
  await page.setViewportSize(phone)
  await page.getByText(/° E \d+\.\d\d° N$/).waitFor({ state: 'hidden' })
  await untilLabels(page, (found) => found.length > 2)
  await page.close()
})

test('another theme keeps the place, and what fails is said over the map', async () => {
  const page = await openWorld('faults')
  await untilLabels(page, (found) => found.length > 4)
  await map(page).focus()
  for (let times = 0; times < 3; times++) {
    await page.keyboard.press('Equal')
    await page.getByText(new RegExp(`^z ${times + 2}\\.`)).waitFor()
  }
  await page.route('**/base/dark.json', (route) => route.fulfill({ status: 503, body: 'down' }))
  await page.emulateMedia({ colorScheme: 'dark' })
  const note = page.getByRole('alert')
  await note.getByText('The base map’s style could not be loaded (503).').waitFor()
  await page.unroute('**/base/dark.json')
  const problem = { status: 504, code: 'timeout', detail: 'The tile took too long.', requestId: 'abc-1' }
  await page.route(/tiles\/basemap\/\d/, (route) =>
    route.fulfill({ status: 504, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  )
  await note.getByRole('button', { name: 'Try again' }).click()
  await note.getByText('The tile took too long.').waitFor()
  await note.getByText('abc-1').waitFor()
  await page.getByText(/^z 4\./).waitFor()
  await page.getByRole('button', { name: 'Dismiss this error' }).click()
  await note.waitFor({ state: 'detached' })
  await page.close()
})
