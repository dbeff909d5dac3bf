import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { accessibilityFaults, type ConsolePage, confirm, phone, screenshots, setStage } from '../../../testing/stage.ts'

const stage = setStage()
const call = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) =>
  stage.app.call(method, path, { key: stage.tenant.developer, ...(body && { body }) })

async function findCities(): Promise<string> {
  const { body } = await call('GET', '/api/v1/datasets?filter[name]=Cities of the world')
  return body[0].id
}

interface Layer {
  id: string
  paint: Record<string, unknown>
}
interface StoredStyle {
  layers: Layer[]
  metadata: Record<string, { layers: { colour: { kind: string; breaks: number[] } }[] }>
  name: string
  center: number[]
}

async function storedStyle(page: ConsolePage): Promise<StoredStyle> {
  const [, id] = /maps\/([\w-]{36})\//.exec(page.url()) ?? []
  const { status, body } = await call('GET', `/api/v1/styles/${id}`)
  assert.equal(status, 200)
  return body.style
}

const assertClean = (page: ConsolePage) => assert.deepEqual([page.faults, page.foreign], [[], []])

test('somebody who writes no JSON colours cities by population, saves, shares and revokes the map', async () => {
  const cities = await findCities()
  const page = await stage.open(`/maps?dataset=${cities}`)
  // It begins with the look that tells most of the cities: five classes, and three sizes below them.
  const legend = page.getByRole('list', { name: 'Cities of the world' })
  await legend.getByRole('listitem').nth(7).waitFor()
  assert.equal(await page.getByLabel('Colour by').inputValue(), 'population')
  await page.getByText('From all 4,442 values.').waitFor()
  await page.getByRole('button', { name: 'More classes' }).click()
  await legend.getByRole('listitem').nth(8).waitFor()
  await page.keyboard.press('Control+z')
  await legend.getByRole('listitem').nth(8).waitFor({ state: 'detached' })
  await page.getByRole('slider', { name: 'Break 1' }).press('ArrowRight')
  await page.getByLabel('Method').locator('option:checked', { hasText: 'By hand' }).waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Undo (Ctrl+Z)' }).click()
  await legend.getByLabel('Label of class 5').fill('Megacities')
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'style-editor')
  await page.keyboard.press('Control+s')
  await page.getByText('Map saved').waitFor()
  await page.waitForURL(/\/maps\/[\w-]{36}\/look/)

  const style = await storedStyle(page)
  const [recipe] = style.metadata['graticule:recipes']?.layers ?? []
  assert.equal(recipe?.colour.kind, 'graduated')
  assert.equal(recipe?.colour.breaks.length, 4)
  assert.match(JSON.stringify(style.layers.find(({ id }) => id === 'data-1-point')?.paint), /"step"/)
  assert.equal(style.name, 'Cities of the world')
  assert.equal(style.center.length, 2)

  const address = await share(page)
  const guest = await openShared(address)
  await guest.getByText('Megacities').waitFor()
  await guest.close()

  await page.getByRole('button', { name: 'Revoke' }).click()
  await confirm(page, 'Revoke')
  await page.getByText('This map is not shared.').waitFor()
  await page.getByText('The link is ready').waitFor({ state: 'detached' })
  const late = await stage.open(new URL(address).pathname.replace('/console', '') + new URL(address).hash, {
    key: null,
  })
  await late.getByRole('heading', { name: 'This map is no longer shared' }).waitFor()
  assert.equal(await late.getByRole('button', { name: 'Sign in' }).count(), 0)
  assert.deepEqual(await accessibilityFaults(late), [])
  await late.close()
  assertClean(page)
  await page.close()
})

/** Makes a link, and looks at what its key may do. */
async function share(page: ConsolePage): Promise<string> {
  const cities = await findCities()
  await page.getByRole('link', { name: 'Share' }).click()
  await page.getByRole('button', { name: 'Make a link' }).click()
  const address = (await page.getByRole('link', { name: 'Open' }).getAttribute('href')) ?? ''
  const key = new URL(address).hash.replace('#key=', '')
  assert.ok(!page.url().includes(key))
  const { body } = await call('GET', `/api/v1/apikeys/${key}`)
  const [, styleId] = /share\/([\w-]+)/.exec(address) ?? []
  assert.deepEqual(body.permissions, { styles: { execute: [styleId] }, tiles: { execute: [cities] } })
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'share-tab')
  return address
}

/** In a browser that never signed in; waits until tiles of the data are there. */
async function openShared(address: string): Promise<ConsolePage> {
  const cities = await findCities()
  const { pathname, hash } = new URL(address)
  const tiles: number[] = []
  const guest = await stage.open('/outbox', { key: null })
  guest.on('response', (response) => {
    if (response.url().includes(`/tiles/${cities}/0/`)) tiles.push(response.status())
  })
  const drawn = guest.waitForResponse((response) => response.url().includes(`/tiles/${cities}/`) && response.ok())
  await guest.goto(`${stage.url}${pathname}${hash}`)
  await drawn
  await guest.getByRole('heading', { name: 'Cities of the world' }).waitFor()
  assert.equal(await guest.getByRole('navigation').count(), 0)
  assert.ok(tiles.every((status) => status === 200))
  assert.deepEqual(await accessibilityFaults(guest), [])
  await screenshots(guest, 'share')
  assertClean(guest)
  return guest
}

