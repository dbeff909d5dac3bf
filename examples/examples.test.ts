import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { createClient } from '@graticule/client'
import type { Browser, Locator, Page } from 'playwright-core'
import { launchChromium } from '../packages/server/testing/chromium.ts'
import { runCommandLine, startServer } from '../packages/server/testing/command-line.ts'
import { type TestDatabase, testDatabase } from '../packages/server/testing/database.ts'
import { until } from '../packages/server/testing/until.ts'

// One database is enough: examples see only the API.

// Each example, started as its README says, on a server with the sample that a first start makes.

const root = resolve(import.meta.dirname, '..')
const viewport = { width: 1000, height: 640 }
/** A city that lies alone, so that a click there means it. */
const reykjavik = { longitude: -21.9, latitude: 64.14 }

let directory = ''
let database: TestDatabase | undefined
let server: Awaited<ReturnType<typeof startServer>>
let env: Record<string, string>
let browser: Browser
const running = new Set<ChildProcess>()

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-examples-'))
  const settings = { PATH: process.env.PATH ?? '', DATA_DIR: directory, PORT: '0', LOG_LEVEL: 'warn' }
  if (process.env.TEST_DATABASE_URL) database = await testDatabase()
  const own = { ...settings, ...(database?.url && { DATABASE_URL: database.url }) }
  server = await startServer(own)
  const { output } = await runCommandLine(['keys'], own)
  const [key = ''] = output.match(/[0-9a-f-]{36}/) ?? []
  env = { PATH: settings.PATH, HOME: directory, GRATICULE_URL: server.url, GRATICULE_API_KEY: key }
  browser = await launchChromium()
})
after(async () => {
  await browser?.close()
  for (const child of running) child.kill()
  await server?.stop('SIGTERM')
  await database?.close()
  await rm(directory, { recursive: true, force: true })
})

function start(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [join(root, 'scripts/example.ts'), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  child.on('exit', () => running.delete(child))
  return child
}

/** What it prints, once it has ended. */
async function run(...args: string[]): Promise<string> {
  const child = start(...args)
  const { stdout, stderr } = child
  if (!stdout || !stderr) throw new Error('no output')
  const [output, errors, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')])
  assert.equal(code, 0, errors)
  return output
}

/** The page of an example, and what the example has printed until then. */
async function open(name: string): Promise<{ page: Page; printed: string; faults: string[] }> {
  const child = start(name)
  let printed = ''
  let address = ''
  for await (const chunk of child.stdout ?? []) {
    printed += chunk
    address = /(http\S+#\S+)\n/.exec(printed)?.[1] ?? ''
    if (address) break
  }
  const page = await browser.newPage({ viewport })
  // A busy machine is no fault of an example.
  page.setDefaultTimeout(100_000)
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('response', (response) => {
    if (response.status() >= 400 && !response.url().endsWith('/favicon.ico'))
      faults.push(`${response.status()} ${response.url()}`)
  })
  await page.goto(address)
  return { page, printed, faults }
}

/** Where a place is on a map that fills `box`. */
function pixelOf(box: { x: number; y: number; width: number; height: number }, center: [number, number], zoom: number) {
  const size = 512 * 2 ** zoom
  const east = (longitude: number) => ((longitude + 180) / 360) * size
  const south = (latitude: number) => (0.5 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI)) * size
  return {
    x: box.x + box.width / 2 + east(reykjavik.longitude) - east(center[0]),
    y: box.y + box.height / 2 + south(reykjavik.latitude) - south(center[1]),
  }
}

/** A click before the cities are drawn shows nothing; one that comes while a popup is being made would take that one away again. */
async function clickUntilShown(page: Page, { x, y }: { x: number; y: number }, popup: Locator) {
  await until(async () => {
    await page.mouse.click(x, y)
    return await popup.waitFor({ timeout: 5_000 }).then(
      () => true,
      () => false,
    )
  })
}

async function canvasBox(page: Page) {
  const box = await page.locator('canvas.maplibregl-canvas').boundingBox()
  assert.ok(box)
  return box
}

test('the plain page is at most 40 lines, shows the cities, and a click on one opens its popup', async () => {
  const lines = (await readFile(join(root, 'examples/page/index.html'), 'utf8')).trimEnd().split('\n')
  assert.ok(lines.length <= 40, `${lines.length} lines`)
  const { page, faults } = await open('page')
  const popup = page.locator('.maplibregl-popup-content')
  const { x, y } = pixelOf(await canvasBox(page), [10, 30], 2)
  await clickUntilShown(page, { x, y }, popup)
  assert.match(String(await popup.textContent()), /^Reykjavík: \d{3}.\d{3} inhabitants/)
  assert.deepEqual(faults, [])
  await page.close()
})

test('the React application signs in, uploads a file, and selects in the table what is clicked on the map', async () => {
  const { page, printed, faults } = await open('react')
  const [, email = '', password = ''] = /Sign in with (\S+) and (\S+)/.exec(printed) ?? []
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  assert.match(faults.splice(0).join(), /^401 .*login$/)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()

  await page.setInputFiles('input[type=file]', join(root, 'examples/script/earthquakes.geojson'))
  await page.getByText('24 features').waitFor()
  const valdivia = page.getByRole('row').filter({ hasText: 'Valdivia' })
  await valdivia.click()
  assert.equal(await valdivia.getAttribute('aria-selected'), 'true')
  await page.getByText('1 selected').waitFor()

  await page.getByLabel('Dataset').selectOption({ label: 'Cities of the world' })
  await page.getByText('0 selected').waitFor()
  const { x, y } = pixelOf(await canvasBox(page), [10, 30], 1.5)
  await until(async () => {
    if (await page.getByText('0 selected').count()) await page.mouse.click(x, y)
    return (await page.getByText('1 selected').count()) > 0
  })
  assert.deepEqual(faults, [])
  await page.close()
})

test('the script uploads a file, and prints the rows and the summary that it asks for', async () => {
  const output = await run('script')
  assert.match(output, /24 earthquakes are now the dataset/)
  assert.match(output, /\n9\.5 {2}Valdivia, Chile, 25 km deep\n/)
  assert.match(output, /The deepest of 24 lay 631 km below the ground\./)
})

test('the agent answers a question from the dataset, and refuses one without a country', async () => {
  const output = await run('agent', 'What are the largest cities of Japan?')
  assert.match(output, /^Japan has \d+ cities/)
  assert.match(output, /\n- Tokyo: [\d,]+\n/)
  const client = createClient(env.GRATICULE_URL ?? '', env.GRATICULE_API_KEY)
  const serving = start('agent')
  const [agent] = await client.agents.list({ filter: { name: 'Cities' } })
  assert.ok(agent)
  await until(async () => (await client.agents.workers(agent.id)).length > 0)
  await assert.rejects(client.agents.invoke(agent.id, { input: 'Which way?' }), {
    status: 400,
    message: /Name a country/,
  })
  serving.kill('SIGINT')
})