test('a shared map stands in a frame on a page of another server', async () => {
  const made = await call('POST', '/api/v1/styles', {
    name: 'Framed',
    style: { version: 8, name: 'Framed', sources: {}, layers: [] },
  })
  const key = await stage.app.key(stage.tenant.id, { styles: { execute: [made.body.id] } })
  const host = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<iframe title="Map" src="${stage.url}/console/share/${made.body.id}#key=${key}"></iframe>`)
  })
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  const page = await stage.open('/outbox', { key: null })
  await page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`)
  await page.frameLocator('iframe').getByRole('heading', { name: 'Framed' }).waitFor()
  await page.close()
  host.close()
})

test('a key for some websites works on the shared page, which says where it is', async () => {
  const made = await call('POST', '/api/v1/styles', {
    name: 'Guarded',
    style: { version: 8, name: 'Guarded', sources: {}, layers: [] },
  })
  const keyFor = (origin: string) =>
    stage.app.key(stage.tenant.id, { styles: { execute: [made.body.id] } }, { allowedOrigins: [origin] })
  const page = await stage.open(`/share/${made.body.id}#key=${await keyFor(stage.url)}`, { key: null })
  await page.getByRole('heading', { name: 'Guarded' }).waitFor()
  await page.close()
  const other = await stage.open(`/share/${made.body.id}#key=${await keyFor('https://other.example')}`, { key: null })
  await other.getByRole('heading', { name: 'This map is no longer shared' }).waitFor()
  await other.close()
})

test('a map that is begun and not saved is not replaced unasked by another', async () => {
  const cities = await findCities()
  const { body } = await call('GET', `/api/v1/datasets/${cities}`)
  const { type, source, attributes, databaseId } = body
  const copy = await call('POST', '/api/v1/datasets', { name: 'Second', type, source, attributes, databaseId })
  const page = await stage.open(`/maps?dataset=${cities}`)
  await page.getByLabel('Name of the map').fill('Begun')
  await page.getByRole('link', { name: 'Data', exact: true }).click()
  await page.getByRole('button', { name: 'Actions for Second' }).click()
  await page.getByRole('menuitem', { name: 'Style it' }).click()
  await page.getByRole('heading', { name: '“Begun” is not saved yet' }).waitFor()
  await page.getByRole('button', { name: 'Discard it and begin a new map' }).click()
  await page.getByRole('heading', { name: 'Second', level: 1 }).waitFor()
  assert.match(page.url(), new RegExp(`dataset=${copy.body.id}`))
  assertClean(page)
  await page.close()
})

test('on a phone the editor is a sheet over the map, with nothing to scroll sideways', async () => {
  const cities = await findCities()
  const page = await stage.open(`/maps?dataset=${cities}`, { viewport: phone, hasTouch: true })
  await page.getByLabel('Colour by').selectOption('capital')
  await page.getByRole('list', { name: 'Categories' }).waitFor()
  await page.getByRole('button', { name: /Layers and look/ }).click()
  await page.getByText('Show the map').waitFor()
  const width = await page.evaluate('document.documentElement.scrollWidth')
  assert.ok(Number(width) <= phone.width, String(width))
  assert.deepEqual(await accessibilityFaults(page), [])
  assertClean(page)
  await page.close()
})

test('the description of a map is seen in the list and edited, and a save keeps what the editor does not show', async () => {
  const style = { version: 8, sources: {}, layers: [{ id: 'land', type: 'background' }] }
  const metadata = { season: 'winter' }
  const made = await call('POST', '/api/v1/styles', { name: 'Wharves', description: 'Of 1900', style, metadata })
  const page = await stage.open('/maps')
  await page.getByRole('link', { name: 'Wharves' }).getByText('Of 1900').waitFor()
  await screenshots(page, 'maps-description')
  await page.getByRole('link', { name: 'Wharves' }).click()
  await page.getByLabel('Description').fill('Of 1900, from the survey')
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'style-editor-description')
  // Its picture is sent as well.
  const isOfMap = (url: string): boolean => url.endsWith(made.body.id)
  const sent = page.waitForRequest((request) => request.method() === 'PUT' && isOfMap(request.url()))
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Map saved').waitFor()
  const { body } = await call('GET', `/api/v1/styles/${made.body.id}`)
  assert.deepEqual([body.name, body.description, body.metadata], ['Wharves', 'Of 1900, from the survey', metadata])
  const fields = Object.keys((await sent).postDataJSON())
  assert.deepEqual(fields.toSorted(), Object.keys(made.body).toSorted(), 'each field that the record has, known or not')
  assertClean(page)
  await page.close()
})
